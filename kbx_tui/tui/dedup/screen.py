"""Drafts, checked against what is known before they are written."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.registry import Scope
from kbx_tui.tui.dedup.dedup_actions import DedupActions
from kbx_tui.tui.dedup.diff_pane import DiffPane
from kbx_tui.tui.dedup.draft_line import DraftLine
from kbx_tui.tui.dedup.draft_list import DraftList
from kbx_tui.tui.dedup.known_list import KnownList
from kbx_tui.tui.drawing import empty_states
from kbx_tui.tui.messages import (
    Failed,
    Indexing,
    Noticed,
    PlanShown,
    Reviewed,
    Typed,
    Writing,
)
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.lines_view import LinesView
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.status_line import StatusLine

TYPING_PAUSE = 0.15
"""Seconds without a key before what is typed is checked."""


class Dedup(DedupActions):
    """The second mode."""

    BINDINGS = bindings("review", "mode")
    AUTO_FOCUS = "DraftLine"

    def compose(self) -> ComposeResult:
        drafts, known, diff = DraftList(), KnownList(), DiffPane()
        drafts.border_title, known.border_title = "Drafts", "Known, closest first"
        diff.border_title = "What would be written"
        known.invitation = empty_states.nothing_asked
        yield DraftLine()
        with Horizontal(id="review", classes="-pane-drafts"):
            with Vertical(id="drafts"):
                yield drafts
                yield diff
            yield known
        yield NumberSlider("threshold", 0.9)
        yield StatusLine()
        yield KeyBar()

    def on_mount(self) -> None:
        self.use_keymap(self.keymap)
        self.query_one(KeyBar).here = "dedup"
        self.query_one(DraftLine).border_title = "new draft"
        self.query_one(DraftList).invitation = empty_states.no_drafts(self.keymap)
        self.query_one(DraftList).lines_changed()
        self.controller.reviewing.open()

    def fit(self, size: Size) -> None:
        self.set_class(size.height < 20, "-short")

    def on_descendant_focus(self) -> None:
        self.query_one(KeyBar).show(*self.scopes())
        self.show_pane_of(self.focused)

    def scopes(self) -> tuple[Scope, ...]:
        return scopes_of(self.focused)

    # What the controller tells.

    def on_reviewed(self, message: Reviewed) -> None:
        view = message.view
        drafts = self.query_one(DraftList)
        drafts.border_title = f"Drafts ({len(view.rows)})" if view.rows else "Drafts"
        drafts.border_subtitle = view.summary
        drafts.show(view.rows)
        if not view.rows:
            self.show_known("", ())
            self.query_one(DiffPane).explain("")
            self.query_one(DiffPane).show(())
        slider = self.query_one(NumberSlider)
        slider.show(view.threshold)
        slider.annotate(view.note, view.scores)

    def on_typed(self, message: Typed) -> None:
        if self.line_use != "file" and self.query_one(DraftLine).value.strip():
            self.show_known("", message.known)
        elif (draft := self.query_one(DraftList).current) is not None:
            self.show_draft(draft.id)

    def on_plan_shown(self, message: PlanShown) -> None:
        self.query_one(DiffPane).show(message.lines)

    def on_writing(self, message: Writing) -> None:
        self.query_one(StatusLine).show_progress(message.text)

    def on_indexing(self, message: Indexing) -> None:
        self.query_one(StatusLine).show_progress(message.text)

    def on_noticed(self, message: Noticed) -> None:
        self.query_one(StatusLine).clear_error()
        self.notice(message.text)
        if self.line_use == "file":
            self.action_leave_line()

    def on_failed(self, message: Failed) -> None:
        self.query_one(StatusLine).show_error(message.text)

    # What happened in the panes.

    @on(DraftList.Highlighted)
    def highlight(self, event: DraftList.Highlighted) -> None:
        draft = self.query_one(DraftList).current
        if draft is not None and draft.id == event.draft_id:  # else the list has moved on
            self.show_draft(draft.id)

    @on(DraftList.Opened)
    def rewrite(self, event: DraftList.Opened) -> None:
        self.begin_rewriting(event.draft_id)

    @on(DraftList.Left)
    def back_to_line(self) -> None:
        self.action_focus_line()

    @on(KnownList.Opened)
    async def read_known(self, event: KnownList.Opened) -> None:
        await self.action_edit()

    @on(DraftLine.Changed)
    def check_typed(self, event: DraftLine.Changed) -> None:
        if self.typing_timer is not None:
            self.typing_timer.stop()
        text = "" if self.line_use == "file" else event.value
        self.typing_timer = self.set_timer(
            TYPING_PAUSE, lambda: self.controller.reviewing.type(text)
        )

    @on(DraftLine.Offered)
    def offer_files(self, event: DraftLine.Offered) -> None:
        self.query_one(StatusLine).show_hint("   ".join(event.candidates))

    @on(DraftLine.Submitted)
    def take_line(self, event: DraftLine.Submitted) -> None:
        self.submit(event.value)

    @on(DraftLine.Pasted)
    def take_lines(self, event: DraftLine.Pasted) -> None:
        if self.line_use == "new":
            self.add(event.text)
            self.action_leave_line()
        else:
            self.query_one(DraftLine).insert_text_at_cursor(" ".join(event.text.splitlines()))

    @on(NumberSlider.Changed)
    def retune(self, event: NumberSlider.Changed) -> None:
        self.controller.reviewing.retune(event.value)


def scopes_of(widget: object) -> tuple[Scope, ...]:
    """Return whose keys work while `widget` has the focus, the nearest first."""
    kinds: tuple[tuple[type[Widget], tuple[Scope, ...]], ...] = (
        (DraftLine, ("draft_line", "app")),
        (DraftList, ("drafts", "list", "review", "mode", "app")),
        (KnownList, ("known", "list", "review", "mode", "app")),
        (NumberSlider, ("slider", "review", "mode", "app")),
        (LinesView, ("text", "review", "mode", "app")),
    )
    return next((scopes for kind, scopes in kinds if isinstance(widget, kind)), ("mode", "app"))

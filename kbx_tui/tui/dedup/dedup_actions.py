"""What the keys of the dedup screen do."""

from __future__ import annotations

from typing import Literal

from textual.timer import Timer
from textual.widget import Widget

from kbx_tui.editing.state.drafts import Action, Choice
from kbx_tui.errors import ConfigError
from kbx_tui.safe_text import visible
from kbx_tui.tui.app_state import Memory
from kbx_tui.tui.commands.registry import Scope
from kbx_tui.tui.controller import Controller
from kbx_tui.tui.dedup.diff_pane import DiffPane
from kbx_tui.tui.dedup.draft_line import PLACEHOLDER, DraftLine
from kbx_tui.tui.dedup.draft_list import DraftList
from kbx_tui.tui.dedup.known_list import KnownList
from kbx_tui.tui.dedup.known_rows import KnownRow
from kbx_tui.tui.dedup.view import DraftRow
from kbx_tui.tui.drawing import empty_states
from kbx_tui.tui.shell.mode_screen import ModeScreen
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.status_line import StatusLine

PANES: dict[str, type[Widget]] = {"drafts": DraftList, "known": KnownList, "diff": DiffPane}
"""In the order Tab goes."""
LineUse = Literal["new", "text", "merge", "file"]
LINE_TITLES: dict[LineUse, str] = {
    "new": "new draft",
    "text": "change this draft · enter keeps it, esc leaves it",
    "merge": "merged text · enter takes it, esc leaves it",
    "file": "file of drafts, a line each · tab completes, enter loads it",
}


class DedupActions(ModeScreen):
    """The dedup screen as keys move it."""

    def __init__(self, controller: Controller, memory: Memory) -> None:
        super().__init__(controller, memory)
        self.typing_timer: Timer | None = None
        self.line_use: LineUse = "new"
        """What the line is for now."""
        self._subject = ""
        """Id of the draft that the line changes or merges."""
        self._merged_into: int | None = None

    @property
    def draft(self) -> DraftRow | None:
        """The draft under the cursor."""
        return self.query_one(DraftList).current

    @property
    def known(self) -> KnownRow | None:
        """The known text under the cursor, when it belongs to the draft under its cursor."""
        known = self.query_one(KnownList)
        at_hand = self.draft is not None and known.subject == self.draft.id
        return known.current if at_hand else None

    @property
    def palette_scopes(self) -> tuple[Scope, ...]:
        return ("review", "mode")

    def leave_field(self) -> None:
        if self.is_typing:
            self.action_leave_line()

    @property
    def is_typing(self) -> bool:
        return isinstance(self.focused, DraftLine)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tab takes a completion where there is one: a screen hears keys first."""
        line = self.focused
        if action == "next_pane" and isinstance(line, DraftLine) and line.completion:
            return parameters != (1,)
        return super().check_action(action, parameters)

    # Going somewhere.

    def show_pane_of(self, widget: Widget | None) -> None:
        """Let the pane of `widget` be the one that a small terminal shows."""
        names = [name for name, kind in PANES.items() if isinstance(widget, kind)]
        for name in PANES if names else ():
            self.query_one("#review").set_class(name == names[0], f"-pane-{name}")

    def action_next_pane(self, step: int) -> None:
        names = list(PANES)
        at = next((n for n in names if isinstance(self.focused, PANES[n])), names[-1])
        name = names[(names.index(at) + step) % len(names)]
        self.query_one("#review").add_class(f"-pane-{name}")  # or there is nothing yet to focus
        self.set_focus(self.query_one(PANES[name]))

    def action_focus_line(self) -> None:
        self.set_focus(self.query_one(DraftLine))

    def action_leave_line(self) -> None:
        """Back to the drafts; what was being changed stays as it was, what was typed too."""
        if self.line_use != "new":
            self._use_line("new")
        self.set_focus(self.query_one(DraftList))

    def action_back(self) -> None:
        if isinstance(self.focused, DraftList):
            self._app.call_later(self._app.go_to, "explore")
        else:
            self.set_focus(self.query_one(DraftList))

    # Drafts.

    def add(self, text: str) -> None:
        """Add a draft for every line of `text`."""
        try:
            self.controller.reviewing.add(text)
        except ConfigError as error:
            self.query_one(StatusLine).show_error(str(error))

    def submit(self, text: str) -> None:
        """Take what stands in the line: as a draft, a new text, a merged one, or a file."""
        reviewing, use, subject = self.controller.reviewing, self.line_use, self._subject
        if not text.strip():
            self.action_leave_line()
        elif use == "new":
            self.query_one(DraftLine).value = ""
            reviewing.add_line(text)
        else:
            if use == "text":
                reviewing.rewrite(subject, text)
            elif use == "file":
                reviewing.load(text.strip())
                return  # a notice closes the line: what cannot be read can be mended there
            elif self._merged_into is not None:
                reviewing.choose(subject, Choice("merge", (self._merged_into,), text.strip()))
            self.action_leave_line()

    def begin_rewriting(self, draft_id: str) -> None:
        """Put the text of a draft into the line."""
        self._subject = draft_id
        self._use_line("text", self.controller.reviewing.drafted.draft(draft_id).text)

    def action_load(self) -> None:
        self._use_line("file")
        self.action_focus_line()

    def action_scan(self) -> None:
        self.controller.reviewing.scan()

    def action_assign(self) -> None:
        if (draft := self.draft) is not None:
            draft_id = draft.id
            self._app.pick_entity(lambda name: self.controller.reviewing.assign(draft_id, name))

    def action_turn_kind(self) -> None:
        if self.draft is not None:
            self.controller.reviewing.turn_kind(self.draft.id)

    def action_make_page(self) -> None:
        if self.draft is not None:
            self.controller.reviewing.make_page(self.draft.id)

    def action_drop(self) -> None:
        if self.draft is not None:
            self.controller.reviewing.drop(self.draft.id)

    # Deciding.

    def action_choose(self, action: Action) -> None:
        """Decide about the draft at hand; the same key a second time leaves it open again."""
        draft, known = self.draft, self.known
        if draft is None:
            return
        choose = self.controller.reviewing.choose
        if draft.is_decided and draft.action == action:
            choose(draft.id, None)
        elif action == "skip":
            choose(draft.id, Choice("skip"))
        elif not draft.has_page:
            self.notice("it has no page to stand on: e says whose it is, P makes the page")
        elif action == "create":
            choose(draft.id, Choice("create"))
        elif known is None or known.fact_id is None:
            self.notice(f"nothing known is like it: there is no fact to {action}")
        elif known.relation == "different" and not self.query_one(KnownList).chosen:
            self.notice(f"nothing known says that: to {action} a fact all the same, go to it first")
        elif action == "merge":
            self._subject, self._merged_into = draft.id, known.fact_id
            merged = self.controller.reviewing.merged_text(draft.id, known)
            self._use_line("merge", merged)
        else:
            choose(draft.id, Choice(action, (known.fact_id,)))

    def action_label(self, same: bool) -> None:
        if self.draft is not None and self.known is not None:
            self.controller.reviewing.label(self.draft.id, self.known, same=same)
        else:
            self.notice("no pair to judge: y and n are for a draft and what is known like it")

    def action_apply(self) -> None:
        self.controller.reviewing.apply()

    def action_undo(self) -> None:
        self.controller.reviewing.undo()

    def action_threshold(self, steps: int) -> None:
        self.query_one(NumberSlider).action_move(steps)

    async def action_edit(self) -> None:
        known, summary = self.known, self._app.explore_summary
        if known is None or not known.path or summary is None:
            self.notice("no file at hand: go to a fact on the right first")
            return
        await self._app.edit(summary.root, known.path, known.line)
        self.controller.upkeep.index(perhaps=[known.path])

    # Showing.

    def show_draft(self, draft_id: str) -> None:
        """Show what is like a draft, and what would be written for it."""
        self.show_known(draft_id, self.controller.reviewing.known(draft_id))
        self.query_one(DiffPane).explain(self.draft.reason if self.draft is not None else "")
        self.controller.reviewing.preview(draft_id)

    def show_known(self, subject: str, known: tuple[KnownRow, ...]) -> None:
        """Show what is known like a draft; without one, like what is typed."""
        pane = self.query_one(KnownList)
        typed = visible(self.query_one(DraftLine).value.strip())
        pane.border_subtitle = "of what you type" if not subject and typed else ""
        asked = subject or typed
        pane.invitation = empty_states.nothing_known if asked else empty_states.nothing_asked
        pane.show(subject, known)

    def _use_line(self, use: LineUse, text: str = "") -> None:
        line = self.query_one(DraftLine)
        self.line_use = use
        line.border_title = LINE_TITLES[use]
        line.placeholder = PLACEHOLDER if use == "new" else ""
        line.show_text(text)
        line.complete_with(self.controller.reviewing.complete_file if use == "file" else None)
        if use != "new":
            self.set_focus(line)

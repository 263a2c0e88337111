"""Search as you type: entities, results, and why."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen

from kbx_tui.tui import invitations
from kbx_tui.tui.commands import Scope, bindings, commands_in
from kbx_tui.tui.controller import Controller
from kbx_tui.tui.messages import (
    Failed,
    Indexing,
    Opened,
    PreviewReady,
    Ranked,
    Searching,
    SnippetsReady,
    Tuned,
)
from kbx_tui.tui.view import BaseSummary, ExploreView, ResultRow
from kbx_tui.tui.widgets.entity_list import EntityList, EntityStrip
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.knobs import Knobs
from kbx_tui.tui.widgets.mode_badge import ModeBadge
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.panes import Pane, Panes
from kbx_tui.tui.widgets.preview_pane import PreviewPane
from kbx_tui.tui.widgets.query_line import QueryLine
from kbx_tui.tui.widgets.result_list import ResultList
from kbx_tui.tui.widgets.rows_view import RowsView
from kbx_tui.tui.widgets.status_line import StatusLine
from kbx_tui.tui.widgets.why_pane import WhyPane
from kbx_tui.tui.wording import mode_candidates

COMMANDS_BY_LETTER = {command.action.partition("(")[0] for command in commands_in("screen")}
COMMANDS_BY_LETTER -= {"next_pane"}
"""Actions that wait while a query is typed: their keys are text then."""


class Explore(Screen[None]):
    """What a person does goes to the controller; what the controller tells is shown."""

    BINDINGS = bindings("screen")
    AUTO_FOCUS = "QueryLine"

    def __init__(self, controller: Controller) -> None:
        super().__init__(id="explore")
        self.controller = controller
        self.summary: BaseSummary | None = None
        self.view: ExploreView | None = None
        """What is shown; None before the first answer and when nothing is typed."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield QueryLine()
            yield ModeBadge()
        yield EntityStrip()
        yield Panes()
        yield Knobs()
        yield StatusLine()
        yield KeyBar()

    def on_mount(self) -> None:
        self._invite()

    # What a person does.

    @on(QueryLine.Changed)
    def search(self, event: QueryLine.Changed) -> None:
        self.controller.search(event.value)
        if not event.value.strip():
            self.view = None
            self._invite()

    @on(NumberSlider.Changed, "#alpha")
    def retune_alpha(self, event: NumberSlider.Changed) -> None:
        self.controller.retune(alpha=event.value)
        if self.view is not None and self.view.alpha_note and not event.slider.note_shown:
            self.query_one(StatusLine).show_notice(self.view.alpha_note)

    @on(NumberSlider.Changed, "#threshold")
    def retune_threshold(self, event: NumberSlider.Changed) -> None:
        self.controller.retune(entity_threshold=event.value)

    @on(ResultList.Highlighted)
    def explain(self, event: ResultList.Highlighted) -> None:
        self._explain(event.result)
        if self._panes.reading:
            self.controller.preview(event.result.path)

    @on(ResultList.InSight)
    def fetch_snippets(self, event: ResultList.InSight) -> None:
        self.controller.ask_snippets(event.paths)

    @on(ResultList.Opened)
    def read(self, event: ResultList.Opened) -> None:
        self._read(event.result.path)

    @on(EntityList.Opened)
    def read_entity(self, event: EntityList.Opened) -> None:
        if event.entity.path:
            self._read(event.entity.path)
        else:
            self.query_one(StatusLine).show_notice(f"{event.entity.name} has no page of its own")

    @on(PreviewPane.Closed)
    def close_preview(self) -> None:
        self.action_back()

    @on(ResultList.Left)
    def back_to_query(self) -> None:
        self.action_focus_query()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.query_one(KeyBar).show(*scopes_of(event.widget))
        if (pane := self._panes.name_of(event.widget)) is not None:
            self._panes.show_pane(pane)

    # What the controller tells.

    def on_opened(self, message: Opened) -> None:
        self.summary = message.summary
        words = f"kbx · {message.summary.name}"
        if message.summary.documents is not None:
            words += f" · {message.summary.documents:,} documents"
        self.query_one(QueryLine).border_title = Content(words)
        if self.view is None:
            self.query_one(ResultList).invite(invitations.nothing_typed(self.summary))

    def on_tuned(self, message: Tuned) -> None:
        self.query_one(Knobs).show(message.knobs)

    def on_searching(self, message: Searching) -> None:
        if message.generation == self.controller.generation:
            self.query_one(ModeBadge).show(("searching …",), busy=True)

    def on_ranked(self, message: Ranked) -> None:
        if message.generation != self.controller.generation:
            return
        view = self.view = message.view
        self.query_one(StatusLine).clear_error()
        self.query_one(ModeBadge).show(mode_candidates(view.mode))
        self.query_one(Knobs).annotate(view)
        self.query_one(EntityStrip).show(view.entities, view.knobs.entity_threshold)
        entities = self.query_one(EntityList)
        entities.invitation = invitations.no_entities
        entities.show(view.entities, view.knobs.entity_threshold)
        results = self.query_one(ResultList)
        results.border_title = f"Results {view.matched:,} of {view.in_scope:,}"
        self._panes.remove_class("-idle")
        if view.results:
            more = view.matched - len(view.results)
            results.show(view.results, fresh=message.fresh, more=more)
        else:
            results.invite(invitations.nothing_found(view.query, view.in_scope))
            self._explain_nothing(invitations.nothing)

    def on_snippets_ready(self, message: SnippetsReady) -> None:
        if self.view is None or message.query != self.view.query:
            return
        results = self.query_one(ResultList)
        results.add_snippets(message.snippets)
        if results.current is not None and results.current.path in message.snippets:
            self._explain(results.current)

    def on_preview_ready(self, message: PreviewReady) -> None:
        preview, pane = message.preview, self.query_one(PreviewPane)
        pane.border_title = Content(preview.title)
        pane.border_subtitle = Content(preview.path)
        pane.show(preview)

    def on_indexing(self, message: Indexing) -> None:
        self.query_one(StatusLine).show_progress(message.text)

    def on_failed(self, message: Failed) -> None:
        if message.generation not in (None, self.controller.generation):
            return
        self.query_one(StatusLine).show_error(message.text)
        view = self.view
        self.query_one(ModeBadge).show(mode_candidates(view.mode) if view is not None else ())
        if view is None:  # room to say all of it
            is_open = self.summary is not None
            self.query_one(ResultList).invite(invitations.failed(message.text, is_open=is_open))

    # Keys.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not isinstance(self.focused, QueryLine) or action not in COMMANDS_BY_LETTER

    def action_leave_query(self) -> None:
        self._focus_pane("results")

    def action_help(self) -> None:
        from kbx_tui.tui.screens.help import Help

        self.app.push_screen(Help())

    def action_leave(self) -> None:
        self.app.exit()

    def action_focus_query(self) -> None:
        self.set_focus(self.query_one(QueryLine))

    def action_focus_entities(self) -> None:
        self._focus_pane("entities")

    def action_alpha(self, steps: int) -> None:
        self.query_one(Knobs).alpha.action_move(steps)

    def action_threshold(self, steps: int) -> None:
        self.query_one(Knobs).threshold.action_move(steps)

    def action_toggle_mode(self) -> None:
        self.controller.retune(hierarchy=not self.controller.knobs.hierarchy)
        if self.view is None:
            two_pass = self.controller.knobs.hierarchy
            words = "searches use the entities they name" if two_pass else "searches are flat now"
            self.query_one(StatusLine).show_notice(words)

    def action_toggle_why(self) -> None:
        if self.has_class("-tiny"):
            self._focus_pane("results" if self._panes.shown_pane == "why" else "why")
        else:
            self._panes.toggle_class("-no-why")

    def action_back(self) -> None:
        self._panes.remove_class("-preview")
        self._focus_pane("results")

    def action_next_pane(self, step: int) -> None:
        pane = self._panes.name_of(self.focused)
        if self.has_class("-tiny") and pane is not None:
            self._focus_pane(self._panes.beside(pane, step))
        elif step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    # Showing.

    @property
    def _panes(self) -> Panes:
        return self.query_one(Panes)

    def _invite(self) -> None:
        threshold = self.controller.knobs.entity_threshold
        self.query_one(EntityStrip).show((), threshold)
        self.query_one(EntityList).invitation = invitations.entities
        self.query_one(EntityList).show((), threshold)
        self.query_one(ResultList).border_title = "Results"
        self.query_one(ResultList).invite(invitations.nothing_typed(self.summary))
        self._explain_nothing(invitations.why)
        self._panes.add_class("-idle")
        self.query_one(ModeBadge).show(())

    def _explain(self, result: ResultRow) -> None:
        why, snippet = self.controller.why(result.row), self.controller.snippet(result.path)
        self.query_one(WhyPane).show(why, snippet)

    def _explain_nothing(self, invitation: invitations.Invitation) -> None:
        self.query_one(WhyPane).invitation = invitation
        self.query_one(WhyPane).show(None, None)

    def _focus_pane(self, pane: Pane) -> None:
        self._panes.show_pane(pane)
        self.set_focus(self._panes.pane(pane))  # at once: the next key may be here already

    def _read(self, path: str) -> None:
        self.controller.preview(path)
        self._panes.add_class("-preview")
        self.set_focus(self.query_one(PreviewPane))


def scopes_of(widget: object) -> tuple[Scope, ...]:
    """Return whose keys the key bar shows while `widget` has the focus."""
    if isinstance(widget, QueryLine):
        return ("query", "app")
    if isinstance(widget, RowsView):
        return ("list", "screen", "app")
    if isinstance(widget, PreviewPane):
        return ("preview", "screen", "app")
    if isinstance(widget, NumberSlider):
        return ("slider", "screen", "app")
    return ("screen", "app")

"""Search as you type: entities, results, why, and what one reads.

What keys ask for is in `explore_actions`, what the controller tells in `explore_answers`.
"""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.widget import Widget

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.registry import Scope
from kbx_tui.tui.explore.explore_answers import ExploreAnswers
from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.entity_list import EntityList, EntityStrip
from kbx_tui.tui.explore.panes.knobs import Knobs
from kbx_tui.tui.explore.panes.mode_badge import ModeBadge
from kbx_tui.tui.explore.panes.pane_layout import Panes
from kbx_tui.tui.explore.panes.path_field import PathField, PathLine, meant_path
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.panes.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.status_line import StatusLine


class Explore(ExploreAnswers):
    """The screen that does most."""

    BINDINGS = bindings("screen", "mode")
    AUTO_FOCUS = "QueryLine"

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield QueryLine()
            yield ModeBadge()
            yield PathField(self.controller.complete_path)
        yield EntityStrip()
        yield Panes()
        yield Knobs()
        yield StatusLine()
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(PathLine).border_title = "in"
        self._invite()

    def on_key(self, event: events.Key) -> None:
        """Keys that come before the query line has the focus are for it as well."""
        if self.focused is None and event.is_printable and event.character is not None:
            event.stop()
            self.query_one(QueryLine).insert_text_at_cursor(event.character)

    def fit(self, size: Size) -> None:
        self.set_class(size.width < 50, "-tiny")
        self._show_focused_pane()

    def on_descendant_focus(self) -> None:
        focused = self.focused  # not the event's: keys may have moved on since it was posted
        self.query_one(KeyBar).show(*self.scopes())
        self.query_one(PathField).set_class(isinstance(focused, PathLine), "-typing")
        self._show_focused_pane()

    def _show_focused_pane(self) -> None:
        if (pane := self.panes.name_of(self.focused)) is not None:
            self.panes.show_pane(pane)

    def scopes(self) -> tuple[Scope, ...]:
        return scopes_of(self.focused)

    # What happened in the panes.

    @on(QueryLine.Changed)
    def search(self, event: QueryLine.Changed) -> None:
        if not isinstance(event.input, QueryLine):
            return
        query = event.value.strip()
        self.controller.ask(query=query)
        if not query:
            self.view = None
            self._invite()

    @on(PathLine.Changed)
    def narrow(self, event: PathLine.Changed) -> None:
        if not isinstance(event.input, PathLine):
            return
        path = event.value.strip()
        self.set_class(bool(path), "-scoped")
        if not (path and event.input.has_focus):  # else completions tell what is meant
            self.controller.ask(path=path)
        if not path and self.view is None:
            self._show_scope(None)

    @on(PathLine.Offered)
    def offer_paths(self, event: PathLine.Offered) -> None:
        self.query_one(StatusLine).show_hint("   ".join(event.candidates))
        if event.path:
            self.controller.ask(path=meant_path(event.path, event.candidates))

    @on(PathLine.Left)
    def narrow_as_typed(self, event: PathLine.Left) -> None:
        self.query_one(StatusLine).show_hint("")
        self.controller.ask(path=event.path)

    @on(NumberSlider.Changed, "#alpha")
    def retune_alpha(self, event: NumberSlider.Changed) -> None:
        self.controller.ask(alpha=event.value)
        inert = self.view is not None and self.view.alpha_note.startswith("alpha has no effect")
        if inert and self.view is not None and not event.slider.note_shown:
            self.query_one(StatusLine).show_notice(self.view.alpha_note)

    @on(NumberSlider.Changed, "#threshold")
    def retune_threshold(self, event: NumberSlider.Changed) -> None:
        self.controller.ask(threshold=event.value)

    @on(ResultList.Highlighted)
    def highlight(self, event: ResultList.Highlighted) -> None:
        if event.result != self.query_one(ResultList).current:  # the list has moved on
            return
        self.explain(event.result)
        if self.panes.read == "document" and not isinstance(self.focused, PreviewPane):
            self.read_document(event.result.path, replace=True)

    @on(ResultList.InSight)
    def fetch_snippets(self, event: ResultList.InSight) -> None:
        self.controller.ask_snippets(event.paths)

    @on(ResultList.Opened)
    def read_result(self, event: ResultList.Opened) -> None:
        self.memory.remember_query(self.controller.asking.query)
        self.read_document(event.result.path, focus=True)

    @on(EntityList.Opened)
    def read_entity(self, event: EntityList.Opened) -> None:
        self._came_from = "entities"
        self.read_card(event.entity.id)

    @on(EntityList.Muted)
    def mute(self, event: EntityList.Muted) -> None:
        self.controller.ask(muted=self.controller.asking.muted ^ {event.entity.id})

    @on(EntityList.Pinned)
    def pin(self, event: EntityList.Pinned) -> None:
        self.controller.ask(pinned=self.controller.asking.pinned ^ {event.entity.id})

    @on(EntityCard.Opened)
    def read_from_card(self, event: EntityCard.Opened) -> None:
        self.read_document(event.path, focus=True)

    @on(PreviewPane.Followed)
    def follow(self, event: PreviewPane.Followed) -> None:
        width = self.query_one(PreviewPane).text_width
        self._wants_focus = True
        self.controller.reading.follow(event.target, event.path, width)

    @on(PreviewPane.Resized)
    def lay_out(self, event: PreviewPane.Resized) -> None:
        self.controller.reading.lay_out(event.width)

    @on(PreviewPane.Closed)
    @on(EntityCard.Closed)
    def close_reader(self) -> None:
        self.action_back()

    @on(ResultList.Left)
    @on(EntityList.Left)
    def back_to_query(self) -> None:
        self.action_focus_query()


def scopes_of(widget: object) -> tuple[Scope, ...]:
    """Return whose keys the key bar shows while `widget` has the focus, the nearest first."""
    kinds: tuple[tuple[type[Widget], tuple[Scope, ...]], ...] = (
        (QueryLine, ("query", "app")),
        (PathLine, ("path", "app")),
        (ResultList, ("results", "list", "screen", "mode", "app")),
        (EntityList, ("entities", "list", "screen", "mode", "app")),
        (PreviewPane, ("preview", "text", "screen", "mode", "app")),
        (EntityCard, ("card", "list", "screen", "mode", "app")),
        (WhyPane, ("text", "screen", "mode", "app")),
        (NumberSlider, ("slider", "screen", "mode", "app")),
    )
    return next(
        (scopes for kind, scopes in kinds if isinstance(widget, kind)), ("screen", "mode", "app")
    )

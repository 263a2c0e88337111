"""What the explore screen is made of, where the focus is, and how it fits its size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size

from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.explore.answer_display import AnswerDisplay
from kbx_tui.tui.explore.documents.document_actions import DocumentActions
from kbx_tui.tui.explore.documents.reader import Reader
from kbx_tui.tui.explore.documents.result_judge import ResultJudge
from kbx_tui.tui.explore.documents.result_sharer import ResultSharer
from kbx_tui.tui.explore.narrowing.facet_sidebar import FacetSidebar
from kbx_tui.tui.explore.narrowing.query_filters import QueryFilters
from kbx_tui.tui.explore.narrowing.search_switches import SearchSwitches
from kbx_tui.tui.explore.pane_switch import PaneSwitch
from kbx_tui.tui.explore.panes.date_chip import DateChip
from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.entity_list import EntityList, EntityStrip
from kbx_tui.tui.explore.panes.facet_pane import FacetPane, FacetStrip
from kbx_tui.tui.explore.panes.filter_chip import FilterChip
from kbx_tui.tui.explore.panes.knobs import Knobs
from kbx_tui.tui.explore.panes.mode_badge import ModeBadge
from kbx_tui.tui.explore.panes.pane_layout import Panes
from kbx_tui.tui.explore.panes.path_field import PathField, PathLine
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.panes.why_pane import WhyPane
from kbx_tui.tui.explore.reasons.meanings import meanings_of
from kbx_tui.tui.explore.tour_guide import TourGuide
from kbx_tui.tui.explore.view import ExploreView
from kbx_tui.tui.judging.judging_screen import JudgingScreen
from kbx_tui.tui.judging.measure_line import MeasureLine
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.tour_bubble import TourBubble
from kbx_tui.tui.widgets.number_slider import NumberSlider


class ExploreFrame(JudgingScreen):
    """The widgets of the explore mode, and the objects that display answers and open documents."""

    BINDINGS = bindings("screen", "judging", "mode")
    AUTO_FOCUS = "QueryLine"
    MODE = "explore"
    SCOPE = "screen"
    SHARED_SCOPES = ("judging",)
    MAIN_LIST = ResultList
    FOCUS_SCOPES: ClassVar = {
        QueryLine: ("query",),
        PathLine: ("path",),
        ResultList: ("results", "list"),
        EntityList: ("entities", "list"),
        FacetPane: ("facets", "list"),
        PreviewPane: ("preview", "text"),
        EntityCard: ("card", "list"),
        WhyPane: ("text",),
        NumberSlider: ("slider",),
    }

    def __init__(self, session: BaseSession, app_state: AppState, navigator: Navigator) -> None:
        super().__init__(session, app_state, navigator)
        self.model = session.explore
        self.pane_switch = PaneSwitch(self, app_state)
        facets = FacetSidebar(self, self.model, session.client, lambda: navigator.keymap)
        self.answer = AnswerDisplay(self, self.model, app_state, lambda: navigator.keymap, facets)
        self.reader = Reader(self, session.reading, session.live_preview, self.pane_switch)
        self.filters = QueryFilters(self, self.model)
        self.judge = ResultJudge(self, session, self.answer, self.reader)
        self.documents = DocumentActions(self, session)
        self.sharer = ResultSharer(self, session)
        self.switches = SearchSwitches(self.model, lambda: self.view, self.show_notice)
        self.tour = TourGuide(self, self.model, self.answer, app_state, lambda: navigator.keymap)
        self.model.post = session.reading.post = session.live_preview.post = self.post_message

    def compose_panes(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield QueryLine()
            yield ModeBadge()
            yield PathField(self.model.completions.path)
        with Horizontal(id="chips"):
            yield DateChip()
            yield FilterChip()
        yield EntityStrip()
        yield FacetStrip()
        yield Panes()
        yield TourBubble()
        yield Knobs()
        yield MeasureLine()

    def on_mount(self) -> None:
        self.query_one(QueryLine).border_title = "query"
        self.query_one(PathLine).border_title = "in"
        self.answer.clear()

    def on_screen_resume(self) -> None:
        self.query_one(Knobs).show(self.model.state)  # other modes move the same knobs

    @property
    def view(self) -> ExploreView | None:
        """The answer shown; None before the first and without a query."""
        return self.answer.view

    @property
    def panes(self) -> Panes:
        """The container of the panes."""
        return self.pane_switch.panes

    # Focus, keys and size.

    def on_key(self, event: events.Key) -> None:
        """Pass keys on to the query line if they were typed before it had the focus."""
        if self.focused is None and event.is_printable and event.character is not None:
            event.stop()
            self.query_one(QueryLine).insert_text_at_cursor(event.character)

    def fit(self, size: Size) -> None:
        self.set_class(size.height < 18, "-short")
        self.panes.fit(size)
        self.reader.follow_cursor()
        self.pane_switch.show_focused()
        self.reader.give_way()

    def on_descendant_focus(self) -> None:
        focused = self.focused  # not the event's: keys may have moved on since it was posted
        self.query_one(PathField).set_class(isinstance(focused, PathLine), "-typing")
        self.pane_switch.show_focused()
        self.reader.give_way()
        if isinstance(focused, PreviewPane):  # what is read there stays the current result
            results = self.query_one(ResultList)
            results.choose(results.cursor)

    @property
    def is_typing(self) -> bool:
        # before the first frame nothing has the focus, but the user may already be typing
        return self.focused is None or super().is_typing

    def meanings(self) -> Iterable[tuple[str, str]]:
        return meanings_of(self.focused, self.view, self.model.state.alpha)

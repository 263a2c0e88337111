"""The explore mode: search as you type, with entities, results, why they match, and a reader."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Input

from kbx_tui.search.query.filters import Dates
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.explore.answer_display import AnswerDisplay
from kbx_tui.tui.explore.chips import DateChip, FilterChip, ModeBadge
from kbx_tui.tui.explore.document_actions import Content, DocumentActions, ResultSharer
from kbx_tui.tui.explore.entity_card import EntityCard
from kbx_tui.tui.explore.entity_list import EntityList, EntityStrip
from kbx_tui.tui.explore.facet_list import narrowed, narrowed_to_span
from kbx_tui.tui.explore.facet_sidebar import FacetPane, FacetSidebar, FacetStrip
from kbx_tui.tui.explore.inputs import (
    Knobs,
    PathField,
    PathLine,
    QueryFilters,
    QueryLine,
    effective_path,
)
from kbx_tui.tui.explore.model import SearchSwitches
from kbx_tui.tui.explore.pane_layout import Panes, PaneSwitch
from kbx_tui.tui.explore.reader import Reader
from kbx_tui.tui.explore.result_judge import ResultJudge
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.score_words import (
    alpha_words,
    entity_words,
    mode_words,
    result_words,
    threshold_words,
    why_words,
)
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.explore.tour_guide import TourGuide
from kbx_tui.tui.explore.view import (
    BaseCounted,
    CardReady,
    ExploreView,
    FilesChanged,
    LinkBroken,
    LivePreviewReady,
    PreviewGone,
    PreviewReady,
    QueryCompleted,
    RankingReady,
    ScopeCounted,
    SearchSlow,
    SnippetsReady,
    StateReplaced,
)
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.judging.judging_screen import JudgingScreen, MeasureLine
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.messages import Failure, GoTo
from kbx_tui.tui.shell.tour import TourBubble
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.status_line import StatusLine


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

    def __init__(self, session: BaseSession, app_state: AppState) -> None:
        super().__init__(session, app_state)
        self.model = session.explore
        self.pane_switch = PaneSwitch(self, app_state)
        facets = FacetSidebar(self, self.model, session.client, lambda: self.app.keymap)
        self.answer = AnswerDisplay(self, self.model, app_state, lambda: self.app.keymap, facets)
        self.reader = Reader(self, session.reading, session.live_preview, self.pane_switch)
        self.filters = QueryFilters(self, self.model)
        self.judge = ResultJudge(self, session, self.answer, self.reader)
        self.documents = DocumentActions(self, session)
        self.sharer = ResultSharer(self, session)
        self.switches = SearchSwitches(self.model, lambda: self.view, self.show_notice)
        self.tour = TourGuide(self, self.model, self.answer, app_state, lambda: self.app.keymap)
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


class ExploreAnswers(ExploreFrame):
    """The explore screen as it shows answers, documents and errors."""

    def on_base_counted(self, message: BaseCounted) -> None:
        self.answer.show_base()
        if message.summary.documents:
            self.tour.start_if_wanted()

    def on_state_replaced(self, message: StateReplaced) -> None:
        self.query_one(Knobs).show(message.state)
        query = self.query_one(QueryLine)
        if query.value.strip() != message.state.query and not query.has_focus:
            query.show_query(message.state.query)
        path = self.query_one(PathLine)
        if path.value.strip() != message.state.path and not path.has_focus:
            path.value = message.state.path

    def on_query_completed(self, message: QueryCompleted) -> None:
        self.filters.show_completion(message.typed, message.query)

    def on_search_slow(self, message: SearchSlow) -> None:
        if self.model.is_searching:
            self.answer.show_slow()

    def on_scope_counted(self, message: ScopeCounted) -> None:
        self.answer.show_scope_without_query(message.scope)

    def on_ranking_ready(self, message: RankingReady) -> None:
        if self.model.is_current(message.view):
            self.answer.show(message.view, self.navigator.keymap, is_new=message.is_new)
            self.judge.show(self.navigator.keymap)
            if message.is_new and not self.query_one(QueryLine).has_focus:
                self.app_state.remember_query(self.model.asked())
            self.tour.show()

    def on_snippets_ready(self, message: SnippetsReady) -> None:
        self.answer.show_snippets(message.query, message.snippets, message.outdated)

    def on_files_changed(self, message: FilesChanged) -> None:
        self.query_one(ResultList).forget_snippets(message.paths)
        self.reader.reload(message.paths)

    def on_preview_ready(self, message: PreviewReady) -> None:
        self.reader.show_document(message.layout)
        self.judge.show(self.navigator.keymap)

    def on_live_preview_ready(self, message: LivePreviewReady) -> None:
        self.reader.show_live(message)
        self.judge.show(self.navigator.keymap)

    def on_preview_gone(self, message: PreviewGone) -> None:
        self.reader.show_missing_document(message.path, message.reason)

    def on_card_ready(self, message: CardReady) -> None:
        self.reader.show_card(message.card)

    def on_link_broken(self, message: LinkBroken) -> None:
        self.reader.abandon()
        self.show_notice(self.app.leave_base(message.target))

    def on_failure(self, message: Failure) -> None:
        self.answer.show_failure(message.text)


class ExplorePanes(ExploreAnswers):
    """The explore screen as it takes input: what is typed, moved, opened and followed."""

    @on(Input.Changed, "QueryLine")
    def change_query(self, event: Input.Changed) -> None:
        self.filters.typed(event.value)
        if not event.value.strip():
            self.answer.clear()

    @on(QueryLine.Left)
    def take_query(self) -> None:
        self.filters.left()

    @on(FilterChip.Removed)
    def remove_filter(self, event: FilterChip.Removed) -> None:
        self.filters.remove(event.number)

    @on(Input.Changed, "PathLine")
    def change_path(self, event: Input.Changed) -> None:
        path = event.value.strip()
        self.set_class(bool(path), "-scoped")
        if not (path and event.input.has_focus):  # while it is typed, see `show_paths`
            self.model.update(path=path)
        if not path and self.view is None:
            self.answer.show_scope(None)

    @on(PathLine.CompletionsFound)
    def show_paths(self, event: PathLine.CompletionsFound) -> None:
        self.query_one(StatusLine).show_hint("   ".join(event.completions))
        if event.text:
            self.model.update(path=effective_path(event.text, event.completions))

    @on(PathLine.Left)
    def take_path(self, event: PathLine.Left) -> None:
        self.query_one(StatusLine).show_hint("")
        self.model.update(path=event.path)

    @on(NumberSlider.Changed, "#alpha")
    def change_alpha(self, event: NumberSlider.Changed) -> None:
        self.model.update(alpha=event.value)
        note = self.view.alpha_note if self.view is not None else ""
        if note.startswith("alpha has no effect") and not event.slider.has_note_room:
            self.show_notice(note)

    @on(NumberSlider.Changed, "#threshold")
    def change_threshold(self, event: NumberSlider.Changed) -> None:
        self.model.update(threshold=event.value)

    @on(ResultList.Highlighted)
    def highlight_result(self, event: ResultList.Highlighted) -> None:
        if event.result != self.query_one(ResultList).current:  # the cursor has moved on
            return
        self.answer.explain(event.result)
        if self.panes.read == "document" and not isinstance(self.focused, PreviewPane):
            self.reader.open_document(event.result.path, replace=True)
        self.reader.follow_cursor()

    @on(ResultList.SnippetsMissing)
    def request_snippets(self, event: ResultList.SnippetsMissing) -> None:
        self.model.snippets.request(event.paths, self.model.state.query)

    @on(ResultList.Opened)
    def read_result(self, event: ResultList.Opened) -> None:
        self.app_state.remember_query(self.model.asked())
        self.reader.open_document(event.result.path, focus=True)

    @on(EntityList.Opened)
    def read_entity(self, event: EntityList.Opened) -> None:
        self.reader.origin = "entities"
        self.reader.open_card(event.entity.id)

    @on(FacetPane.Taken)
    def narrow(self, event: FacetPane.Taken) -> None:
        if event.row.kind == "linked":
            self.reader.open_document(event.row.value, focus=True)
        else:
            self.filters.replace(narrowed(self.filters.query, event.row))
            self._show_narrowed()

    @on(FacetPane.SpanTaken)
    def narrow_to_span(self, event: FacetPane.SpanTaken) -> None:
        self.filters.replace(narrowed_to_span(self.filters.query, event.first, event.last))
        self._show_narrowed()

    def _show_narrowed(self) -> None:
        """Show the results, where the facets are in their place."""
        if not self.has_class("-wide"):
            self.pane_switch.focus("results")

    @on(EntityCard.Opened)
    def read_from_card(self, event: EntityCard.Opened) -> None:
        self.reader.open_document(event.path, focus=True)

    @on(PreviewPane.Followed)
    def follow_link(self, event: PreviewPane.Followed) -> None:
        self.reader.follow(event.target, event.path)

    @on(PreviewPane.NothingToGoTo)
    def say_there_is_nothing(self, event: PreviewPane.NothingToGoTo) -> None:
        self.show_notice(event.text)

    @on(PreviewPane.Resized)
    def lay_out_document(self, event: PreviewPane.Resized) -> None:
        self.reader.lay_out(event.width)

    @on(PreviewPane.Closed)
    @on(EntityCard.Closed)
    def close_reader(self) -> None:
        self.reader.back()


class Explore(ExplorePanes):
    """The explore mode."""

    def run_recalled(self, state: SearchState) -> None:
        """Search with the query and all settings of an earlier state; undo takes that back."""
        # else what the line holds is asked as it is left
        self.query_one(QueryLine).show_query(state.query)
        self.pane_switch.focus("results")
        self.model.run(state)

    def show_query(self, query: str) -> None:
        """Ask this query, with the focus on its results."""
        self.query_one(QueryLine).show_query(query)
        self.pane_switch.focus("results")

    def read_found(self, path: str) -> None:
        """Read a document, with the cursor on it once the results of the query have come."""
        self.query_one(ResultList).seek(path)
        self.reader.open_document(path, focus=True)

    # Actions: focus and panes.

    def action_focus_query(self) -> None:
        self.set_focus(self.query_one(QueryLine))

    def action_focus_path(self) -> None:
        self.query_one(PathField).add_class("-typing")  # hidden, it could not take the focus
        self.set_focus(self.query_one(PathLine))

    def action_pick_folders(self) -> None:
        self.action_leave_field()  # what is typed in the path field applies first
        self.navigator.pick_folders()

    def action_leave_field(self) -> None:
        self.pane_switch.focus("results")
        if self.model.displayed.answers(self.model.state):
            self.app_state.remember_query(self.model.asked())

    def action_next_pane(self, step: int) -> None:
        self.pane_switch.focus_next(step)

    def action_focus_entities(self) -> None:
        self.pane_switch.focus_entities()

    def action_toggle_why(self) -> None:
        self.pane_switch.toggle_why()

    def action_toggle_entities(self) -> None:
        self.pane_switch.toggle_entities()

    def action_toggle_preview(self) -> None:
        if self.panes.has_live_room and not self.reader.is_open:
            self.pane_switch.toggle_live_preview()
            self.reader.follow_cursor()
        else:
            self.reader.toggle_preview()

    def action_back(self) -> None:
        if self.maximized is not None:
            self.maximized = None
        elif self.reader.is_open or not self.answer.unmark():
            self.reader.back()

    def action_mark(self) -> None:
        if title := self.answer.toggle_mark():
            self.show_notice(f"{title}: another result now shows the difference from it")

    # Actions: the search.

    def action_undo(self) -> None:
        self.model.undo()

    def action_remove_filter(self) -> None:
        if not self.filters.remove(-1):
            self.show_notice("the query has no filter, such as type:meeting or @name")

    def action_mute_entity(self) -> None:
        if (entity := self.query_one(EntityList).current) is not None:
            self.switches.mute(entity.id)

    def action_pin_entity(self) -> None:
        if (entity := self.query_one(EntityList).current) is not None:
            self.switches.pin(entity.id)

    def action_alpha(self, steps: int) -> None:
        self.query_one(Knobs).alpha.action_move(steps)

    def action_threshold(self, steps: int) -> None:
        self.query_one(Knobs).threshold.action_move(steps)

    def action_next_mode(self) -> None:
        self.switches.next_mode()

    def action_next_preset(self) -> None:
        self.switches.next_preset()

    def action_next_sort(self) -> None:
        self.switches.next_sort()

    def action_toggle_exact(self) -> None:
        self.switches.toggle_exact()

    def action_dates(self, use: Dates) -> None:
        self.switches.dates(use)

    def action_compare(self) -> None:
        self.app.post_message(GoTo("compare"))

    def action_why_not(self) -> None:
        self.navigator.ask_why_not()

    def action_add_entity(self) -> None:
        self.pick_entity(self._add_entity)

    def _add_entity(self, entity_id: str) -> None:
        if self.model.state.query:
            state = self.model.state
            self.model.update(pinned=state.pinned | {entity_id}, muted=state.muted - {entity_id})
        else:
            self.reader.open_card(entity_id)

    def action_earlier_query(self) -> None:
        line, summary = self.query_one(QueryLine), self.model.summary
        queries = [*self.app_state.queries]
        if summary is not None:
            queries += [query for query in summary.queries if query not in queries]
        earlier = queries.index(line.value) + 1 if line.value in queries else 0
        if earlier < len(queries):
            line.show_query(queries[earlier])

    def action_recall(self) -> None:
        self.navigator.recall()

    def action_recall_from_line(self) -> None:
        self.navigator.recall()  # under a name of its own: `recall` is disabled while typing

    def action_save_query(self) -> None:
        if self.model.state.query:
            self.navigator.recall(naming=True)
        else:
            self.show_notice("there is no query to save: type one first")

    def action_facets(self) -> None:
        if self.view is not None and self.view.results:
            self.navigator.show_facets()
        else:
            self.show_notice("there are no results to narrow: type a query first")

    # Actions: the document the user is at.

    async def action_edit(self) -> None:
        await self.documents.edit()

    def action_links(self) -> None:
        if path := self.documents.linked_path():
            self.navigator.show_links(path)
        else:
            self.show_notice("no document is chosen: go to one first")

    def action_copy(self, content: Content) -> None:
        self.documents.copy(content)

    def action_share(self) -> None:
        self.sharer.share()

    def action_refresh_index(self) -> None:
        self.documents.refresh_index()

    def action_end_tour(self) -> None:
        self.tour.end()


def meanings_of(
    focused: Widget | None, view: ExploreView | None, alpha: float
) -> Iterable[tuple[str, str]]:
    """Return each thing that `focused` displays, and what it means."""
    if isinstance(focused, NumberSlider):
        words = alpha_words if focused.label == "alpha" else threshold_words
        return words(focused.value, focused.note)
    if view is None:
        return ()
    if isinstance(focused, WhyPane) and focused.why is not None:
        return why_words(focused.why, alpha)
    if isinstance(focused, EntityList) and focused.current is not None:
        return entity_words(focused.current, view.threshold)
    if isinstance(focused, ResultList) and focused.current is not None:
        return (
            *result_words(focused.current, focused.badge_of(focused.current)),
            *mode_words(view),
        )
    return ()

"""The explore mode: search as you type, with entities, results, why they match, and a reader."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.widgets import Input

from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.commands.keymap import EXPLORE
from kbx_tui.tui.drawing.lines import longest_fitting
from kbx_tui.tui.explore.answer_display import AnswerDisplay
from kbx_tui.tui.explore.document_actions import NO_DOCUMENT, DocumentActions, ResultJudge
from kbx_tui.tui.explore.entities import EntityCard, EntityList, EntityStrip
from kbx_tui.tui.explore.facets import FacetPane, FacetStrip, narrowed
from kbx_tui.tui.explore.inputs import (
    DateChip,
    FilterChip,
    Knobs,
    MeasureLine,
    ModeBadge,
    PathChoices,
    PathField,
    PathLine,
    QueryLine,
)
from kbx_tui.tui.explore.pane_layout import Panes
from kbx_tui.tui.explore.reader import TOP, Reader
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.search_state import settings_words
from kbx_tui.tui.explore.tour import TourBubble, TourGuide
from kbx_tui.tui.explore.view import ExploreView, ResultRow
from kbx_tui.tui.explore.why_pane import meanings, moved_words
from kbx_tui.tui.judging.judging_screen import JudgingScreen
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.terminal_app import Failure, GoTo
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.lines_view import RowsView
from kbx_tui.tui.widgets.number_slider import NumberSlider

if TYPE_CHECKING:
    from kbx_tui.tui.boxes.links_box import LinkRow
    from kbx_tui.tui.boxes.recall_box import Recalled
    from kbx_tui.tui.boxes.why_not_box import Chosen


class Explore(JudgingScreen):
    BINDINGS = bindings(*EXPLORE)
    AUTO_FOCUS = "QueryLine"
    MODE = "explore"
    MAIN_LIST = ResultList
    MOST_KEYS = 7

    def __init__(self, session: BaseSession, app_state: AppState) -> None:
        super().__init__(session, app_state)
        self.model = session.explore
        self.answer = AnswerDisplay(self)
        self.reader = Reader(self)
        self.judge = ResultJudge(self, self.answer, self.reader)
        self.documents = DocumentActions(self, self.reader)
        self.tour = TourGuide(self)
        self._slid: tuple[NumberSlider, float] | None = None
        """The slider moved last, and its value before the first of these moves."""
        self.action_edit, self.action_copy = self.documents.edit, self.documents.copy
        self.action_share, self.action_end_tour = self.documents.share, self.tour.end
        self.action_refresh_index = self.documents.refresh_index

    def on_mount(self) -> None:
        self.answer.clear()
        model = self.model
        model.on_state, model.on_answer = self.show_state, self.show_answer
        model.on_base, model.on_files = self.show_base, self.show_files
        model.on_completed, model.on_slow = self.query_line.show_completion, self.answer.show_slow
        model.on_scope = self.answer.show_scope_without_query
        model.on_snippets = self.show_snippets

    def compose_panes(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield QueryLine(self.model)
            yield ModeBadge()
            yield PathField(self.model)
        with Horizontal(id="chips"):
            yield DateChip()
            yield FilterChip()
        yield TourBubble()
        yield EntityStrip()
        yield FacetStrip()
        yield Panes(self.session, self.app_state)
        yield PathChoices()
        yield Knobs()
        yield MeasureLine()

    def on_screen_resume(self) -> None:
        self._show_knobs()  # other modes move the same knobs
        self.on_measure_changed()

    @property
    def view(self) -> ExploreView | None:
        return self.answer.view

    @property
    def panes(self) -> Panes:
        return self.query_one(Panes)

    @property
    def query_line(self) -> QueryLine:
        return self.query_one(QueryLine)

    # Focus, keys and size.

    def on_key(self, event: events.Key) -> None:
        """Insert into the query line what is typed before it has the focus, and without results
        whatever does not call a command."""
        results = self.query_one(ResultList)
        if not event.is_printable or event.character is None:
            return
        if self.focused is None:
            event.stop()
            self.query_line.insert_text_at_cursor(event.character)
        elif self.focused is self.query_line or (
            self.focused is results
            and not results.rows
            and event.key not in self.active_bindings  # of the app, such as `9` in a browser
        ):
            event.stop()  # in the field, it was sent before the field had the focus
            self.set_focus(self.query_line)
            self.query_line.post_message(events.Key(event.key, event.character))

    def fit(self, size: Size) -> None:
        self.set_class(size.height < 18, "-short")
        self.panes.fit(size)
        self.reader.follow_cursor()
        self.panes.show_focused()
        self.reader.give_way()

    def on_descendant_focus(self) -> None:
        focused = self.focused  # not the event's: the focus may have moved since it was posted
        self.query_one(PathField).set_class(isinstance(focused, PathLine), "-typing")
        self.panes.show_focused()
        self.reader.give_way()
        if self.tour.is_shown:
            self.tour.show()
        if isinstance(focused, PreviewPane):  # the document there stays the current result
            results = self.query_one(ResultList)
            results.choose(results.cursor)

    @property
    def is_typing(self) -> bool:
        # Before the first frame nothing has the focus, but the user may already be typing.
        return self.focused is None or super().is_typing

    def meanings(self) -> Iterable[tuple[str, str]]:
        return meanings(self.focused, self.view, self.model.state.alpha)

    # Results of the search.

    def show_state(self) -> None:
        state = self.model.state
        self._show_knobs()
        self.show_keys()
        query, path = self.query_line, self.query_one(PathLine)
        if query.value.strip() != state.query and not query.has_focus:
            query.show_query(state.query)
        if path.value.strip() != state.path and not path.has_focus:
            path.value = state.path

    def show_answer(self, is_new: bool) -> None:
        view, results = self.model.displayed.view, self.query_one(ResultList)
        if view is None:
            return
        if self.view is not None and view.query != self.view.query:
            self.reader.close_card()
        self.answer.show(view, is_new=is_new)
        if results.current is not None:
            self._show_current(results.current)
        if is_new:
            self._slid = None
            self.show_keys()
            self.judge.show_grades()
            self.on_measure_changed()
            if not self.query_line.has_focus:
                self.app_state.remember_query(self.model.asked())
        if self.tour.is_shown:
            self.tour.show()

    def _show_current(self, result: ResultRow) -> None:
        self.answer.explain(result)
        if self.panes.read == "document" and not isinstance(self.focused, PreviewPane):
            self.reader.open_document(result.path, replace=True)
        elif self.panes.is_live:
            self.reader.follow_cursor()

    def show_base(self) -> None:
        self.answer.show_base()
        if self.model.summary is not None and self.model.summary.documents:
            self.tour.start_if_wanted()

    def show_snippets(self, query: str, paths: Collection[str]) -> None:
        results = self.query_one(ResultList)
        if self.view is not None and query == self.view.query:
            results.show_snippets()
            if results.current is not None and results.current.path in paths:
                self.answer.explain(results.current)

    def show_files(self, paths: frozenset[str]) -> None:
        self.query_one(ResultList).request_snippets()
        self.reader.reload(paths)

    def on_grades_changed(self) -> None:
        self.on_measure_changed()

    def on_measure_changed(self) -> None:
        is_asked = self.app_state.shows_quality
        self.query_one(MeasureLine).show(self.session.judging, is_asked=is_asked)

    def on_failure(self, message: Failure) -> None:
        self.answer.show_failure(message.text)

    # What the user types, moves, opens and follows.

    @on(Input.Changed, "QueryLine")
    def change_query(self, event: Input.Changed) -> None:
        if event.value != event.input.value:
            return  # changed again since
        if event.input.has_focus:
            self.query_one(StatusLine).clear_notice()  # it is about an earlier query
        self.query_line.search(event.value)
        if not event.value.strip():
            self.reader.close_card()
            self.answer.clear()
            self.show_keys()

    @on(Input.Changed, "PathLine")
    def change_path(self, event: Input.Changed) -> None:
        path = event.value.strip()
        self.set_class(bool(path), "-scoped")
        if event.input.has_focus:
            self.query_one(StatusLine).clear_notice()  # it is about an earlier path
        if not (path and event.input.has_focus):  # the field handles a path being typed
            self.model.update(path=path)
        if not path and self.view is None:
            self.query_one(PathField).show("", 0)

    @on(RowsView.Opened, "PathChoices")
    def choose_path(self, event: RowsView.Opened) -> None:
        self.query_one(PathLine).take(event.row[0])

    @on(NumberSlider.Changed)
    def change_knob(self, event: NumberSlider.Changed) -> None:
        slider, before = event.slider, self.view
        value = getattr(self.model.state, slider.label)
        knobs = self.query_one(Knobs)
        knobs.is_moved = True
        knobs.show_or_hide()
        results, keymap = self.query_one(ResultList), self.app.keymap
        if self._slid is None or slider is not self._slid[0]:
            self._slid = slider, value
            results.compare_from_here()  # what another slider did is not to its credit
        self.model.update(**{slider.label: event.value})
        self.show_keys()
        if before is not None and self.view is not None and self.view is not before:
            is_back = event.value == self._slid[1]
            words = moved_words(slider, results.settled, self.view, is_back=is_back)
            parts = words.split(", ")  # in one line: a second would cover the sliders
            wordings = [", ".join(parts[:count]) for count in range(len(parts), 0, -1)]
            if self._is_moved and keymap.offers("settings.save"):
                wordings.insert(0, f"{words} · {keymap.key_of('settings.save')} saves it")
            self.show_notice(longest_fitting(wordings, self.size.width - 2))

    def scopes(self) -> tuple[Scope, ...]:
        """Return the scopes of the keys that do something: without results none is read."""
        has_results = bool(self.query_one(ResultList).rows)
        return tuple(scope for scope in super().scopes() if has_results or scope != "results")

    def key_labels(self) -> Mapping[str, str]:
        is_open = self.panes.is_why_open or self.panes.name_of(self.focused) == "why"
        labels = {"why.toggle": "less"} if is_open else {}
        if self.has_class("-small"):
            labels["settings.save"] = "save"
        if self._has_yet_to_type:
            asked = "earlier query" if self.app_state.queries else "example"
            labels |= {"query.earlier": asked, "query.results": ""}
        return {**super().key_labels(), **labels}

    @property
    def _has_yet_to_type(self) -> bool:
        return self.focused is self.query_line and not self.query_line.value.strip()

    def first_keys(self) -> Collection[str]:
        if self._has_yet_to_type:
            return ("query.earlier", "app.leave")
        if self._is_moved and isinstance(self.focused, ResultList | NumberSlider):
            return ("results.read", "settings.save", "undo")
        small = self.has_class("-small")  # the most needed keys fill it
        if isinstance(self.focused, ResultList) and not small:
            return ("results.read", "why_not", "copy.menu", "view.menu")
        return () if small else ("app.jump",) if self.is_typing else ("copy.menu",)

    @property
    def _is_moved(self) -> bool:
        state, defaults = self.model.state, self.model.defaults
        return (state.alpha, state.threshold) != (defaults.alpha, defaults.threshold)

    def _show_knobs(self) -> None:
        self.query_one(Knobs).show(self.model.state, is_moved=self._is_moved)

    @on(RowsView.Moved, "ResultList")
    def highlight_result(self, event: RowsView.Moved) -> None:
        if event.row == self.query_one(ResultList).current:  # else the cursor has moved since
            self._show_current(event.row)

    @on(ResultList.SnippetsMissing)
    def request_snippets(self, event: ResultList.SnippetsMissing) -> None:
        self.model.request_snippets(event.paths)

    @on(RowsView.Opened, "ResultList")
    def read_result(self, event: RowsView.Opened) -> None:
        self.app_state.remember_query(self.model.asked())
        self.reader.open_document(event.row.path, focus=True)

    @on(RowsView.Opened, "EntityList")
    def read_entity(self, event: RowsView.Opened) -> None:
        self.reader.origin = "entities"
        self.reader.open_card(event.row.id)

    @on(RowsView.Opened, "EntityCard")
    def read_from_card(self, event: RowsView.Opened) -> None:
        self.panes.show_pane("results")  # the entities give way to the document
        self.reader.open_document(event.row, line=TOP, focus=True)  # the query did not find it

    @on(RowsView.Opened, "FacetPane")
    def take_facet(self, event: RowsView.Opened) -> None:
        if event.row.kind == "linked":
            self.reader.open_document(event.row.value, focus=True)
            return
        self.query_line.replace_query(narrowed(self.query_line.value, event.row))
        if not self.has_class("-wide"):  # in a narrow terminal, facets cover the results
            self.panes.go_to("results")

    @on(PreviewPane.Followed)
    def follow_link(self, event: PreviewPane.Followed) -> None:
        self.reader.follow(event.target, event.path)

    @on(PreviewPane.Resized)
    def lay_out_document(self, event: PreviewPane.Resized) -> None:
        self.reader.lay_out(event.width)

    # Calls from other modes.

    def arrive(self) -> None:
        """Let the user type who comes here without a query."""
        if not self.query_line.value.strip() and not self.reader.is_open:
            self.action_focus_query()

    def show_query(self, query: str) -> None:
        self.query_line.show_query(query)
        self.panes.go_to("results")

    def read_found(self, path: str) -> None:
        """Open a document, and move the cursor to it when the results of the query arrive."""
        self.query_one(ResultList).seek(path)
        self.reader.open_document(path, focus=True)

    # Actions: focus and panes.

    def action_focus_query(self) -> None:
        self.set_focus(self.query_line)

    def action_focus_path(self) -> None:
        self.query_one(PathField).add_class("-typing")  # a hidden field cannot take the focus
        self.set_focus(self.query_one(PathLine))

    def action_pick_folders(self) -> None:
        from kbx_tui.tui.indexing.screen import FolderPicker  # seldom needed

        self.action_leave_field()  # text typed in the path field applies first
        self.app.push_screen(FolderPicker(self))

    def action_go_to_results(self) -> None:
        """Leave the query line for the results; stay in an empty line above an empty list.

        There the user has yet to type: elsewhere letters are keys of commands.
        """
        if self.query_line.value.strip() or self.query_one(ResultList).rows:
            self.action_leave_field()

    def action_leave_field(self) -> None:
        self.panes.go_to("results")
        if self.model.displayed.answers(self.model.state):
            self.app_state.remember_query(self.model.asked())

    def action_next_pane(self, step: int) -> None:
        self.panes.go_to_next(step)

    def action_focus_entities(self) -> None:
        self.panes.go_to_entities()

    def action_toggle_why(self) -> None:
        self.panes.toggle("why")
        self.show_keys()
        if (result := self.query_one(ResultList).current) is not None:
            self.answer.explain(result)

    def action_toggle_entities(self) -> None:
        self.panes.toggle("entities")

    def action_toggle_preview(self) -> None:
        if self.panes.has_live_room and not self.reader.is_open:
            self.panes.toggle_live_preview()
            self.reader.follow_cursor()
        else:
            self.reader.toggle_preview()

    def action_back(self) -> None:
        if self.maximized is not None:
            self.maximized = None
        elif self.model.wants_facets and isinstance(self.focused, FacetPane):
            self.action_facets()
        elif self.reader.is_open or not self.answer.unmark():
            self.reader.back()

    def action_mark(self) -> None:
        if title := self.answer.toggle_mark():
            self.show_notice(f"{title}: another result now shows the difference from it")

    # Actions: the search.

    def action_undo(self) -> None:
        self.model.undo()
        self._slid = None
        self.query_one(ResultList).settle()  # the list is as it was: nothing has moved

    def action_remove_filter(self) -> None:
        if not self.query_line.remove_filter(-1):
            self.show_notice("the query has no filter, such as type:meeting or @name")

    def action_mute_entity(self) -> None:
        if (entity := self.query_one(EntityList).current) is not None:
            self.model.mute(entity.id)

    def action_card_as_of(self) -> None:
        self.reader.show_past()

    def action_merge_card(self) -> None:
        card = self.query_one(EntityCard).card
        if card is None or card.type != "person":
            self.show_notice("only the pages of two people can be merged")
            return

        def merge(other: str) -> None:
            self.app.post_message(GoTo("dedup", merges=(card.id, other)))

        self.pick_entity(
            merge,
            ask=f"whose page to merge into that of {card.name}?",
            among=lambda entity: entity.type == "person" and entity.id != card.id,
        )

    def action_pin_entity(self) -> None:
        if (entity := self.query_one(EntityList).current) is not None:
            self.model.pin(entity.id)

    def action_switch(self, setting: str, *values: str) -> None:
        """Call a switch of the model by name, and say what the new setting means."""
        typed = self.view.filters if self.view is not None else ()
        if setting == "next_sort" and "newest first" in typed:  # typed words sort, too
            self.query_line.remove_filter(typed.index("newest first"))
            return
        if words := getattr(self.model, setting)(*values):
            self.show_notice(words)

    def applies(self, command_id: str) -> bool:
        state, view, evidence = self.model.state, self.view, self.model.displayed.evidence
        match command_id:
            case "dates.only" | "dates.off":
                return view is not None and view.dates is not None
            case "filter.remove":
                return view is not None and bool(view.filters)
            case "spelling.toggle":
                return state.as_typed or bool(evidence and evidence.corrections)
            case "exact.toggle":
                return state.exact or bool(view and view.mode.candidates is not None)
            case "sort.next" | "facets.open" | "result.mark":
                return view is not None and bool(view.results)
            case "links.open" | "related.open":
                return bool(self.documents.linked_path())
        return super().applies(command_id)

    def action_add_entity(self) -> None:
        self.pick_entity(self._add_entity)

    def _add_entity(self, entity_id: str) -> None:
        if self.model.state.query:
            state = self.model.state
            self.model.update(pinned=state.pinned | {entity_id}, muted=state.muted - {entity_id})
        else:
            self.reader.open_card(entity_id)

    def action_earlier_query(self) -> None:
        line, summary = self.query_line, self.model.summary
        queries = [*self.app_state.queries]
        if summary is not None:
            queries += [query for query in summary.queries if query not in queries]
        earlier = queries.index(line.value) + 1 if line.value in queries else 0
        if earlier < len(queries):
            line.show_query(queries[earlier])

    def action_compare(self) -> None:
        self.app.post_message(GoTo("compare"))

    # Actions: boxes above the screen, imported when one is first opened.

    def action_recall(self) -> None:
        self._recall(naming=False)

    def action_recall_from_line(self) -> None:
        self._recall(naming=False)  # its own action: `recall` is disabled while typing

    def action_save_query(self) -> None:
        if self.model.state.query:
            self._recall(naming=True)
        else:
            self.show_notice("there is no query to save: type one first")

    def _recall(self, *, naming: bool) -> None:
        from kbx_tui.tui.boxes.recall_box import RecallBox

        self.app.push_screen(RecallBox(self, naming=naming), self._run_recalled)

    def _run_recalled(self, recalled: Recalled | None) -> None:
        if recalled is None:
            return
        state = recalled.state
        if recalled.path:
            self.query_one(ResultList).seek(recalled.path)
        self.query_line.show_query(state.query)  # else leaving the field searches its text
        self.panes.go_to("results")
        self.model.run(state)
        words = recalled.notice or settings_words(state, self.model.defaults)
        undo = f"{self.app.keymap.key_of('undo')} takes it back"
        self.show_notice(" · ".join(filter(None, (words, undo))))

    def action_facets(self) -> None:
        if not self.model.wants_facets and (self.view is None or not self.view.results):
            self.show_notice("there are no results to narrow: type a query first")
            return
        self.model.wants_facets = not self.model.wants_facets
        self.query_one(FacetPane).update_counts()
        self.panes.go_to("entities" if self.model.shows_facets else "results")

    def action_links(self, related: bool = False) -> None:
        from kbx_tui.tui.boxes.links_box import LinksBox, RelatedBox

        if path := self.documents.linked_path():
            box = RelatedBox if related else LinksBox
            self.app.push_screen(box(self, path), self._open_link)
        else:
            self.show_notice(NO_DOCUMENT)

    def _open_link(self, row: LinkRow | None) -> None:
        if row is not None and row.path:
            self.reader.open_document(row.path, line=row.line, focus=True)
        elif row is not None and row.entity_id:
            self.reader.open_card(row.entity_id)

    def action_why_not(self) -> None:
        from kbx_tui.tui.boxes.why_not_box import WhyNotBox

        self.app.push_screen(WhyNotBox(self), self._do_chosen)

    def _do_chosen(self, chosen: Chosen | None) -> None:
        if chosen is None:
            return
        (path, action), results = chosen, self.query_one(ResultList)
        if action.kind == "read":
            self.reader.open_document(path, focus=True)
            return
        if action.kind == "apply":
            results.seek(path)
            self.model.apply(**action.changes)
            undo = self.app.keymap.key_of("undo")
            self.show_notice(f"{action.text}: {undo} takes it back")
        else:
            results.go_to(path)
        self.panes.go_to("results")

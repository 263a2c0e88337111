"""The explore mode: search as you type, with entities, results, why they match, and a reader.

Its widgets and the messages that it handles are in `handling/`; here are the actions of its keys.
"""

from __future__ import annotations

from kbx_tui.search.query.filters import Dates
from kbx_tui.tui.explore.documents.clipboard_text import Content
from kbx_tui.tui.explore.handling.pane_messages import ExplorePanes
from kbx_tui.tui.explore.panes.entity_list import EntityList
from kbx_tui.tui.explore.panes.knobs import Knobs
from kbx_tui.tui.explore.panes.path_field import PathField, PathLine
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.search_state import SearchState


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
        self.app.call_later(self.navigator.go_to, "compare")

    def action_why_not(self) -> None:
        self.navigator.ask_why_not()

    def action_add_entity(self) -> None:
        self.navigator.pick_entity(self._add_entity)

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

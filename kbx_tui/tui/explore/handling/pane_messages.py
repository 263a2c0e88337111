"""Acts on what the user does in the panes of the explore screen."""

from __future__ import annotations

from textual import on
from textual.widgets import Input

from kbx_tui.tui.explore.handling.model_messages import ExploreAnswers
from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.entity_list import EntityList
from kbx_tui.tui.explore.panes.facet_pane import FacetPane
from kbx_tui.tui.explore.panes.filter_chip import FilterChip
from kbx_tui.tui.explore.panes.path_field import PathLine, effective_path
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.facets.facet_rows import narrowed, narrowed_to_span
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.status_line import StatusLine


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

"""Shows what the models of the explore screen report."""

from __future__ import annotations

from kbx_tui.tui.explore.handling.explore_frame import ExploreFrame
from kbx_tui.tui.explore.messages import (
    BaseCounted,
    CardReady,
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
from kbx_tui.tui.explore.panes.knobs import Knobs
from kbx_tui.tui.explore.panes.path_field import PathLine
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.shell.messages import Failure


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
        self.navigator.leave_base(message.target)

    def on_failure(self, message: Failure) -> None:
        self.answer.show_failure(message.text)

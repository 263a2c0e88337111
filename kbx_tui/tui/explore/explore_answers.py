"""What the explore screen shows of what the controller tells."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from kbx_tui.formatting import count_words
from kbx_tui.tui.drawing import empty_states
from kbx_tui.tui.explore.explore_actions import ExploreActions
from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.entity_list import EntityList, EntityStrip
from kbx_tui.tui.explore.panes.knobs import Knobs
from kbx_tui.tui.explore.panes.mode_badge import ModeBadge
from kbx_tui.tui.explore.panes.path_field import PathField, PathLine
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.panes.why_pane import WhyPane
from kbx_tui.tui.explore.search_labels import mode_candidates
from kbx_tui.tui.explore.view import ResultRow, ScopeView
from kbx_tui.tui.messages import (
    Asked,
    CardReady,
    Failed,
    FilesChanged,
    Indexing,
    Noticed,
    Opened,
    PreviewGone,
    PreviewReady,
    Ranked,
    Scoped,
    Searching,
    SnippetsReady,
)
from kbx_tui.tui.reading.history import Step
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.status_line import StatusLine


class ExploreAnswers(ExploreActions):
    """The explore screen as answers fill it."""

    def on_opened(self, message: Opened) -> None:
        if self.summary is None:
            hidden = self.memory.base.hidden
            self.panes.set_class("why" in hidden, "-no-why")
            self.panes.set_class("entities" in hidden, "-no-entities")
        self.summary = message.summary
        words = f"kbx · {message.summary.name}"
        if message.summary.documents is not None:
            words += f" · {count_words(message.summary.documents, 'document')}"
        self.query_one(QueryLine).border_title = Content(words)
        if self.view is None:
            self._invite_to_type()

    def on_asked(self, message: Asked) -> None:
        self.query_one(Knobs).show(message.asking)
        path = self.query_one(PathLine)
        if path.value.strip() != message.asking.path and not path.has_focus:
            path.value = message.asking.path

    def on_searching(self, message: Searching) -> None:
        if message.generation == self.controller.generation:
            self._show_badge(("searching …",), busy=True)

    def on_scoped(self, message: Scoped) -> None:
        if self.view is None:
            self.query_one(StatusLine).clear_error()  # of a path that could not be
            self._invite_to_type()
            self._show_scope(message.scope)

    def on_ranked(self, message: Ranked) -> None:
        if message.generation != self.controller.generation:
            return
        view = self.view = message.view
        self.query_one(StatusLine).clear_error()
        self._show_badge(mode_candidates(view.mode))
        self._show_scope(view.scope)
        self.query_one(Knobs).annotate(view)
        self.query_one(EntityStrip).show(view.entities, view.threshold)
        entities = self.query_one(EntityList)
        entities.invitation = empty_states.no_entities
        entities.show(view.entities, view.threshold, fresh=message.fresh)
        results = self.query_one(ResultList)
        count = view.order or f"{view.matched:,} of {view.scope.in_scope:,}"
        results.border_title = f"Results · {count}"
        self.panes.remove_class("-idle")
        if view.results:
            more = 0 if view.order else view.matched - len(view.results)
            results.show(view.results, fresh=message.fresh, more=more)
        else:
            results.invite(empty_states.nothing_found(view, self.keymap))
            self._explain_nothing(empty_states.nothing)

    def on_snippets_ready(self, message: SnippetsReady) -> None:
        if self.view is None or message.query != self.view.query:
            return
        results = self.query_one(ResultList)
        results.add_snippets(message.snippets)
        if results.current is not None and results.current.path in message.snippets:
            self.explain(results.current)

    def on_preview_ready(self, message: PreviewReady) -> None:
        pane = self.query_one(PreviewPane)
        pane.show(message.layout)
        self._arrive(Step("document", message.layout.preview.path), pane)

    def on_preview_gone(self, message: PreviewGone) -> None:
        pane = self.query_one(PreviewPane)
        pane.show_gone(message.path, message.reason)
        self._arrive(Step("document", message.path), pane)

    def on_card_ready(self, message: CardReady) -> None:
        card = self.query_one(EntityCard)
        card.show(message.card)
        self._arrive(Step("card", message.card.id), card)

    def on_files_changed(self, message: FilesChanged) -> None:
        self.query_one(ResultList).forget_snippets(message.paths)
        pane = self.query_one(PreviewPane)
        if self.panes.read == "document" and pane.path in message.paths:
            self.controller.reading.again(pane.path)

    def on_indexing(self, message: Indexing) -> None:
        self.query_one(StatusLine).show_progress(message.text)

    def on_noticed(self, message: Noticed) -> None:
        if message.instead:
            self._wants_focus = False
        self.query_one(StatusLine).show_notice(message.text)

    def on_failed(self, message: Failed) -> None:
        if message.generation not in (None, self.controller.generation):
            return
        self.query_one(StatusLine).show_error(message.text)
        view = self.view
        self._show_badge(mode_candidates(view.mode) if view is not None else ())
        if view is None:  # room to say all of it
            is_open = self.summary is not None
            self.query_one(ResultList).invite(empty_states.failed(message.text, is_open=is_open))

    # Showing.

    def explain(self, result: ResultRow) -> None:
        """Show why this result is where it is."""
        why = self.controller.why(result)
        self.query_one(WhyPane).show(why, self.controller.shown.snippets.get(result.path))

    def _arrive(self, step: Step, pane: Widget) -> None:
        """Something to read has come: show its pane, and go there when that was asked for."""
        self.trail.replace(step) if self._replaces else self.trail.go(step)
        self._replaces = False
        self.panes.show_reader(step.kind)
        if self._wants_focus or isinstance(self.focused, WhyPane):  # that gives way
            self._wants_focus = False
            self.set_focus(pane)

    def _show_badge(self, candidates: tuple[str, ...], *, busy: bool = False) -> None:
        self.query_one(ModeBadge).show(candidates, busy=busy)
        self.query_one(QueryLine).show_badge(candidates)

    def _show_scope(self, scope: ScopeView | None) -> None:
        self.query_one(PathField).show(scope)

    def _invite(self) -> None:
        threshold = self.controller.asking.threshold
        self.query_one(EntityStrip).show((), threshold)
        self.query_one(EntityList).invitation = empty_states.entities
        self.query_one(EntityList).show((), threshold)
        self.query_one(ResultList).border_title = "Results"
        self._invite_to_type()
        self._explain_nothing(empty_states.why)
        self.panes.add_class("-idle")
        self._show_badge(())

    def _invite_to_type(self) -> None:
        recent = tuple(self.memory.base.queries[:3])
        self.query_one(ResultList).invite(empty_states.nothing_typed(self.summary, recent))

    def _explain_nothing(self, invitation: empty_states.Invitation) -> None:
        self.query_one(WhyPane).invitation = invitation
        self.query_one(WhyPane).show(None, None)

"""The displayed answer: one Evidence, its ranking, and the snippets read for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.lines import shorten
from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.explore.view import ExploreView, FileState, ResultRow, Why

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.ranking.rank import Ranking
    from kbx_tui.search.request import Tuning
    from kbx_tui.search.results.response import Snippet

TITLE_CELLS = 40


class DisplayedSearch:
    """Evidence, its newest ranking, and the snippets read for it. Used on the event loop."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self.evidence: Evidence | None = None
        self.ranking: Ranking | None = None
        self.view: ExploreView | None = None
        self.retrieved_for: SearchState | None = None
        self.snippets: dict[str, Snippet] = {}
        self.outdated: dict[str, FileState] = {}
        """For documents with a snippet: how their files differ from what was indexed, by path."""
        self.requested_snippets: set[str] = set()
        """Paths whose snippets have been requested, whether or not they have arrived."""

    def clear(self) -> None:
        self.evidence = self.ranking = self.view = self.retrieved_for = None

    def show(self, state: SearchState, evidence: Evidence) -> None:
        if self.evidence is None or self.evidence.query != evidence.query:
            self.snippets, self.outdated = {}, {}
        self.requested_snippets = set(self.snippets)  # not those of an earlier Evidence
        self.evidence, self.retrieved_for = evidence, state

    def holds(self, evidence: Evidence) -> bool:
        """Return whether this evidence is displayed, with the same or other reranker scores."""
        return self.evidence is not None and self.evidence.as_typed is evidence.as_typed

    def forget_snippets(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.snippets.pop(path, None)
            self.outdated.pop(path, None)
            self.requested_snippets.discard(path)

    def answers(self, state: SearchState) -> bool:
        """Return whether `state` needs no other evidence, so that ranking this again is enough."""
        if self.evidence is None or self.retrieved_for is None:
            return False
        retrieved_for = replace(self.retrieved_for, pinned=state.pinned)
        present = {entity.id for entity in self.evidence.entities}
        return retrieved_for.retrieval_key == state.retrieval_key and state.pinned <= present

    def rank(self, state: SearchState) -> ExploreView | None:
        engine = self._client.engine
        if engine is None or self.evidence is None:
            return None
        from kbx_tui.search.ranking.alpha import alpha_note, next_changes  # needs numpy
        from kbx_tui.tui.explore import presenting

        tuning = engine.tuning(preset=state.preset, **state.tuning_fields)
        ranking = self.ranking = engine.rank(self.evidence, tuning)
        note = alpha_note(ranking, presenting.MAX_RESULTS)
        if not note:
            below, above = next_changes(ranking, presenting.TOP_RESULTS)
            note = presenting.next_change_note(below, above, state.alpha)
        self.view = presenting.present(ranking, state, note)
        return self.view

    def explain(self, result: ResultRow) -> Why | None:
        """Return the reasons for a result; None if it belongs to an earlier Evidence."""
        ranking = self.ranking
        paths = ranking.evidence.paths if ranking is not None else ()
        is_among = result.row < len(paths) and paths[result.row] == result.path
        if ranking is None or not is_among:
            return None
        from kbx_tui.search.ranking.explain import explain
        from kbx_tui.tui.explore.presenting import present_why

        return present_why(ranking, explain(ranking, ranking.ranked(result.row, rank=0)))

    def explain_pair(self, path: str, result: ResultRow) -> str:
        """Return why `path` ranks above or below a result; empty if it is not another result."""
        if self.ranking is None or path == result.path:
            return ""
        return pair_words(self.ranking, path, result.path, lambda text: shorten(text, TITLE_CELLS))

    def name_of(self, entity_id: str) -> str:
        entities = self.evidence.entities if self.evidence is not None else ()
        names = [entity.name for entity in entities if entity.id == entity_id]
        return safe_line(names[0] if names else entity_id)


def pair_words(ranking: Ranking, one: str, other: str, shown: Callable[[str], str]) -> str:
    """Return why one path ranks above or below another, with titles as `shown`, if both rank."""
    from kbx_tui.search.ranking.explain import explain_pair

    paths, titles = ranking.evidence.paths, ranking.evidence.titles
    rows = [paths.index(path) for path in (one, other) if path in paths]
    if len(rows) < 2 or not all(ranking.included[row] for row in rows):
        return ""
    pair = explain_pair(ranking, *rows)
    ranked = (pair.ahead.row, pair.behind.row)
    return pair.text(*(shown(safe_line(titles[row] or paths[row])) for row in ranked))


def tuning_of(engine: KnowledgeBase, state: SearchState) -> Tuning:
    """Return the knobs of `state`, without the entities muted and pinned for its query."""
    tuning = engine.tuning(preset=state.preset, **state.tuning_fields)
    return replace(tuning, muted=frozenset(), pinned=frozenset())


# On the engine's thread.


def read_snippets(
    engine: KnowledgeBase, evidence: Evidence, paths: Sequence[str]
) -> dict[str, Snippet]:
    from kbx_tui.tui.explore.presenting import present_snippet

    rows = [evidence.paths.index(path) for path in paths if path in evidence.paths]
    snippets = {}
    for row, snippet in zip(rows, engine.snippets(evidence, rows), strict=True):
        page = engine.documents.public_page(evidence.paths[row])
        redacted = page.redacted_lines if page is not None else frozenset()
        snippets[evidence.paths[row]] = present_snippet(snippet, redacted)
    return snippets


def outdated_files(engine: KnowledgeBase, paths: Sequence[str]) -> dict[str, FileState]:
    outdated: dict[str, FileState] = {}
    for path in paths:
        page = engine.documents.public_page(path)
        if page is None:
            outdated[path] = "gone"
        elif not engine.documents.is_as_indexed(page):
            outdated[path] = "changed"
    return outdated

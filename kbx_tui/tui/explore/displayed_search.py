"""The displayed answer: one Evidence, its ranking, and the snippets read for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.explore.view import ExploreView, FileState, ResultRow, SnippetsReady, Why

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.evidence.tuning import Tuning
    from kbx_tui.search.ranking.rank import Ranking
    from kbx_tui.search.results.response import Snippet


TITLE_CELLS = 40
"""Cells of a title in a sentence."""


class DisplayedSearch:
    """Evidence, its newest ranking, and the snippets read for it."""

    def __init__(self) -> None:
        self.evidence: Evidence | None = None
        self.ranking: Ranking | None = None
        self.view: ExploreView | None = None
        """The newest ranking as it is shown."""
        self.retrieved_for: SearchState | None = None
        self.snippets: dict[str, Snippet] = {}
        """By path."""
        self.outdated: dict[str, FileState] = {}
        """The documents with a snippet whose files are not what was indexed, by path."""
        self.requested_snippets: set[str] = set()
        """Paths whose snippets have been requested, arrived or not."""

    def clear(self) -> None:
        """Clear the displayed answer, when there is no query."""
        self.evidence = self.ranking = self.view = self.retrieved_for = None

    def show(self, state: SearchState, evidence: Evidence) -> None:
        """Display this evidence, which was retrieved for `state`, once it is ranked."""
        if self.evidence is None or self.evidence.query != evidence.query:
            self.snippets, self.outdated = {}, {}
        self.requested_snippets = set(self.snippets)  # others belong to an earlier Evidence
        self.evidence, self.retrieved_for = evidence, state

    def holds(self, evidence: Evidence) -> bool:
        """Return whether this evidence is displayed, with the same or other reranker scores."""
        return self.evidence is not None and self.evidence.as_typed is evidence.as_typed

    def add_scores(self, evidence: Evidence) -> bool:
        """Display this evidence, if it differs from the displayed one in reranker scores only."""
        if not self.holds(evidence) or evidence is self.evidence:
            return False
        self.evidence = evidence
        return True

    def forget_snippets(self, paths: Iterable[str]) -> None:
        """Drop the snippets of files that changed."""
        for path in paths:
            self.snippets.pop(path, None)
            self.outdated.pop(path, None)
            self.requested_snippets.discard(path)

    def answers(self, state: SearchState) -> bool:
        """Return whether ranking is enough for `state`: the evidence holds all it needs."""
        if self.evidence is None or self.retrieved_for is None:
            return False
        retrieved_for = replace(self.retrieved_for, pinned=state.pinned)
        present = {entity.id for entity in self.evidence.entities}
        return retrieved_for.retrieval_key == state.retrieval_key and state.pinned <= present

    def rank(self, engine: KnowledgeBase, state: SearchState) -> ExploreView | None:
        """Rank with the knobs of `state`; None when there is nothing to rank."""
        from kbx_tui.search.ranking.alpha import alpha_note, next_changes  # needs numpy
        from kbx_tui.tui.explore import presenting

        if self.evidence is None:
            return None
        tuning = engine.tuning(preset=state.preset, **state.tuning_fields)
        ranking = self.ranking = engine.rank(self.evidence, tuning)
        note = alpha_note(ranking, presenting.MAX_RESULTS)
        if not note:
            below, above = next_changes(ranking, presenting.TOP_RESULTS)
            note = presenting.next_change_note(below, above, state.alpha)
        self.view = presenting.present(ranking, state, note)
        return self.view

    def explain(self, engine: KnowledgeBase, result: ResultRow) -> Why | None:
        """Return the reasons for a result; None when it belongs to an earlier Evidence."""
        paths = self.ranking.evidence.paths if self.ranking is not None else ()
        is_among = result.row < len(paths) and paths[result.row] == result.path
        if self.ranking is None or not is_among:
            return None
        from kbx_tui.search.ranking.explain import explain
        from kbx_tui.tui.explore.present_why import present_why

        ranked = self.ranking.ranked(result.row, rank=0)
        return present_why(self.ranking, explain(self.ranking, ranked))

    def explain_pair(self, engine: KnowledgeBase, path: str, result: ResultRow) -> str:
        """Return why the document at `path` is before or behind a result, in a sentence.

        Empty where one of them is not a result, or they are the same.
        """
        ranking = self.ranking
        if ranking is None or path == result.path or path not in ranking.evidence.paths:
            return ""
        row = ranking.evidence.paths.index(path)
        if not (ranking.included[row] and ranking.included[result.row]):
            return ""
        from kbx_tui.search.ranking.explain import explain_pair

        pair = explain_pair(ranking, row, result.row)
        ahead, behind = (
            safe_line(ranking.evidence.titles[ranked.row] or ranking.evidence.paths[ranked.row])
            for ranked in (pair.ahead, pair.behind)
        )
        return pair.text(shorten(ahead, TITLE_CELLS), shorten(behind, TITLE_CELLS))

    def name_of(self, entity_id: str) -> str:
        """Return the name of an entity, or its id if it is not displayed."""
        entities = self.evidence.entities if self.evidence is not None else ()
        names = [entity.name for entity in entities if entity.id == entity_id]
        return safe_line(names[0] if names else entity_id)


def tuning_of(engine: KnowledgeBase, state: SearchState) -> Tuning:
    """Return the knobs of `state`, without the entities that are muted and pinned for a query."""
    tuning = engine.tuning(preset=state.preset, **state.tuning_fields)
    return replace(tuning, muted=frozenset(), pinned=frozenset())


class SnippetReader:
    """Requests snippets of the displayed answer, and keeps them there."""

    def __init__(
        self,
        client: EngineClient,
        displayed: DisplayedSearch,
        post: Callable[[Message], object],
    ) -> None:
        """`post` takes messages to the screen."""
        self._client, self._displayed, self._post = client, displayed, post

    def request(self, paths: Sequence[str], query: str) -> None:
        """Show the snippets of documents for the current `query`."""
        displayed = self._displayed
        known = {path: displayed.snippets[path] for path in paths if path in displayed.snippets}
        if known:
            outdated = {
                path: displayed.outdated[path] for path in known.keys() & displayed.outdated
            }
            self._post(SnippetsReady(query, known, outdated))
        missing = [path for path in paths if path not in displayed.requested_snippets]
        if missing and displayed.evidence is not None:
            displayed.requested_snippets.update(missing)
            self._client.start(self._read(displayed.evidence, missing))

    async def _read(self, evidence: Evidence, paths: Sequence[str]) -> None:
        def read(engine: KnowledgeBase) -> tuple[dict[str, Snippet], dict[str, FileState]]:
            if not self._displayed.holds(evidence):
                return {}, {}
            return read_snippets(engine, evidence, paths), outdated_files(engine, paths)

        snippets, outdated = await self._client.run(read)
        if snippets and self._displayed.holds(evidence):
            self._displayed.snippets |= snippets
            self._displayed.outdated |= outdated
            self._post(SnippetsReady(evidence.query, snippets, outdated))


def read_snippets(
    engine: KnowledgeBase, evidence: Evidence, paths: Sequence[str]
) -> dict[str, Snippet]:
    """Return the best passage for the query in each of these documents, by path."""
    from kbx_tui.tui.explore.presenting import present_snippet

    rows = [evidence.paths.index(path) for path in paths if path in evidence.paths]
    snippets = {}
    for row, snippet in zip(rows, engine.snippets(evidence, rows), strict=True):
        page = engine.documents.public_page(evidence.paths[row])
        redacted = page.redacted_lines if page is not None else frozenset()
        snippets[evidence.paths[row]] = present_snippet(snippet, redacted)
    return snippets


def outdated_files(engine: KnowledgeBase, paths: Sequence[str]) -> dict[str, FileState]:
    """Return which of these files are not what was indexed, by path."""
    outdated: dict[str, FileState] = {}
    for path in paths:
        page = engine.documents.public_page(path)
        if page is None:
            outdated[path] = "gone"
        elif not engine.documents.is_as_indexed(page):
            outdated[path] = "changed"
    return outdated

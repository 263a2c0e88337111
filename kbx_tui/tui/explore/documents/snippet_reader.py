"""Reads the best passages of the documents shown, each once per query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.explore.displayed_search import DisplayedSearch
from kbx_tui.tui.explore.messages import FileState, SnippetsReady

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.results.response import Snippet


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
        page = engine.public_page(evidence.paths[row])
        redacted = page.redacted_lines if page is not None else frozenset()
        snippets[evidence.paths[row]] = present_snippet(snippet, redacted)
    return snippets


def outdated_files(engine: KnowledgeBase, paths: Sequence[str]) -> dict[str, FileState]:
    """Return which of these files are not what was indexed, by path."""
    outdated: dict[str, FileState] = {}
    for path in paths:
        page = engine.public_page(path)
        if page is None:
            outdated[path] = "gone"
        elif not engine.is_as_indexed(page):
            outdated[path] = "changed"
    return outdated

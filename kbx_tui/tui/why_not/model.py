"""Finds documents by title or path, and asks why one is not among the results."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.errors import KbxError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.why_not.messages import AnswerReady, DocumentsFound, NoAnswer
from kbx_tui.tui.why_not.view import AnswerView, DocumentRow

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.browsing.document_lookup import DocumentName

LIMIT = 10
"""The first results, among which a document is or is not."""
DOCUMENTS = 20
"""Documents offered at once."""


class WhyNotModel:
    """The requests of one box. Changes are applied to the search of the explore mode."""

    def __init__(self, client: EngineClient, explore: ExploreModel) -> None:
        self._client, self.explore = client, explore
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
        self._requests = LatestOnly(client)
        self._cancelled = threading.Event()

    @property
    def ranks(self) -> dict[str, int]:
        """The rank of each result on the screen, by path."""
        view = self.explore.displayed.view
        return {} if view is None else {result.path: result.rank for result in view.results}

    def find(self, text: str) -> None:
        """Find the documents that match a text; none until the base is indexed."""
        self.cancel()
        if self.explore.is_searchable:
            self._requests.start(self._find(text))
        else:
            self.post(DocumentsFound(text, ()))

    def ask(self, document: DocumentRow) -> None:
        """Ask why this document is not among the first results."""
        self.cancel()
        self._requests.start(self._ask(document))

    def cancel(self) -> None:
        """Drop what was asked; on the engine's thread it ends soon."""
        self._cancelled.set()
        self._cancelled = threading.Event()
        self._requests.cancel()

    async def _find(self, text: str) -> None:
        found = await self._client.run(lambda engine: engine.find_documents(text, DOCUMENTS))
        ranks = self.ranks
        self.post(DocumentsFound(text, tuple(_row(name, ranks) for name in found)))

    async def _ask(self, document: DocumentRow) -> None:
        state, defaults, cancelled = self.explore.state, self.explore.defaults, self._cancelled
        result_rank = self.ranks.get(document.path)

        def ask(engine: KnowledgeBase) -> AnswerView:
            from kbx_tui.tui.why_not.present_why_not import present_answer, read_only

            if not state.query:
                return read_only(document.path, document.title)
            request = state.request()
            answer = engine.why_not(request, document.path, LIMIT, cancelled=cancelled.is_set)
            return present_answer(answer, state, defaults, result_rank)

        try:
            self.post(AnswerReady(await self._client.run(ask)))
        except KbxError as error:
            self.post(NoAnswer(safe_line(str(error))))


def _row(name: DocumentName, ranks: dict[str, int]) -> DocumentRow:
    title = safe_line(name.title) or safe_line(name.path)
    date, kind = safe_line(name.date), safe_line(name.kind)
    return DocumentRow(name.path, title, date, kind, ranks.get(name.path))

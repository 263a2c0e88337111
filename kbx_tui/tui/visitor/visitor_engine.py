"""The engine of a visitor: one base, no other files of the machine, no queries of other users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.api import KnowledgeBase
from kbx_tui.api.drafts import Drafts
from kbx_tui.api.queries import Queries
from kbx_tui.errors import NotFound

if TYPE_CHECKING:
    from kbx_tui.api.session import Notice, Session
    from kbx_tui.drafting.drafts import Draft
    from kbx_tui.search.query_history import PastQuery


class VisitorEngine(KnowledgeBase):
    def __init__(
        self,
        root: Path,
        past: Callable[[], Sequence[PastQuery]],
        *,
        notice: Notice,
        read_only: bool,
    ) -> None:
        super().__init__(root, notice=notice, read_only=read_only)
        self.queries = _VisitorQueries(self._session, past)
        self.drafts = _VisitorDrafts(self._session)


class _VisitorQueries(Queries):
    def __init__(self, session: Session, past: Callable[[], Sequence[PastQuery]]) -> None:
        super().__init__(session)
        self._past = past

    def asked(self) -> tuple[PastQuery, ...]:
        """Return only the queries of the visitor: those of other users are private."""
        return tuple(self._past())


class _VisitorDrafts(Drafts):
    def in_file(self, file: Path | str) -> tuple[Draft, ...]:
        raise NotFound("no file of the server is read: paste the lines instead")

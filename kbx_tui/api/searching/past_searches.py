"""Past and saved queries of a session. `KnowledgeBase` documents the methods."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kbx_tui.api.searching.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.read_only import is_read_only
from kbx_tui.search.query_history import QueryHistory
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.saved_queries import (
    COMPARED,
    REMEMBERED,
    NewResult,
    News,
    SavedQueries,
    SavedQuery,
    news,
    valid_name,
)


class PastSearches:
    """The query history and the saved queries of one base."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)
        self.history = QueryHistory(session.root, session.notice_once)
        self.saved = SavedQueries(session.root, session.notice_once)

    def save(self, name: str, request: SearchRequest, settings: Mapping[str, Any]) -> SavedQuery:
        found = self._versions(self._rank(request))
        query = SavedQuery(valid_name(name), request.query, time.time(), settings, found)
        self.saved.put(query)
        return query

    def open(self, name: str, request: SearchRequest) -> News:
        saved = self.saved.find(name)
        ranking = self._rank(request)
        found, evidence = self._versions(ranking), ranking.evidence
        what_is_new = news(saved.documents, list(found.items())[:COMPARED])
        rows = {evidence.paths[row]: row for row in ranking.best(COMPARED).tolist()}
        if not is_read_only(self._session.root):
            self.saved.update(replace(saved, at=time.time(), documents=found))
        return News(
            saved,
            tuple(
                NewResult(path, evidence.titles[rows[path]], evidence.dates[rows[path]], is_new)
                for path, is_new in what_is_new.items()
            ),
        )

    def _rank(self, request: SearchRequest) -> Ranking:
        tuning = request.tuning(self._searcher.tuning(request.preset))
        return rank(self._searcher.retrieve(request), tuning)

    def _versions(self, ranking: Ranking) -> dict[str, str]:
        """Return the versions of the best documents by path, best first."""
        snapshot = self._session.snapshot()
        paths = [ranking.evidence.paths[row] for row in ranking.best(REMEMBERED).tolist()]
        rows = {path: snapshot.row_of.get(path) for path in paths}
        return {path: snapshot.versions[row] for path, row in rows.items() if row is not None}

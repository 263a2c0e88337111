"""Past and saved queries of a session, and why a document is not in the top of a search."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kbx_tui.api.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.errors import NotFound
from kbx_tui.index.build.progress import Cancelled
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.query.filters import without_filter
from kbx_tui.search.query_history import (
    COMPARED,
    REMEMBERED,
    NewResult,
    News,
    PastQuery,
    QueryHistory,
    SavedQueries,
    SavedQuery,
    news,
    valid_name,
)
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.why_not import Change, Dimension, WhyNot, changed_request, why_not
from kbx_tui.state_file import is_read_only


class Queries:
    """The queries asked in the app, and those saved by name, of one base; `kb.queries`."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)
        self._history = QueryHistory(session.root, session.notice_once)
        self._saved = SavedQueries(session.root, session.notice_once)

    def asked(self) -> tuple[PastQuery, ...]:
        """Return the queries asked in the app, each once, the most recent first; at most 1,000."""
        return self._history.read()

    def forget(self, *, dry_run: bool = False) -> int:
        """Forget the queries asked in the app, and return how many; `dry_run` only counts them.

        Raises WriteFault.
        """
        return len(self._history.read()) if dry_run else self._history.clear()

    def saved(self) -> tuple[SavedQuery, ...]:
        """Return the queries saved by name, ordered by name."""
        return self._saved.read()

    def find(self, name: str) -> SavedQuery:
        """Return the query saved by this name. Raises NotFound."""
        return self._saved.find(name)

    def save(
        self, name: str, query: str | SearchRequest, settings: Mapping[str, Any] | None = None
    ) -> SavedQuery:
        """Save a query by name, with what it finds now, in place of one with the same name.

        `settings` are values for JSON to keep with it. Raises ConfigError for a name that is blank
        or longer than 100 characters, WriteFault, and as `KnowledgeBase.retrieve`.
        """
        request = query if isinstance(query, SearchRequest) else SearchRequest(query)
        found = self._versions(self._searcher.ranked(request))
        saved = SavedQuery(valid_name(name), request.query, time.time(), settings or {}, found)
        self._saved.put(saved)
        return saved

    def open(self, name: str, query: str | SearchRequest) -> News:
        """Return what is new in the results of a saved query, and note what it finds now.

        `query` is that query with its settings. Raises NotFound, WriteFault, and as
        `KnowledgeBase.retrieve`.
        """
        request = query if isinstance(query, SearchRequest) else SearchRequest(query)
        saved = self.find(name)
        ranking = self._searcher.ranked(request)
        found, evidence = self._versions(ranking), ranking.evidence
        what_is_new = news(saved.documents, list(found.items())[:COMPARED])
        rows = {evidence.paths[row]: row for row in ranking.best(COMPARED).tolist()}
        if not is_read_only(self._session.root):
            self._saved.update(replace(saved, at=time.time(), documents=found))
        return News(
            saved,
            tuple(
                NewResult(path, evidence.titles[rows[path]], evidence.dates[rows[path]], is_new)
                for path, is_new in what_is_new.items()
            ),
        )

    def remove(self, name: str) -> SavedQuery:
        """Remove a saved query, and return it. Raises NotFound and WriteFault."""
        return self._saved.remove(name)

    def restore(self, saved: SavedQuery) -> None:
        """Save a query again that was removed. Raises WriteFault."""
        self._saved.put(saved)

    def _versions(self, ranking: Ranking) -> dict[str, str]:
        snapshot = self._session.snapshot()
        paths = [ranking.evidence.paths[row] for row in ranking.best(REMEMBERED).tolist()]
        rows = {path: snapshot.row_of.get(path) for path in paths}
        return {path: snapshot.versions[row] for path, row in rows.items() if row is not None}


MOST_ENTITIES = 20
"""How many entities of the document are tried that the search did not find."""

NO_FILTER: dict[Dimension, tuple[Any, str]] = {
    "path": (None, "without the path"),
    "doc_types": ((), "of any type"),
    "since": (None, "without the first date"),
    "until": (None, "without the last date"),
    "tags": ((), "with any tags"),
    "entities": ((), "of any entity"),
}
"""What each filter is when it is off, and that in words."""


def _folders_of(path: str) -> Iterator[str]:
    """Yield the folders that a document is in, with a slash at the end, the innermost first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield f"{path}/"


class WhyNotFinder:
    """Answers over a session. `KnowledgeBase` documents the method."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)

    def why_not(
        self, request: SearchRequest, path: str, limit: int, cancelled: Cancelled
    ) -> WhyNot:
        request = replace(request, also=(path,))  # scored even if it is not a candidate
        ranking = self._searcher.ranked(request)
        paths = ranking.evidence.paths
        if path not in paths:
            answer = self._filtered(ranking, request, path, limit)
            return replace(answer, changes=tuple(self._without_a_filter(request, path, limit)))
        answer = why_not(ranking, paths.index(path), limit)
        if answer.stage == "shown":
            return answer
        found = {change.dimension: change for change in answer.changes}
        if "pinned" not in found:
            entities = self._other_entities(ranking.evidence, request, path, limit, cancelled)
            if best := min(entities, key=lambda change: change.rank, default=None):
                found["pinned"] = best
        if ranking.evidence.date_preference is not None:
            without = self._tried(request, "dates", "off", "without the date words", path, limit)
            found |= {} if without is None else {"dates": without}
        if request.fast:
            slow = self._tried(request, "fast", False, "by meaning too", path, limit)
            found |= {} if slow is None else {"fast": slow}
        return replace(answer, changes=tuple(found.values()))

    def _filtered(self, ranking: Ranking, request: SearchRequest, path: str, limit: int) -> WhyNot:
        snapshot = self._session.snapshot()
        row = snapshot.row_of.get(path)
        if row is None or path in request.hidden:
            raise NotFound(f"the index holds no document {path!r}; paths are those of a search")
        title = snapshot.titles[row]
        return WhyNot(path, title, "filtered", None, None, None, limit, (), ranking)

    def _without_a_filter(self, request: SearchRequest, path: str, limit: int) -> Iterator[Change]:
        for dimension in NO_FILTER:
            if not getattr(request, dimension):
                continue
            off = NO_FILTER[dimension]
            for value, text in [*self._wider(request, dimension, path), off]:
                if change := self._tried(request, dimension, value, text, path, limit):
                    yield change
                    break
        for number, typed in enumerate(request.typed.filters):
            query, text = without_filter(request.query, number), f"without {typed}"
            if change := self._tried(request, "query", query, text, path, limit):
                yield change
                break  # one change per dimension
        if (request.dates or self._session.settings.search.dates) == "filter" and (
            change := self._tried(request, "dates", "prefer", "of any date", path, limit)
        ):
            yield change

    def _wider(
        self, request: SearchRequest, dimension: Dimension, path: str
    ) -> Iterator[tuple[Any, str]]:
        """Yield values of a filter that let a document in, in words too, those of fewest first."""
        snapshot = self._session.snapshot()
        row = snapshot.row_of[path]
        kind, date = snapshot.kinds[row], snapshot.dates[row]
        match dimension:
            case "doc_types" if kind:
                yield (*(request.doc_types or ()), kind), f"also the type {kind}"
            case "since" if date and date < str(request.since):
                yield date, f"from {date}"
            case "until" if date and date > str(request.until):
                yield date, f"to {date}"
            case "path":
                for folder in _folders_of(path):
                    if f"{request.path}/".startswith(folder):
                        yield folder, f"in all of {folder}"

    def _other_entities(
        self,
        evidence: Evidence,
        request: SearchRequest,
        path: str,
        limit: int,
        cancelled: Cancelled,
    ) -> Iterator[Change]:
        snapshot = self._session.snapshot()
        row, present = snapshot.row_of.get(path, -1), {entity.id for entity in evidence.entities}
        numbers = snapshot.links.entities_of(row).tolist()
        entities = (snapshot.entities[number] for number in numbers)
        linked = [entity for entity in entities if entity.id not in present]
        for entity in linked[: 0 if request.fast else MOST_ENTITIES]:
            if cancelled():
                return
            text = f"with {entity.name}"
            if change := self._tried(request, "pinned", (entity.id,), text, path, limit):
                yield change

    def _tried(
        self,
        request: SearchRequest,
        dimension: Dimension,
        value: Any,
        text: str,
        path: str,
        limit: int,
    ) -> Change | None:
        """Return a change if it brings the document into the top, else None."""
        changed = changed_request(request, dimension, value)
        after = self._searcher.ranked(changed)
        paths = [after.evidence.paths[row] for row in after.best(limit).tolist()]
        if path not in paths:
            return None
        return Change(dimension, value, text, paths.index(path) + 1, after)

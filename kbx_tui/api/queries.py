"""Past and saved queries of a base, and why a document is not among the top results."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from kbx_tui.api.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.errors import NotFound
from kbx_tui.formatting import listed
from kbx_tui.index.build.progress import Cancelled
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.query.typed_filters import Key, TypedFilter, without_filter
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
    """The queries of one base: those asked in the app and those saved by name. `kb.queries`."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)
        self._history = QueryHistory(session.root, session.notice_once)
        self._saved = SavedQueries(session.root, session.notice_once)

    def asked(self) -> tuple[PastQuery, ...]:
        """Return the queries asked in the app, each once, the most recent first; at most 1,000."""
        return self._history.read()

    def forget(self, *, dry_run: bool = False) -> int:
        """Forget the queries asked in the app; return how many. Raises WriteFault."""
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
        """Save a query and its current results by name, replacing one with the same name.

        `settings` are JSON values stored with it. Raises ConfigError for a name that is blank or
        longer than 100 characters, WriteFault, and the errors of `KnowledgeBase.retrieve`.
        """
        request = query if isinstance(query, SearchRequest) else SearchRequest(query)
        found = self._versions(self._searcher.ranked(request))
        saved = SavedQuery(valid_name(name), request.query, time.time(), settings or {}, found)
        self._saved.put(saved)
        return saved

    def open(self, name: str, query: str | SearchRequest) -> News:
        """Return what is new since a saved query was last opened, and store its current results.

        Raises NotFound and WriteFault.
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
        """Restore a removed query. Raises WriteFault."""
        self._saved.put(saved)

    def _versions(self, ranking: Ranking) -> dict[str, str]:
        snapshot = self._session.snapshot()
        paths = [ranking.evidence.paths[row] for row in ranking.best(REMEMBERED).tolist()]
        rows = {path: snapshot.row_of.get(path) for path in paths}
        versions = snapshot.versions
        return {path: versions[row].decode() for path, row in rows.items() if row is not None}


MOST_ENTITIES = 20
"""Most entities tried per document, of those that the search did not find."""

NO_FILTER: dict[Dimension, tuple[Any, str, Key]] = {
    "path": (None, "without the path", "in"),
    "doc_types": ((), "of any type", "type"),
    "since": (None, "without the first date", "from"),
    "until": (None, "without the last date", "to"),
    "tags": ((), "with any tags", "tag"),
    "entities": ((), "of any entity", "@"),
    "said": ((), "whoever speaks", "said"),
}
"""The value that turns each filter off, its description, and the filter's key in a query."""


@dataclass(frozen=True)
class WhyNotSearch:
    """The question why one document is not among the top `limit` results of a search."""

    session: Session
    request: SearchRequest
    path: str
    limit: int
    cancelled: Cancelled

    def answer(self) -> WhyNot:
        """Return the answer; see `KnowledgeBase.why_not`."""
        request = self.request
        ranking = self._ranked(request)
        paths = ranking.evidence.paths
        if self.path not in paths:
            return self._filtered(ranking)
        answer = why_not(ranking, paths.index(self.path), self.limit)
        if answer.stage == "shown":
            return answer
        found = {change.dimension: change for change in answer.changes}
        tried: list[Change | None] = []
        if "pinned" not in found:
            entities = self._other_entities(ranking.evidence)
            tried.append(min(entities, key=lambda change: change.rank, default=None))
        if ranking.evidence.date_preference is not None:
            tried.append(self._tried("dates", "off", "without the date words"))
        if request.fast:
            tried.append(self._tried("fast", False, "by meaning too"))
        changes = (*found.values(), *(change for change in tried if change is not None))
        return replace(answer, changes=changes)

    def _filtered(self, ranking: Ranking) -> WhyNot:
        snapshot = self.session.snapshot()
        row = snapshot.row_of.get(self.path)
        if row is None:
            raise NotFound(
                f"the index holds no document {self.path!r}; paths are those of a search"
            )
        left_out_by = self._left_out_by()
        changes = tuple(self._without_a_filter()) or tuple(self._without_filters(left_out_by))
        answer = WhyNot(
            self.path, snapshot.titles[row], "filtered", None, None, None, self.limit, (), ranking
        )
        return replace(answer, left_out_by=tuple(left_out_by.values()), changes=changes)

    def _left_out_by(self) -> dict[Dimension | int, str]:
        """Return, with their wordings, the filters that leave the document out by themselves.

        A filter typed in the query is named by its number, another by its dimension.
        """
        request = self.request
        off = {dimension: value for dimension, (value, _, _) in NO_FILTER.items()}
        bare = replace(request, query="", dates="off", fast=True, muted_documents=(), **off)
        alone: dict[Dimension | int, tuple[SearchRequest, str]] = {
            number: (replace(bare, query=str(each)), str(each))
            for number, each in enumerate(request.typed.filters)
        }
        for dimension, (_, _, key) in NO_FILTER.items():
            if value := getattr(request, dimension):
                values = (value,) if isinstance(value, str) else value
                words = " or ".join(str(TypedFilter(key, (each,))) for each in values)
                alone[dimension] = replace(bare, **{dimension: value}), words
        if self._filters_dates:
            words = "the time asked for"
            alone["dates"] = replace(bare, query=request.searched, dates="filter"), words
        return {
            name: words
            for name, (each, words) in alone.items()
            if self.path not in self._ranked(each).evidence.paths
        }

    @property
    def _filters_dates(self) -> bool:
        return (self.request.dates or self.session.settings.search.dates) == "filter"

    def _without_filters(self, left_out_by: Mapping[Dimension | int, str]) -> Iterator[Change]:
        """Yield the change that drops all filters that leave the document out, if that helps."""
        off: dict[Dimension, Any] = {name: value for name, (value, _, _) in NO_FILTER.items()}
        off["dates"] = "prefer"
        values = {name: off[name] for name in left_out_by if not isinstance(name, int)}
        query, properties = self.request.query, self.request.properties
        for number in sorted((each for each in left_out_by if isinstance(each, int)), reverse=True):
            query = without_filter(query, number, properties)
        if len(left_out_by) > 1:
            text = f"without {listed(tuple(left_out_by.values()))}"
            yield from self._first("filters", [({**values, "query": query}, text)])

    def _without_a_filter(self) -> Iterator[Change]:
        """Yield for each kind of filter the first change that brings the document into the top."""
        request = self.request
        for dimension, (off, words, _) in NO_FILTER.items():
            if getattr(request, dimension):
                values = (*self._wider(dimension), (off, words))
                yield from self._first(dimension, values)
        typed = (
            (without_filter(request.query, number, request.properties), f"without {each}")
            for number, each in enumerate(request.typed.filters)
        )
        yield from self._first("query", typed)
        if self._filters_dates:
            yield from self._first("dates", [("prefer", "of any date")])

    def _first(self, dimension: Dimension, values: Iterable[tuple[Any, str]]) -> Iterator[Change]:
        """Yield at most one change: to the first value that brings the document into the top."""
        changes = (self._tried(dimension, value, text) for value, text in values)
        yield from islice(filter(None, changes), 1)

    def _wider(self, dimension: Dimension) -> Iterator[tuple[Any, str]]:
        """Yield wider filter values that match the document, narrowest first, with descriptions."""
        snapshot, request = self.session.snapshot(), self.request
        row = snapshot.row_of[self.path]
        kind, date = snapshot.kinds[row], snapshot.dates[row]
        match dimension:
            case "doc_types" if kind:
                yield (*(request.doc_types or ()), kind), f"also the type {kind}"
            case "since" if date and date < str(request.since):
                yield date, f"from {date}"
            case "until" if date and date > str(request.until):
                yield date, f"to {date}"
            case "path":
                for folder in PurePosixPath(self.path).parents[:-1]:
                    if f"{request.path}/".startswith(f"{folder}/"):
                        yield f"{folder}/", f"in all of {folder}/"

    def _other_entities(self, evidence: Evidence) -> Iterator[Change]:
        snapshot = self.session.snapshot()
        row, present = snapshot.row_of.get(self.path, -1), {each.id for each in evidence.entities}
        entities = (snapshot.entities[each] for each in snapshot.links.entities_of(row).tolist())
        linked = [entity for entity in entities if entity.id not in present]
        for entity in linked[: 0 if self.request.fast else MOST_ENTITIES]:
            if self.cancelled():
                return
            if change := self._tried("pinned", (entity.id,), f"with {entity.name}"):
                yield change

    def _tried(self, dimension: Dimension, value: Any, text: str) -> Change | None:
        after = self._ranked(changed_request(self.request, dimension, value))
        paths = [after.evidence.paths[row] for row in after.best(self.limit).tolist()]
        if self.path not in paths:
            return None
        return Change(dimension, value, text, paths.index(self.path) + 1, after)

    def _ranked(self, request: SearchRequest) -> Ranking:
        """Return the ranking of a request, scoring the document even if it is not a candidate."""
        return Searcher(self.session).ranked(replace(request, also=(self.path,)))

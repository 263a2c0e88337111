"""All the I/O of a search: from a query to Evidence."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.index.paths import PathFilter, both, kinds_where, quoted
from kbx_tui.index.reader import Reader
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors import Vectors
from kbx_tui.search.document_query import STRIPPED_TYPES, strip_names
from kbx_tui.search.entity_pass import fact_search
from kbx_tui.search.evidence import (
    ComponentScores,
    EntityCandidate,
    Evidence,
    Flags,
    LinkedDocuments,
    Scope,
    Scores,
    frozen,
)
from kbx_tui.search.lexical import lexical_search, raw_lexical_scores
from kbx_tui.search.loaded import Loaded
from kbx_tui.search.names import NameMatch
from kbx_tui.search.response import Snippet
from kbx_tui.search.scales import LEXICAL_WEIGHT, fuse, scale_cosine, scale_lexical
from kbx_tui.search.snippets import make_snippet

QUERY_VECTORS_KEPT = 256


class Retriever:
    """Reads one store. Keeps what one generation needs in memory; not for several threads."""

    def __init__(self, store: Store, open_embedder: Callable[[], Embedder]) -> None:
        self._store, self._reader = store, Reader(store.uri)
        self._open_embedder = open_embedder
        self._loaded: Loaded | None = None
        self._build = store.build_id()
        self._known_vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def close(self) -> None:
        """Let go of tables and memory."""
        self._reader.close()
        self._loaded = None

    def refresh(self, *, now: bool = True) -> bool:
        """Read another generation if there is one; True when there is.

        Without `now`, vectors that are being made may lag behind by some seconds.
        """
        build = self._store.build_id()
        if self._loaded is not None and build == self._build:
            return self._loaded.refresh(self._reader.versions(), now=now)
        if build != self._build:  # made anew in the same place: what is open is of the old one
            self._reader.close()
            self._store = Store(self._store.uri)
        self._loaded = Loaded(self._store)
        self._build = build
        return True

    def warm(self) -> None:
        """Load what the first query needs."""
        self._vectors()
        self._query_vectors([""])

    def retrieve(
        self, query: str, *, path: PathFilter, doc_types: Sequence[str] = (), fast: bool = False
    ) -> Evidence:
        """Return everything `rank` needs to order the documents in scope."""
        clock = _Clock()
        loaded, snapshot = self._now(), self._now().snapshot
        vectors = None if fast else self._vectors()
        in_scope = _in_scope(snapshot, path, doc_types)
        kept = np.flatnonzero(in_scope)
        where = both(path.where(), kinds_where(doc_types))
        clock.lap("open_ms")
        matches = [] if fast else loaded.entity_pass.names(query)
        document_query = self._document_query(query, matches)
        wordings = list(dict.fromkeys((query, document_query)))
        searches = [lexical_search(snapshot, wording, where) for wording in wordings]
        answers = self._reader.match(searches if fast else [*searches, fact_search(query)])
        cosines = self._cosines(wordings, vectors)  # while the words are searched
        profiles = self._profile_cosines(query, vectors)
        found = answers()
        clock.lap("retrieve_ms")
        candidates: tuple[EntityCandidate, ...] = ()
        if not fast:
            candidates = loaded.entity_pass.find(query, matches, found.pop(), profiles)
        clock.lap("pass1_ms")
        weight = 1.0 if fast else LEXICAL_WEIGHT
        components = [
            _components(wording, raw_lexical_scores(snapshot, answer), cosine, in_scope, weight)
            for wording, answer, cosine in zip(wordings, found, cosines, strict=True)
        ]
        clock.lap("pass2_ms")
        links = self._links(candidates, in_scope, kept)
        clock.lap("links_ms")
        return Evidence(
            query=query,
            document_query=document_query,
            generation=loaded.generation,
            scope=Scope(path.prefix, tuple(doc_types), len(kept), len(snapshot.paths), where),
            entities=candidates,
            links=links,
            paths=_pick(snapshot.paths, kept),
            titles=_pick(snapshot.titles, kept),
            dates=_pick(snapshot.dates, kept),
            kinds=_pick(snapshot.kinds, kept),
            as_typed=components[0],
            as_searched=components[-1],
            exact=MappingProxyType(self._exact(query, kept)),
            hotness=frozen(np.zeros(len(kept))),
            fast=fast,
            vector_share=vectors.share if vectors else 0.0,
            timings=MappingProxyType(clock.laps),
        )

    def snippets(self, query: str, paths: Sequence[str]) -> list[Snippet]:
        """Return the best place of each document for `query`, in order of `paths`.

        Where no word matches, it is the chunk nearest in meaning. A path that is gone gives an
        empty snippet.
        """
        if not paths:
            return []
        listed = ", ".join(quoted(path) for path in paths)
        columns = ["path", "body", "body_line"]
        found = self._reader.rows("documents", columns, f"path IN ({listed})").to_pylist()
        bodies = {row["path"]: (row["body"], row["body_line"]) for row in found}
        return [
            make_snippet(
                *bodies.get(path, ("", 1)), query, fallback_line=self._nearest_line(query, path)
            )
            for path in paths
        ]

    def _nearest_line(self, query: str, path: str) -> int:
        vector = self._known_vectors.get(query)
        return 0 if vector is None else self._now().best_line(path, vector)

    def _query_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of queries, shape (texts, dimension); the latest 256 are kept.

        What is new is embedded in one batch: reading the model's weights is what takes the time.
        """
        known = self._known_vectors
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if len(new) == 1:
            known[new[0]] = self._open_embedder().embed_query(new[0])
        elif new:
            known |= zip(new, self._open_embedder().embed(new), strict=True)
        for text in texts:
            known.move_to_end(text)
        while len(known) > QUERY_VECTORS_KEPT:
            known.popitem(last=False)
        return np.stack([known[text] for text in texts])

    def _now(self) -> Loaded:
        if self._loaded is None:
            self._loaded = Loaded(self._store)
        return self._loaded

    def _vectors(self) -> Vectors:
        embedder = self._open_embedder()
        return self._now().vectors(model=embedder.model, dimension=embedder.dimension)

    def _profile_cosines(self, query: str, vectors: Vectors | None) -> Scores | None:
        if vectors is None or not len(vectors.entities):
            return None
        cosines: Scores = (vectors.entities @ self._query_vectors([query])[0]).astype(np.float64)
        return cosines

    def _document_query(self, query: str, matches: Sequence[NameMatch]) -> str:
        entities = self._now().snapshot.entities
        spans = [
            (match.start, match.end)
            for match in matches
            if match.named and entities[match.entity].type in STRIPPED_TYPES
        ]
        return strip_names(query, spans) if spans else query

    def _cosines(self, wordings: Sequence[str], vectors: Vectors | None) -> Scores:
        """Return the cosine of each document's best chunk, shape (wordings, documents)."""
        documents = len(self._now().snapshot.paths)
        if vectors is None or not len(vectors.document_rows):
            return np.full((len(wordings), documents), np.nan)
        return vectors.best_cosine(self._query_vectors(wordings), documents)

    def _links(
        self, entities: Sequence[EntityCandidate], in_scope: Flags, kept: NDArray[np.int64]
    ) -> tuple[LinkedDocuments, ...]:
        found = [self._now().linked(entity.id) for entity in entities]
        if len(kept) == len(in_scope):
            return tuple(found)
        return tuple(linked.within(in_scope, kept) for linked in found)

    def _exact(self, query: str, kept: NDArray[np.int64]) -> dict[int, str]:
        """Return rows of Evidence whose title, path or id is the query."""
        exact: dict[int, str] = {}
        for row, what in self._now().exact(query):
            at = int(np.searchsorted(kept, row))
            if at < len(kept) and kept[at] == row:
                exact.setdefault(at, what)
        return exact


def _components(
    query: str, raw_lexical: Scores, cosine: Scores, in_scope: Flags, lexical_weight: float
) -> ComponentScores:
    raw, cosine = raw_lexical[in_scope], cosine[in_scope]
    lexical, vector = scale_lexical(raw), scale_cosine(cosine)
    return ComponentScores(
        query=query,
        raw_lexical=frozen(raw),
        lexical=frozen(lexical),
        cosine=frozen(cosine),
        vector=frozen(vector),
        doc_relevance=frozen(fuse(lexical, vector, lexical_weight)),
        lexical_weight=lexical_weight,
    )


class _Clock:
    """Milliseconds of consecutive stages."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 3)
        self._last = now


def _in_scope(snapshot: Snapshot, path: PathFilter, doc_types: Sequence[str]) -> Flags:
    if not path.prefix and not doc_types:
        return np.ones(len(snapshot.paths), dtype=np.bool_)
    flags = np.fromiter(map(path.matches, snapshot.paths), np.bool_, len(snapshot.paths))
    if doc_types:
        wanted = set(doc_types)
        flags &= np.fromiter((k in wanted for k in snapshot.kinds), np.bool_, len(snapshot.kinds))
    return flags


def _pick(values: tuple[str, ...], rows: NDArray[np.int64]) -> tuple[str, ...]:
    return values if len(rows) == len(values) else tuple(values[row] for row in rows)

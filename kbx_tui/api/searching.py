"""Searching: retrieve once, rank as often as a knob moves, explain."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kbx_tui.api.opened import OpenedBase, well_formed
from kbx_tui.errors import OutOfRange
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.query.filters import Filters
from kbx_tui.search.ranking.alpha import alpha_note, next_changes
from kbx_tui.search.ranking.explain import Explanation, explain
from kbx_tui.search.ranking.rank import Ranked, Ranking, rank
from kbx_tui.search.results.response import SearchResponse, Snippet
from kbx_tui.search.retrieval.top_k.top_k import Once


class Searching(OpenedBase):
    """The two passes, and the knobs that rank."""

    def tuning(self, **changes: Any) -> Tuning:
        """Return the knobs of kbx.toml, with changes; a change that is None is none.

        Raises OutOfRange and ConfigError.
        """
        search = self.settings.search
        start = Tuning.seed() if search.hierarchy_preset == "seed" else Tuning()
        own: dict[str, Any] = {
            "alpha": search.hierarchy_alpha,
            "entity_threshold": search.hierarchy_entity_threshold,
            "max_entities": search.hierarchy_max_entities,
            "hotness_weight": search.hotness_weight,
        }
        if search.hierarchy_preset != "seed":
            own |= {"gate": search.hierarchy_gate, "parent": search.hierarchy_parent}
        given = {name: value for name, value in changes.items() if value is not None}
        return replace(start, **{**own, **given})

    def retrieve(
        self,
        query: str,
        *,
        path: str | None = None,
        doc_types: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        tags: Sequence[str] = (),
        entities: Sequence[str] = (),
        fast: bool = False,
        pinned: Sequence[str] = (),
        feedback: float | None = None,
        parts: float | None = None,
    ) -> Evidence:
        """Return all that `rank` needs to order the documents in scope, from the newest index.

        `path` is a folder, a file or a glob: `*`, `?`, `**`, `[1-3]`, `{a,b}`. The evidence also
        holds the entities whose ids are `pinned`; `Tuning.pinned` makes them count. `since` and
        `until` are dates or parts of one, `2026-03`, both included; of `doc_types`, `tags` and
        `entities` (ids) any one will do. `feedback`, 0..1, is how much the meaning of the query is
        drawn to what fits it best, and `parts`, 0..1, how much parts of a document lend those
        beside them; None: as kbx.toml says. Raises OutOfRange, NotFound without an index and for an
        unknown id, ConfigError for a path that leads out of the base and for what is no date.
        """
        filters = _filters(doc_types, since, until, tags, entities)
        return self._retrieve(
            query,
            path=path,
            filters=filters,
            fast=fast,
            pinned=pinned,
            feedback=feedback,
            parts=parts,
        )

    def _retrieve(
        self,
        query: str,
        *,
        path: str | None,
        filters: Filters,
        fast: bool,
        pinned: Sequence[str] = (),
        once: Once | None = None,
        feedback: float | None = None,
        parts: float | None = None,
    ) -> Evidence:
        search = self.settings.search
        seed = search.hierarchy_preset == "seed"  # the first proposal knew of neither
        if feedback is None:
            feedback = 0.0 if seed else search.feedback
        if parts is None:
            parts = 0.0 if seed else search.parts
        for name, share in (("feedback", feedback), ("parts", parts)):
            if not 0.0 <= share <= 1.0:  # put this way round, NaN fails too
                raise OutOfRange(f"{name} must be within 0..1, got {share}")
        scope, query, engine = self._path_filter(path), well_formed(query), self._engine()
        if not fast:
            engine.begin(query, once)
        self._keep_fresh()
        return engine.retrieve(
            query,
            path=scope,
            filters=filters,
            fast=fast,
            pinned=pinned,
            once=once,
            feedback=feedback,
            parts=parts,
        )

    def opened(self, path: str) -> None:
        """Note that a document was opened, for hotness; where that cannot be written, it is not."""
        from kbx_tui.search.frecency import Usage

        Usage(self.root).opened(path)

    def rank(self, evidence: Evidence, tuning: Tuning | None = None) -> Ranking:
        """Order the documents of `evidence`. Pure: the same arguments give the same ranking."""
        return rank(evidence, tuning or self.tuning())

    def explain(self, ranking: Ranking, ranked: Ranked) -> Explanation:
        """Return how the score of one result came about. Pure."""
        return explain(ranking, ranked)

    def alpha_note(self, ranking: Ranking, limit: int = 200) -> str:
        """Return why no alpha changes the order of the results; empty when some does. Pure."""
        return alpha_note(ranking, limit)

    def next_changes(self, ranking: Ranking, limit: int = 10) -> tuple[float | None, float | None]:
        """Return the nearest alphas below and above where the order of the top changes. Pure."""
        return next_changes(ranking, limit)

    def matches(self, evidence: Evidence, text: str) -> tuple[tuple[int, int], ...]:
        """Return the spans in `text` of the words that pass 2 searched for, in order. Pure."""
        from kbx_tui.search.results.snippets import match_spans

        return match_spans(text, evidence.document_query)

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        """Return the best place for the query of the documents at `rows` of `evidence`."""
        self._keep_fresh()
        paths = [evidence.paths[row] for row in rows]
        return tuple(self._engine().snippets(evidence.document_query, paths))

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        path: str | None = None,
        fast: bool = False,
        hierarchy: bool = True,
        alpha: float | None = None,
        threshold: float | None = None,
        max_entities: int | None = None,
        gate: str | None = None,
        parent: str | None = None,
        hotness: float | None = None,
        doc_types: Sequence[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        tags: Sequence[str] = (),
        entities: Sequence[str] = (),
        explain: bool = False,
    ) -> SearchResponse:
        """Search once; filters as in `retrieve`. Makes the fast part of the index if there is none.

        Raises OutOfRange, ConfigError, IndexFault and EmbeddingError.
        """
        from kbx_tui.search.results.answer import answer

        if limit < 1:
            raise OutOfRange(f"limit must be 1 or more, got {limit}")
        tuning = self.tuning(
            hierarchy=hierarchy,
            alpha=alpha,
            entity_threshold=threshold,
            max_entities=max_entities,
            gate=gate,
            parent=parent,
            hotness_weight=hotness,
        )
        if not self.is_indexed():
            self._notice(f"{self.root} is not indexed yet; indexing its text first")
            self.index(fast=True)
        began = time.perf_counter()
        evidence = self._retrieve(
            query,
            path=path,
            filters=_filters(doc_types, since, until, tags, entities),
            fast=fast,
            once=Once(tuning, limit, self.settings.search.convergence),
        )
        ranking = rank(evidence, tuning)
        top = ranking.top(limit)
        snippets = self.snippets(evidence, [ranked.row for ranked in top])
        spent = (time.perf_counter() - began) * 1000
        return answer(ranking, top, snippets, total_ms=spent, with_explain=explain)


def _filters(
    doc_types: Sequence[str] | None,
    since: str | None,
    until: str | None,
    tags: Sequence[str],
    entities: Sequence[str],
) -> Filters:
    return Filters.of(
        doc_types=list(map(well_formed, doc_types or ())),
        since=since,
        until=until,
        tags=list(map(well_formed, tags)),
        entities=list(map(well_formed, entities)),
    )

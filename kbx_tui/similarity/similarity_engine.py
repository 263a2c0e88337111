"""Similarity checks against one open index: facts, open items, passages, fields."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kbx_tui.config import DedupSettings
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.errors import OutOfRange
from kbx_tui.index.paths.path_filter import PathFilter
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.search.retrieval.scope import find_scope
from kbx_tui.similarity.comparison_scope import ComparisonScope
from kbx_tui.similarity.duplicate_scan import DuplicateScan, find_clusters
from kbx_tui.similarity.entity_finder import EntityFinder
from kbx_tui.similarity.fact_comparison import (
    Comparison,
    best_first,
    find_identical_facts,
    find_similar_facts,
    top_nearest,
)
from kbx_tui.similarity.fact_vectors import FactVectorCache, FactVectors, Flags
from kbx_tui.similarity.field_similarity import check_field
from kbx_tui.similarity.matches import FieldSimilarity, SimilarityCheck
from kbx_tui.similarity.nearby import NearFact, near_facts
from kbx_tui.similarity.passages import find_passages
from kbx_tui.similarity.scoring.calibration import Calibration, calibration_of
from kbx_tui.similarity.scoring.compared_words import normal_form
from kbx_tui.similarity.scoring.pair_score import require_text
from kbx_tui.similarity.scoring.thresholds import Thresholds

VECTOR_CACHE_SIZE = 1024
"""Query vectors kept: while one draft is edited, the others do not change."""


class SimilarityEngine:
    """Compares texts with what an index holds. Not thread-safe."""

    def __init__(self, index: OpenIndex, embedder: Embedder, settings: DedupSettings) -> None:
        self._index, self._embedder, self._settings = index, embedder, settings
        self._fact_vectors = FactVectorCache(index, embedder)
        self._calibration = calibration_of(embedder.model)
        self._finder = EntityFinder(())
        self._name_of: dict[str, str] = {}
        self._snapshot: Snapshot | None = None
        self._vector_of: dict[str, NDArray[np.float32]] = {}

    @property
    def calibration(self) -> Calibration:
        """The calibration of this embedder."""
        return self._calibration

    def scope(
        self, entity: str | None, path: PathFilter, *, chunks: bool = False
    ) -> ComparisonScope:
        """Return the facts and passages to compare with. Raises NotFound and Ambiguous (entity)."""
        owner = None if entity is None else self.entity(entity)
        documents = find_scope(self._index.generation().snapshot, path)[0]
        return ComparisonScope(owner, path, documents, chunks or bool(path.text))

    def entity(self, name: str) -> Entity:
        """Return the entity with a name, alias or id. Raises NotFound and Ambiguous."""
        self._refresh_entities()
        return self._finder.find(name)

    def check(
        self, texts: Sequence[str], scope: ComparisonScope, threshold: float | None, limit: int
    ) -> list[SimilarityCheck]:
        """Return one check per text, in the same order.

        Raises ConfigError (empty text), OutOfRange, EmbeddingError and IndexForeign.
        """
        thresholds = Thresholds(self._settings, threshold)
        if limit < 1:
            raise OutOfRange(f"limit must be 1 or more, got {limit}")
        for text in texts:
            require_text(text)
        facts = self._facts(scope)
        within = self._within(facts, scope)
        vectors = self.vectors(texts)
        names = self._names()
        checks = []
        for text, vector in zip(texts, vectors, strict=True):
            comparison = find_similar_facts(
                text,
                vector,
                facts,
                self._calibration,
                thresholds,
                names=names,
                limit=limit,
                within=within,
            )
            if scope.with_passages:
                passages = self._passages(text, vector, scope, thresholds, comparison)
                comparison = _merge(comparison, passages)
            checks.append(self._check(text, comparison, facts, scope, thresholds, limit))
        return checks

    def has_identical(self, text: str, scope: ComparisonScope) -> bool:
        """Return whether the identical text is stored already; needs no model."""
        facts = self._facts(scope)
        return any(find_identical_facts(require_text(text), facts, self._within(facts, scope)))

    def near(
        self, texts: Sequence[str], owners: Sequence[str], floor: float, limit: int
    ) -> list[tuple[NearFact, ...]]:
        """Return, per text, the facts and open items that score at least `floor`, best first.

        At most `limit` of all entities, plus at most `limit` of the entity whose id `owners` gives
        for the text. Raises as `check` does.
        """
        facts, names = self._fact_vectors.all(), self._names()
        return [
            near_facts(
                text,
                owner,
                vector,
                facts,
                self._calibration,
                self._settings,
                names=names,
                floor=floor,
                limit=limit,
            )
            for text, owner, vector in zip(texts, owners, self.vectors(texts), strict=True)
        ]

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vector of each text, shape (texts, dimension). Recent ones are cached."""
        new = sorted({text for text in texts if text not in self._vector_of})
        if new:
            self._vector_of |= zip(new, self._embedder.embed(new), strict=True)
        vectors = [self._vector_of[text] for text in texts]
        while len(self._vector_of) > VECTOR_CACHE_SIZE:
            del self._vector_of[next(iter(self._vector_of))]
        return np.stack(vectors) if vectors else np.zeros((0, self._embedder.dimension), np.float32)

    def field(
        self, entity: str, field: str, value: str, threshold: float | None = None
    ) -> FieldSimilarity:
        """Compare a proposed value with a field. Raises as `check` and `scope` do."""
        return check_field(
            self.entity(entity),
            field,
            value,
            index=self._index,
            cache=self._fact_vectors,
            embedder=self._embedder,
            thresholds=Thresholds(self._settings, threshold),
        )

    def scan(self, scope: ComparisonScope, threshold: float | None) -> DuplicateScan:
        """Return clusters of facts that say the same. Raises as `check` does."""
        thresholds = Thresholds(self._settings, threshold)
        facts = self._facts(scope)
        within = self._within(facts, scope)
        calibration = self._calibration
        clusters, conflicting = find_clusters(
            facts, calibration, thresholds, names=self._names(), within=within
        )
        return DuplicateScan(
            clusters=tuple(clusters),
            facts=len(facts.facts) if within is None else int(within.sum()),
            conflicting=tuple(conflicting),
            model=self._embedder.model,
            is_calibrated=calibration.is_known,
            notes=(*self._notes(facts), *_note_on_path(scope)),
        )

    def _check(
        self,
        text: str,
        comparison: Comparison,
        facts: FactVectors,
        scope: ComparisonScope,
        thresholds: Thresholds,
        limit: int,
    ) -> SimilarityCheck:
        return SimilarityCheck(
            query=text,
            scope=scope.as_dict(),
            threshold=thresholds.default,
            matches=tuple(comparison.matches[:limit]),
            has_similar=comparison.has_similar,
            best_score=comparison.nearest[0].score if comparison.nearest else 0.0,
            nearest=comparison.nearest,
            model=self._embedder.model,
            is_calibrated=self._calibration.is_known,
            notes=(*self._notes(facts), *self._notes_on_scope(scope)),
        )

    def _notes_on_scope(self, scope: ComparisonScope) -> tuple[str, ...]:
        if not (scope.with_passages and scope.documents.any()):
            return _note_on_path(scope)
        model, dimension = self._embedder.model, self._embedder.dimension
        share = self._index.generation().vectors(model=model, dimension=dimension).coverage
        if share == 1.0:
            return ()
        percent = int(share * 100)
        return (f"only {percent} % of the passages have a vector; run `kbx index` to add the rest",)

    def _passages(
        self,
        text: str,
        vector: NDArray[np.float32],
        scope: ComparisonScope,
        thresholds: Thresholds,
        comparison: Comparison,
    ) -> Comparison:
        generation = self._index.generation()
        documents = scope.documents
        if scope.entity is not None:
            linked = np.zeros(len(documents), np.bool_)
            linked[generation.entity_documents.linked(scope.entity.id).rows] = True
            documents = documents & linked
        pages = {entity.path: entity.name for entity in generation.snapshot.entities if entity.path}
        return find_passages(
            text,
            vector,
            self._index,
            self._embedder,
            thresholds,
            within=documents,
            names=pages,
            known=set(map(normal_form, comparison.texts)),
        )

    def _facts(self, scope: ComparisonScope) -> FactVectors:
        return self._fact_vectors.of(scope.entity.id) if scope.entity else self._fact_vectors.all()

    def _within(self, facts: FactVectors, scope: ComparisonScope) -> Flags | None:
        return scope.facts_in(facts, self._index.generation().snapshot)

    def _names(self) -> dict[str, str]:
        self._refresh_entities()
        return self._name_of

    def _refresh_entities(self) -> None:
        snapshot = self._index.generation().snapshot
        if snapshot is not self._snapshot:
            self._finder, self._snapshot = EntityFinder(snapshot.entities), snapshot
            self._name_of = {entity.id: entity.name for entity in snapshot.entities}

    def _notes(self, facts: FactVectors) -> tuple[str, ...]:
        notes = []
        if facts.missing:
            notes.append(
                f"{facts.missing:,} of {len(facts.facts):,} facts have no vector yet and were "
                "compared by text only; run `kbx index` to add them"
            )
        if not self._calibration.is_known:
            notes.append(f"model {self._embedder.model} has no calibration: scores are raw cosines")
        return tuple(notes)


def _note_on_path(scope: ComparisonScope) -> tuple[str, ...]:
    if scope.documents.any() or not scope.path.text:
        return ()
    return (f"no document matches the path {scope.path.text}",)


def _merge(facts: Comparison, passages: Comparison) -> Comparison:
    return Comparison(
        best_first([*facts.matches, *passages.matches]),
        top_nearest((*facts.nearest, *passages.nearest)),
        facts.has_similar or passages.has_similar,
    )

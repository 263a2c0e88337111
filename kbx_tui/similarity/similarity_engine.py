"""Checks against one open index: which facts, open items, passages or fields are alike."""

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
from kbx_tui.similarity.comparison_scope import Flags, Where
from kbx_tui.similarity.duplicate_scan import DuplicateScan, find_clusters
from kbx_tui.similarity.entity_finder import EntityFinder
from kbx_tui.similarity.fact_comparison import Found, best_first, find_alike, find_same, the_nearest
from kbx_tui.similarity.fact_vectors import FactMemory, Remembered
from kbx_tui.similarity.field_similarity import check_field
from kbx_tui.similarity.matches import FieldSimilarity, SimilarityCheck
from kbx_tui.similarity.nearby import NearFact, near_facts
from kbx_tui.similarity.passages import find_passages
from kbx_tui.similarity.scoring.calibration import Calibration, calibration_of
from kbx_tui.similarity.scoring.compared_words import normal_form
from kbx_tui.similarity.scoring.pair_score import require_text
from kbx_tui.similarity.scoring.thresholds import Thresholds

VECTORS_KEPT = 1024
"""Vectors of texts that were asked about: while one draft is typed, the others do not change."""


class SimilarityEngine:
    """Compares texts with what an index holds. For one thread at a time."""

    def __init__(self, index: OpenIndex, embedder: Embedder, settings: DedupSettings) -> None:
        self._index, self._embedder, self._settings = index, embedder, settings
        self._memory = FactMemory(index, embedder)
        self._calibration = calibration_of(embedder.model)
        self._finder = EntityFinder(())
        self._name_of: dict[str, str] = {}
        self._read_from: Snapshot | None = None
        self._known_vectors: dict[str, NDArray[np.float32]] = {}

    @property
    def calibration(self) -> Calibration:
        """How scores of this embedder come about."""
        return self._calibration

    def where(self, entity: str | None, path: PathFilter, *, chunks: bool = False) -> Where:
        """Return a scope. Raises NotFound and Ambiguous for the entity."""
        known = None if entity is None else self.entity(entity)
        documents = find_scope(self._index.loaded().snapshot, path)[0]
        return Where(known, path, documents, chunks or bool(path.given))

    def entity(self, name: str) -> Entity:
        """Return the entity of a name, alias or id. Raises NotFound and Ambiguous."""
        self._know_entities()
        return self._finder.find(name)

    def check(
        self, texts: Sequence[str], where: Where, threshold: float | None, limit: int
    ) -> list[SimilarityCheck]:
        """Return one answer per text, in order.

        Raises ConfigError (empty text), OutOfRange, EmbeddingError and IndexForeign.
        """
        thresholds = Thresholds(self._settings, threshold)
        if limit < 1:
            raise OutOfRange(f"limit must be 1 or more, got {limit}")
        for text in texts:
            require_text(text)
        memory = self._facts(where)
        within = self._within(memory, where)
        vectors = self.vectors(texts)
        names = self._names()
        answers = []
        for text, vector in zip(texts, vectors, strict=True):
            found = find_alike(
                text,
                vector,
                memory,
                self._calibration,
                thresholds,
                names=names,
                limit=limit,
                within=within,
            )
            if where.with_passages:
                passages = self._passages(text, vector, where, thresholds, found)
                found = _both(found, passages)
            answers.append(self._answer(text, found, memory, where, thresholds, limit))
        return answers

    def has_same(self, text: str, where: Where) -> bool:
        """Tell whether the same text is there already; needs no model."""
        memory = self._facts(where)
        return any(find_same(require_text(text), memory, self._within(memory, where)))

    def near(
        self, texts: Sequence[str], owners: Sequence[str], floor: float, limit: int
    ) -> list[tuple[NearFact, ...]]:
        """Return for each text the facts and open items that score `floor` or more, best first.

        At most `limit` of all and as many of those of the entity whose id stands in `owners` at
        the place of the text. Raises as `check`.
        """
        memory, names = self._memory.all(), self._names()
        return [
            near_facts(
                text,
                owner,
                vector,
                memory,
                self._calibration,
                self._settings,
                names=names,
                floor=floor,
                limit=limit,
            )
            for text, owner, vector in zip(texts, owners, self.vectors(texts), strict=True)
        ]

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vector of each text, shape (texts, dimension); the last ones are kept."""
        new = sorted({text for text in texts if text not in self._known_vectors})
        if new:
            made = self._embedder.embed(new)  # the one-thread session for a single text
            self._known_vectors |= zip(new, made, strict=True)
        vectors = [self._known_vectors[text] for text in texts]
        while len(self._known_vectors) > VECTORS_KEPT:
            del self._known_vectors[next(iter(self._known_vectors))]
        return np.stack(vectors) if vectors else np.zeros((0, self._embedder.dimension), np.float32)

    def field(
        self, entity: str, field: str, value: str, threshold: float | None = None
    ) -> FieldSimilarity:
        """Compare a proposed value with what a field holds. Raises as `check` and `where`."""
        return check_field(
            self.entity(entity),
            field,
            value,
            index=self._index,
            memory=self._memory,
            embedder=self._embedder,
            thresholds=Thresholds(self._settings, threshold),
        )

    def scan(self, where: Where, threshold: float | None) -> DuplicateScan:
        """Return the clusters of facts that say the same. Raises as `check`."""
        thresholds = Thresholds(self._settings, threshold)
        memory = self._facts(where)
        within = self._within(memory, where)
        calibration = self._calibration
        clusters, conflicting = find_clusters(
            memory, calibration, thresholds, names=self._names(), within=within
        )
        return DuplicateScan(
            clusters=tuple(clusters),
            facts=len(memory.facts) if within is None else int(within.sum()),
            conflicting=tuple(conflicting),
            model=self._embedder.model,
            is_calibrated=calibration.is_known,
            notes=(*self._notes(memory, is_known=calibration.is_known), *_note_on_path(where)),
        )

    def _answer(
        self,
        text: str,
        found: Found,
        memory: Remembered,
        where: Where,
        thresholds: Thresholds,
        limit: int,
    ) -> SimilarityCheck:
        return SimilarityCheck(
            query=text,
            scope=where.told,
            threshold=thresholds.default,
            matches=tuple(found.matches[:limit]),
            has_similar=found.has_similar,
            best_score=found.nearest[0].score if found.nearest else 0.0,
            nearest=found.nearest,
            model=self._embedder.model,
            is_calibrated=self._calibration.is_known,
            notes=(
                *self._notes(memory, is_known=self._calibration.is_known),
                *self._notes_on_scope(where),
            ),
        )

    def _notes_on_scope(self, where: Where) -> tuple[str, ...]:
        if not (where.with_passages and where.documents.any()):
            return _note_on_path(where)
        model, dimension = self._embedder.model, self._embedder.dimension
        share = self._index.loaded().vectors(model=model, dimension=dimension).share
        if share == 1.0:
            return ()
        return (f"{int(share * 100)} % of the passages have a vector; `kbx index` makes the rest",)

    def _passages(
        self,
        text: str,
        vector: NDArray[np.float32],
        where: Where,
        thresholds: Thresholds,
        found: Found,
    ) -> Found:
        loaded = self._index.loaded()
        documents = where.documents
        if where.entity is not None:
            linked = np.zeros(len(documents), np.bool_)
            linked[loaded.linked(where.entity.id).rows] = True
            documents = documents & linked
        pages = {entity.path: entity.name for entity in loaded.snapshot.entities if entity.path}
        return find_passages(
            text,
            vector,
            self._index,
            self._embedder,
            thresholds,
            within=documents,
            names=pages,
            known=set(map(normal_form, found.texts)),
        )

    def _facts(self, where: Where) -> Remembered:
        return self._memory.of(where.entity.id) if where.entity else self._memory.all()

    def _within(self, memory: Remembered, where: Where) -> Flags | None:
        return where.facts_in(memory, self._index.loaded().snapshot)

    def _names(self) -> dict[str, str]:
        self._know_entities()
        return self._name_of

    def _know_entities(self) -> None:
        snapshot = self._index.loaded().snapshot
        if snapshot is not self._read_from:
            self._finder, self._read_from = EntityFinder(snapshot.entities), snapshot
            self._name_of = {entity.id: entity.name for entity in snapshot.entities}

    def _notes(self, memory: Remembered, *, is_known: bool) -> tuple[str, ...]:
        notes = []
        if memory.missing:
            notes.append(
                f"{memory.missing:,} of {len(memory.facts):,} facts have no vector yet and were "
                "only compared as text; `kbx index` makes them"
            )
        if not is_known:
            notes.append(
                f"the model {self._embedder.model} is not calibrated: scores are raw cosines"
            )
        return tuple(notes)


def _note_on_path(where: Where) -> tuple[str, ...]:
    if where.documents.any() or not where.path.given:
        return ()
    return (f"no document lies below {where.path.given}",)


def _both(one: Found, other: Found) -> Found:
    return Found(
        best_first([*one.matches, *other.matches]),
        the_nearest((*one.nearest, *other.nearest)),
        one.has_similar or other.has_similar,
    )

"""Facts and open items with their vectors, and the texts to compare with them.

Facts are read once per index generation. Only active facts are compared, not superseded, archived
or redacted ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kbx_tui.embedding.embedder import Embedder, Vector, Vectors
from kbx_tui.index.store import is_one_of, quoted, wrong_model_error
from kbx_tui.index.tables import FACT_COLUMNS, fact_from_row
from kbx_tui.index.vectors.stored_vectors import QuantizedVectors, nearest, quantize
from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.knowledge.records import Entity, Fact
from kbx_tui.search.evidence.scores import Flags, Rows
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.compared_words import normal_form

MAX_EMBEDDED_ON_READ = 2000
READ_WHOLE_TABLE_FROM = 500
"""Number of vectors from which reading the whole table is faster than reading by hash."""


@dataclass(frozen=True, slots=True)
class FactVectors:
    """Active facts and open items with their vectors, ordered by path and line."""

    facts: tuple[Fact, ...]
    texts: tuple[str, ...]
    """The text of each fact to compare: without its entity's name at the beginning."""
    vectors: Vectors
    """Shape (n, dimension): unit vectors of `texts`; zeros for a fact without one."""
    quantized: QuantizedVectors
    missing: int
    rows_by_text: dict[str, list[int]]
    rows_by_entity: dict[str, list[int]]
    entities: Mapping[str, Entity]
    """Those with facts, by id."""

    def entity_name(self, fact: Fact) -> str:
        return self.entities[fact.entity_id].name if fact.entity_id in self.entities else ""

    def owned_by(self, entity_id: str) -> Flags:
        owned = np.zeros(len(self.facts), np.bool_)
        owned[self.rows_by_entity.get(entity_id, [])] = True
        return owned

    def nearest(self, vector: Vector, count: int, within: Flags | None = None) -> Rows:
        """Return the `count` rows with the highest cosine to a unit vector, unordered."""
        return nearest(self.vectors, self.quantized, vector, count, within)

    def cosines(self, vector: Vector, rows: Rows) -> NDArray[np.float32]:
        cosines: NDArray[np.float32] = self.vectors[rows] @ vector
        return cosines


def build_fact_vectors(
    facts: Sequence[Fact],
    vectors: Vectors,
    missing: int = 0,
    *,
    entities: Mapping[str, Entity],
) -> FactVectors:
    ids = dict.fromkeys(fact.entity_id for fact in facts)
    owners = {entity_id: entities[entity_id] for entity_id in ids if entity_id in entities}
    texts = compared_texts(facts, owners)
    rows_by_text: dict[str, list[int]] = {}
    rows_by_entity: dict[str, list[int]] = {}
    for row, (fact, text) in enumerate(zip(facts, texts, strict=True)):
        rows_by_text.setdefault(normal_form(text), []).append(row)
        rows_by_entity.setdefault(fact.entity_id, []).append(row)
    return FactVectors(
        facts=tuple(facts),
        texts=texts,
        vectors=vectors,
        quantized=quantize(vectors),
        missing=missing,
        rows_by_text=rows_by_text,
        rows_by_entity=rows_by_entity,
        entities=owners,
    )


def compared_texts(facts: Sequence[Fact], entities: Mapping[str, Entity]) -> tuple[str, ...]:
    return tuple(strip_subject(fact.text, entities.get(fact.entity_id)) for fact in facts)


class FactVectorCache:
    def __init__(self, index: OpenIndex, embedder: Embedder) -> None:
        # Two BLAS threads on two busy cores are slower than one.
        threadpool_limits(limits=1, user_api="blas")
        self._index, self._embedder = index, embedder
        self._generation = -1
        self._cached: dict[str, FactVectors] = {}

    def of(self, entity_id: str) -> FactVectors:
        generation = self._index.generation().number
        if generation != self._generation:
            self._cached, self._generation = {}, generation
        if entity_id not in self._cached:
            self._cached[entity_id] = self._read(entity_id)
        return self._cached[entity_id]

    def _read(self, entity_id: str) -> FactVectors:
        where = "status = 'active'"
        if entity_id:
            where += f" AND entity_id = {quoted(entity_id)}"
        table = self._index.store.rows("facts", [*FACT_COLUMNS, "text_hash"], where)
        table = table.sort_by([("path", "ascending"), ("line", "ascending")])
        facts = [fact_from_row(row) for row in table.to_pylist()]
        hashes = table["text_hash"].to_pylist()
        vectors, has_vector = self._vectors(hashes)
        missing = np.flatnonzero(~has_vector)
        entities = self._index.generation().entities
        if 0 < len(missing) <= MAX_EMBEDDED_ON_READ:
            texts = compared_texts([facts[row] for row in missing], entities)
            vectors[missing] = self._embedder.embed(texts)
            missing = missing[:0]
        return build_fact_vectors(facts, vectors, len(missing), entities=entities)

    def _vectors(self, hashes: Sequence[str]) -> tuple[Vectors, Flags]:
        vectors = np.zeros((len(hashes), self._embedder.dimension), np.float32)
        has_vector = np.zeros(len(hashes), np.bool_)
        rows_of: dict[str, list[int]] = {}
        for row, text_hash in enumerate(hashes):
            rows_of.setdefault(text_hash, []).append(row)
        if not rows_of:
            return vectors, has_vector
        self._require_model()
        is_small = len(rows_of) < READ_WHOLE_TABLE_FROM
        where = is_one_of("text_hash", rows_of) if is_small else "text_hash != ''"
        table = self._index.store.rows("vectors", ["text_hash", "vector"], where)
        flat = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        stored = flat.reshape(-1, vectors.shape[1])
        for position, text_hash in enumerate(table["text_hash"].to_pylist()):
            for row in rows_of.get(text_hash, ()):
                vectors[row] = stored[position]
                has_vector[row] = True
        return vectors, has_vector

    def _require_model(self) -> None:
        made_with = self._index.store.rows("meta", ["value"], "key = 'model'")["value"].to_pylist()
        model = json.loads(made_with[0]) if made_with else self._embedder.model
        if model != self._embedder.model:
            raise wrong_model_error(model, self._embedder.model)


@dataclass(frozen=True, slots=True)
class CandidateText:
    """A text with its unit vector, in two forms: as given, and without its entity's name.

    Facts of the same entity, which are stored without its name, are compared with the second form,
    others with the whole text: what Alice prefers says nothing about Bob.
    """

    text: str
    vector: Vector
    owner: str = ""
    own_text: str = ""
    own_vector: Vector | None = None

    def compared_with(self, entity_id: str) -> tuple[str, Vector]:
        if self.own_vector is not None and entity_id == self.owner:
            return self.own_text, self.own_vector
        return self.text, self.vector

    def variants(
        self, facts: FactVectors, within: Flags | None
    ) -> Iterator[tuple[str, Vector, Flags | None]]:
        """Yield text and vector with a mask of the facts to compare them with; None for all."""
        if self.own_vector is None:
            yield self.text, self.vector, within
            return
        own = facts.owned_by(self.owner)
        for text, vector, mask in (
            (self.own_text, self.own_vector, own),
            (self.text, self.vector, ~own),
        ):
            mask = mask if within is None else mask & within
            if mask.any():
                yield text, vector, mask


def candidate_texts(
    texts: Sequence[str], subjects: Sequence[Entity | None], vectors: TextVectors
) -> Iterator[CandidateText]:
    stripped = [strip_subject(text, subject) for text, subject in zip(texts, subjects, strict=True)]
    rows = vectors.of([*texts, *stripped])
    for row, (text, own, subject) in enumerate(zip(texts, stripped, subjects, strict=True)):
        owner = subject.id if subject else ""
        if own == text:
            yield CandidateText(text, rows[row], owner)
        else:
            yield CandidateText(text, rows[row], owner, own, rows[len(texts) + row])


VECTOR_CACHE_SIZE = 1024
"""Number of vectors cached: while one text is edited, the others stay the same."""


class TextVectors:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vector_of: dict[str, Vector] = {}

    def of(self, texts: Sequence[str]) -> Vectors:
        """Return the vector of each text, shape (texts, dimension). Raises EmbeddingError."""
        new = sorted({text for text in texts if text not in self._vector_of})
        if new:
            self._vector_of |= zip(new, self._embedder.embed(new), strict=True)
        vectors = [self._vector_of[text] for text in texts]
        while len(self._vector_of) > VECTOR_CACHE_SIZE:
            del self._vector_of[next(iter(self._vector_of))]
        return np.stack(vectors) if vectors else np.zeros((0, self._embedder.dimension), np.float32)

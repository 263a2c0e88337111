"""Facts and open items in memory with their vectors, to be compared with. Read once per generation.

Only what stands is compared: superseded, archived and redacted lines are not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.index.paths.where_clause import quoted
from kbx_tui.index.rows import FACT_COLUMNS, fact_from_row
from kbx_tui.index.store import made_with_another
from kbx_tui.index.vectors.int8_codes import QuantizedVectors, nearest, quantize
from kbx_tui.knowledge.records import Fact
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.scoring.compared_words import normal_form

MOST_EMBEDDED = 2000
"""Facts without a vector that are embedded on the spot; beyond that `kbx index` has to do it."""
READ_ALL = 500
"""From so many vectors on, reading the whole table is faster than naming each."""

Matrix = NDArray[np.float32]
Vector = NDArray[np.float32]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Remembered:
    """Facts and open items that stand, in the order of their pages."""

    facts: tuple[Fact, ...]
    vectors: Matrix
    """Shape (n, dimension), unit length, row i belongs to fact i; zeros where there is none."""
    quantized: QuantizedVectors
    """The same as codes, which are read first."""
    missing: int
    """How many have no vector."""
    same: dict[str, list[int]]
    """Normal form of a text -> its rows."""
    rows_of: dict[str, list[int]]
    """Id of an entity -> the rows of its facts."""

    def owned_by(self, entity_id: str) -> NDArray[np.bool_]:
        """Return which facts belong to an entity, shape (n,)."""
        owned = np.zeros(len(self.facts), np.bool_)
        owned[self.rows_of.get(entity_id, [])] = True
        return owned

    def nearest(self, vector: Vector, count: int, within: Flags | None = None) -> Rows:
        """Return the rows with the highest cosines with a unit vector, in no order.

        `within` has shape (n,) and lets them in.
        """
        return nearest(self.vectors, self.quantized, vector, count, within)

    def cosines(self, vector: Vector, rows: Rows) -> Vector:
        """Return the cosines of some facts with a unit vector, by row."""
        found: Vector = self.vectors[rows] @ vector
        return found


def remember(facts: Sequence[Fact], vectors: Matrix, missing: int = 0) -> Remembered:
    """Return facts ready to be compared with."""
    same: dict[str, list[int]] = {}
    rows_of: dict[str, list[int]] = {}
    for row, fact in enumerate(facts):
        same.setdefault(normal_form(fact.text), []).append(row)
        rows_of.setdefault(fact.entity_id, []).append(row)
    return Remembered(tuple(facts), vectors, quantize(vectors), missing, same, rows_of)


class FactMemory:
    """Reads facts with their vectors: those of one entity, or of all once that is asked for."""

    def __init__(self, index: OpenIndex, embedder: Embedder) -> None:
        # Two BLAS threads on two busy cores are slower than one, see `vector_matrix`.
        threadpool_limits(limits=1, user_api="blas")
        self._index, self._embedder = index, embedder
        self._generation = -1
        self._known: dict[str, Remembered] = {}

    def all(self) -> Remembered:
        """Return the facts of all entities."""
        return self._of("")

    def of(self, entity_id: str) -> Remembered:
        """Return the facts of one entity."""
        return self._of(entity_id)

    def _of(self, entity_id: str) -> Remembered:
        generation = self._index.loaded().generation
        if generation != self._generation:
            self._known, self._generation = {}, generation
        if entity_id not in self._known:
            self._known[entity_id] = self._read(entity_id)
        return self._known[entity_id]

    def _read(self, entity_id: str) -> Remembered:
        where = "status = 'active'"
        if entity_id:
            where += f" AND entity_id = {quoted(entity_id)}"
        table = self._index.reader.rows("facts", [*FACT_COLUMNS, "text_hash"], where)
        table = table.sort_by([("path", "ascending"), ("line", "ascending")])
        facts = [fact_from_row(row) for row in table.to_pylist()]
        hashes = table["text_hash"].to_pylist()
        vectors, found = self._vectors(hashes)
        missing = np.flatnonzero(~found)
        if 0 < len(missing) <= MOST_EMBEDDED:
            vectors[missing] = self._embedder.embed([facts[row].text for row in missing])
            missing = missing[:0]
        return remember(facts, vectors, len(missing))

    def _vectors(self, hashes: Sequence[str]) -> tuple[Matrix, NDArray[np.bool_]]:
        """Return one vector per hash, zeros where there is none, and which were found."""
        vectors = np.zeros((len(hashes), self._embedder.dimension), np.float32)
        found = np.zeros(len(hashes), np.bool_)
        wanted: dict[str, list[int]] = {}
        for row, text_hash in enumerate(hashes):
            wanted.setdefault(text_hash, []).append(row)
        if not wanted:
            return vectors, found
        self._require_model()
        listed = ", ".join(map(quoted, wanted))
        where = f"text_hash IN ({listed})" if len(wanted) < READ_ALL else "text_hash != ''"
        table = self._index.reader.rows("vectors", ["text_hash", "vector"], where)
        stored = _as_matrix(table["vector"].combine_chunks(), vectors.shape[1])
        for place, text_hash in enumerate(table["text_hash"].to_pylist()):
            for row in wanted.get(text_hash, ()):
                vectors[row] = stored[place]
                found[row] = True
        return vectors, found

    def _require_model(self) -> None:
        made_with = self._index.reader.rows("meta", ["value"], "key = 'model'")["value"].to_pylist()
        model = json.loads(made_with[0]) if made_with else self._embedder.model
        if model != self._embedder.model:
            raise made_with_another(model, self._embedder.model)


def _as_matrix(column: Any, dimension: int) -> Matrix:
    flat: Matrix = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(-1, dimension)

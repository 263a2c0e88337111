"""Vectors as vectors.bin holds them, and their products with queries, exact or of int8 codes.

Chunks are compared in the context of their documents, weighted with the mean chunk and the title: a
chunk from the middle of a talk does not name the talk's topic. Chosen by the experiment "chunk in
the context of its document" in docs/quality.md.

    x = s c + e,  q = t d + f       with scales s, t, codes c, d and rounding errors e, f
    |q.x - s t (c.d)| <= |e| |q| + |s c| |f| <= |e| |q| + (|x| + |e|) |f|    (Cauchy-Schwarz)

Comparing vectors takes as long as reading them from memory. Where only the nearest are wanted, all
are compared by their codes, a quarter of the bytes; then those that the bound does not rule out are
compared exactly. The result equals that of comparing all exactly.

Exact products are bit-identical wherever a vector lies: BLAS multiplies full groups of rows
differently from a remainder, so a remainder is padded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kbx_tui.errors import IndexFault
from kbx_tui.index.arrays import Flags, Ints, Matrix, Rows, Starts, Vector, Versions
from kbx_tui.index.derived_files import DocumentFile, is_few
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import READ_ATTEMPTS, Store, batched_clauses, is_missing_file
from kbx_tui.index.tables import text_hash
from kbx_tui.index.versions import places_of, stored_versions
from kbx_tui.system import release_memory

MAX_CODE = 127
MAX_LENGTH = 1.001
"""Upper bound on the length of a vector: models return unit vectors, up to rounding."""
BLOCK = 8192
"""Vectors quantized or compared at a time, so that intermediate results fit the CPU's cache."""
COMPARED_EXACTLY = 4096
"""Number of vectors up to which `nearest` compares all exactly: reading their codes first saves no
time. Chosen by the experiment "few vectors" in docs/quality.md."""
PARALLEL_FROM = 3
SUMMATION_ERROR = 1e-5
"""Bound on how much the order of summation changes a product of a few thousand numbers."""


@dataclass(frozen=True)  # without slots, for the cached property
class QuantizedVectors:
    """Vectors of length at most 1 as int8 codes with one scale each (scalar quantization)."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    """Shape (n,): code times scale is the quantized number."""
    errors: NDArray[np.float32]
    """Shape (n,): length of the rounding error of each vector."""

    @classmethod
    def empty(cls, count: int, dimension: int) -> QuantizedVectors:
        """Return uninitialized storage for `count` vectors, to fill with `put`."""
        return cls(
            np.empty((count, dimension), np.int8),
            np.empty(count, np.float32),
            np.empty(count, np.float32),
        )

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, rows: Rows | slice) -> QuantizedVectors:
        return QuantizedVectors(self.codes[rows], self.scales[rows], self.errors[rows])

    def put(self, begin: int, vectors: Matrix) -> None:
        target = self.part(slice(begin, begin + len(vectors)))
        highest = np.abs(vectors).max(axis=1, initial=0.0)
        target.scales[:] = np.where(highest > 0.0, highest, 1.0) / np.float32(MAX_CODE)
        codes = np.rint(vectors / target.scales[:, None])
        target.errors[:] = np.linalg.norm(vectors - codes * target.scales[:, None], axis=1)
        target.codes[:] = np.nan_to_num(codes).astype(np.int8)

    @cached_property
    def max_error(self) -> float:
        """The largest of `errors`; cached, so the vectors must not change afterwards."""
        return float(self.errors.max())

    def products(
        self, query: Vector, begin: int = 0, end: int | None = None
    ) -> tuple[Matrix, float]:
        """Return the approximate product of `query` with each vector, and an error bound.

        The products have shape (n,), for the n vectors from `begin` up to `end`. The bound is
        infinite if a vector or the query holds NaN.
        """
        end = len(self) if end is None else end
        if begin >= end:
            return np.zeros(0, np.float32), 0.0
        quantized_query = quantize(query[None])
        products: Matrix = np.empty(end - begin, np.float32)

        def scan(first: int) -> None:
            block = slice(first, min(first + BLOCK, end))
            scaled = products[None, block.start - begin :][:, :BLOCK]
            scaled_dots(quantized_query, self.codes[block], self.scales[block], out=scaled)
            scaled *= quantized_query.scales

        parallel_scan(range(begin, end, BLOCK), scan, parallel_from=PARALLEL_FROM)
        error, query_error = self.max_error, float(quantized_query.errors[0])
        bound = float(np.linalg.norm(query)) * error + query_error * (MAX_LENGTH + error)
        return products, bound + SUMMATION_ERROR if np.isfinite(bound) else np.inf


def quantize(vectors: Matrix) -> QuantizedVectors:
    quantized = QuantizedVectors.empty(*vectors.shape)
    for begin in range(0, len(vectors), BLOCK):
        quantized.put(begin, vectors[begin : begin + BLOCK])
    return quantized


def scaled_dots(
    queries: QuantizedVectors,
    codes: NDArray[np.int8],
    scales: Vector,
    out: Matrix | None = None,
) -> Matrix:
    """Return the products of the queries' codes and `codes`, times `scales`.

    Shape (queries, codes).
    """
    import simsimd

    dots = simsimd.cdist(queries.codes, codes, "dot", out_dtype="float32")
    scaled: Matrix = np.multiply(np.asarray(dots), scales, out=out)
    return scaled


def nearest(
    vectors: Matrix,
    quantized: QuantizedVectors,
    query: Vector,
    count: int,
    within: NDArray[np.bool_] | None = None,
) -> Rows:
    """Return the rows of the `count` vectors with the highest products, in no particular order.

    `quantized` holds the codes of `vectors`, row by row; `within`, shape (n,), flags the rows to
    consider.
    """
    rows = np.arange(len(vectors)) if within is None else np.flatnonzero(within)
    if len(rows) <= count:
        return rows
    if len(vectors) <= COMPARED_EXACTLY:
        products = (vectors @ query)[rows]
        return rows[np.argpartition(products, -count)[-count:]]
    approximate, error_bound = quantized.products(query)
    if within is not None:
        approximate = approximate[rows]
    if np.isfinite(error_bound):
        lowest = np.partition(approximate, -count)[-count] - 2 * error_bound
        rows = rows[approximate >= lowest]
    exact = vectors[rows] @ query
    return rows[np.argpartition(exact, -count)[-count:]]


EXACT_BLOCK = 1024
"""Vectors per block: each block is compared with all queries before the next is read."""

GROUP = 8
"""Rows per group: BLAS computes a full group bit-identically at any place. 4 would suffice."""

EXACT_PARALLEL_FROM = 16


def products(vectors: Matrix, queries: Matrix, wanted: Flags) -> Matrix:
    """Return the product of each query with each vector, 0 in blocks without a wanted vector."""
    found = np.zeros((len(queries), len(vectors)), np.float32)
    grouped = len(vectors) - len(vectors) % GROUP
    blocks = [
        begin
        for begin in range(0, grouped, EXACT_BLOCK)
        if wanted[begin : begin + EXACT_BLOCK].any()
    ]

    def scan(begin: int) -> None:
        block = slice(begin, min(begin + EXACT_BLOCK, grouped))
        for row, query in enumerate(queries):
            np.dot(vectors[block], query, out=found[row, block])

    parallel_scan(blocks, scan, parallel_from=EXACT_PARALLEL_FROM)
    rest = np.arange(grouped, len(vectors))
    for row, query in enumerate(queries):
        found[row, rest] = products_of(vectors, rest, query)
    return found


def products_of(vectors: Matrix, rows: Rows, query: Vector) -> Matrix:
    """Return the products of some vectors, bit-identical to those of `products`."""
    padded = rows.take(np.arange(len(rows) + -len(rows) % GROUP), mode="wrap")
    found: Matrix = (vectors[padded] @ query)[: len(rows)]
    return found


Block = TypeVar("Block")


def parallel_scan(
    blocks: Sequence[Block], work: Callable[[Block], None], *, parallel_from: int
) -> None:
    """Call `work`, which should release the GIL, on every block.

    From `parallel_from` blocks on, two threads are used.
    """
    remaining = iter(blocks)  # shared: whichever thread is free takes the next block

    def run() -> None:
        for block in remaining:
            work(block)

    helper = _helper().submit(run) if len(blocks) >= parallel_from else None
    run()
    if helper is not None and not helper.cancel():
        helper.result()


@lru_cache(maxsize=1)
def _helper() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "kbx-vectors")


CHUNK_COLUMNS = ["version", "ordinal", "text_hash", "line_start", "line_end"]
VECTOR_COLUMNS = ["text_hash", "vector"]
CLAUSE_SIZE = 500
CHUNK_WEIGHT, DOCUMENT_WEIGHT, TITLE_WEIGHT = 0.7, 0.1, 0.2
"""Weights of best chunk, mean of all chunks, and title in the cosine of a document."""

NewArray = Callable[[str, DTypeLike, tuple[int, ...]], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class StoredVectors:
    versions: Versions
    document_rows: Rows
    """The documents that have chunks, as indices into `versions`, ascending."""
    starts: Starts
    """Where each of them starts in `chunks`, and where the last one ends."""
    lines: Ints
    """First and last line in its file of each chunk, 1-based, shape (m, 2)."""
    chunks: Matrix
    """Shape (m, dimension), unit length, by document, then position in the document."""
    contexts: Matrix
    """Weighted sum of mean chunk and title, shape (documents, dimension)."""
    chunk_weights: Vector
    """Weight of the best chunk of each document; higher where the title has no vector."""
    codes: NDArray[np.int8]
    """Weighted chunk plus context, for each chunk: `best_cosine` is the maximum by document."""
    code_scales: Vector
    code_errors: Vector
    profiles: Versions
    """Hash of the profile of each row of `entities`, empty without a vector."""
    entities: Matrix
    entity_codes: NDArray[np.int8]
    entity_scales: Vector
    entity_errors: Vector

    def quantized(self) -> QuantizedVectors:
        return QuantizedVectors(self.codes, self.code_scales, self.code_errors)

    def quantized_entities(self) -> QuantizedVectors:
        return QuantizedVectors(self.entity_codes, self.entity_scales, self.entity_errors)


def vectors_file(model: str, dimension: int) -> DocumentFile[StoredVectors]:
    version = f"4, {dimension} numbers each, {' '.join(model.split())}"
    return DocumentFile("vectors", version, StoredVectors)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many texts there are to embed, and how many of them have no vector."""

    texts: int
    missing: int

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(self.texts + other.texts, self.missing + other.missing)

    @property
    def share(self) -> float:
        """Share of the texts that have a vector, 0..1; 1 when there is nothing to embed."""
        return 1.0 - self.missing / self.texts if self.texts else 1.0


def read_coverage(store: Store) -> Coverage:
    texts, missing, profiles = count_texts(store, stored_versions(store))
    return Coverage(int(texts.sum()), int(missing.sum())) + profiles


def count_texts(store: Store, versions: Versions) -> tuple[Rows, Rows, Coverage]:
    """Return each document's texts and those without a vector, and the coverage of profiles."""
    hashes = store.rows("vectors", ["text_hash"])["text_hash"]
    chunks = store.rows("chunks", ["version", "text_hash"])
    documents = places_of(chunks["version"], versions)
    lacks_vector = places_of(chunks["text_hash"], hashes) < 0
    counted = documents >= 0
    texts = np.bincount(documents[counted], minlength=len(versions))
    missing = np.bincount(documents[counted & lacks_vector], minlength=len(versions))
    unsplit = np.flatnonzero(texts == 0)
    unsplit = unsplit[are_texts(store, versions[unsplit])]
    texts[unsplit] = missing[unsplit] = 1
    profiles = store.rows("entities", ["text_hash"])["text_hash"]
    lacking = int(np.count_nonzero(places_of(profiles, hashes) < 0))
    return texts, missing, Coverage(len(profiles), lacking)


def are_texts(store: Store, versions: Versions) -> Flags:
    """Return which documents without a chunk count as a text: those that are not blank."""
    if not len(versions):
        return np.zeros(0, np.bool_)
    blank = store.rows("documents", ["version"], r"NOT regexp_like(body, '\S')")
    return places_of(versions, blank["version"]) < 0


LENGTH_TOLERANCE = 1e-3
"""How far from 1 the length of a vector may be; Gemini's are rounded."""


def are_unit(vectors: Any) -> Flags:
    """Return which vectors of a pyarrow column are finite and of unit length."""
    flat = vectors.flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(flat.reshape(max(len(vectors), 1), -1), axis=1)[: len(vectors)]
    flags: Flags = np.abs(lengths - 1.0) < LENGTH_TOLERANCE
    return flags


class TableChanged(Exception):
    """The table of vectors changed between two reads."""


def read_vectors(
    store: Store, snapshot: Snapshot, rows: Rows, profiles: Versions, dimension: int
) -> tuple[StoredVectors, Coverage]:
    """Read the vectors of the documents at `rows` and of the profiles with these hashes.

    The coverage is that of the documents. Raises IndexForeign for vectors of another dimension,
    IndexFault when they cannot be read.
    """
    fault = IndexFault(f"the vectors at {store.uri} keep changing; try again later")
    for _ in range(READ_ATTEMPTS):
        try:
            layout = find_vectors(store, snapshot, rows, profiles, dimension)
            vectors = layout.read(lambda _, dtype, shape: np.zeros(shape, dtype))
        except TableChanged:
            continue
        except IndexFault as error:
            if not (store.reopen_if_replaced() or is_missing_file(error)):
                raise
            fault = error
        else:
            release_memory()
            return vectors, layout.coverage
    raise fault


@dataclass(frozen=True, slots=True)
class VectorLayout:
    arrays: Mapping[str, NDArray[Any]]
    """The fields of StoredVectors that hold no vectors and nothing computed from them."""
    wanted: tuple[Rows, Rows, Rows]
    """Row in the table of the vector of each chunk, of the title of each document, and of each
    profile; -1 without a vector."""
    coverage: Coverage
    dimension: int
    copy: Callable[[Sequence[Rows], Sequence[Matrix]], None]

    @property
    def is_complete(self) -> bool:
        return not self.coverage.missing and bool((self.wanted[2] >= 0).all())

    def read(self, new: NewArray) -> StoredVectors:
        """Read the vectors into new arrays. Raises TableChanged, and IndexFault."""
        chunks, documents, profiles = map(len, self.wanted)
        layouts: dict[str, tuple[DTypeLike, tuple[int, ...]]] = {
            "chunks": (np.float32, (chunks, self.dimension)),
            "contexts": (np.float32, (documents, self.dimension)),
            "chunk_weights": (np.float32, (documents,)),
            "codes": (np.int8, (chunks, self.dimension)),
            "code_scales": (np.float32, (chunks,)),
            "code_errors": (np.float32, (chunks,)),
            "entities": (np.float32, (profiles, self.dimension)),
            "entity_codes": (np.int8, (profiles, self.dimension)),
            "entity_scales": (np.float32, (profiles,)),
            "entity_errors": (np.float32, (profiles,)),
        }
        layouts |= {name: (known.dtype, known.shape) for name, known in self.arrays.items()}
        arrays = {name: new(name, *layout) for name, layout in layouts.items()}
        for name, known in self.arrays.items():
            arrays[name][:] = known
        vectors = StoredVectors(**arrays)
        # Into `contexts` go the vectors of the titles first.
        self.copy(self.wanted, (vectors.chunks, vectors.contexts, vectors.entities))
        codes, entity_codes = vectors.quantized(), vectors.quantized_entities()
        for of_documents, of_chunks in _blocks(vectors.starts):
            starts = vectors.starts[of_documents.start : of_documents.stop + 1] - of_chunks.start
            contexts, weights = document_contexts(
                vectors.chunks[of_chunks], starts, vectors.contexts[of_documents]
            )
            vectors.contexts[of_documents], vectors.chunk_weights[of_documents] = contexts, weights
            document = np.repeat(np.arange(len(contexts)), np.diff(starts))
            weighted = vectors.chunks[of_chunks] * weights[document, None] + contexts[document]
            codes.put(of_chunks.start, weighted)
        for begin in range(0, profiles, BLOCK):
            entity_codes.put(begin, vectors.entities[begin : begin + BLOCK])
        return vectors


def find_vectors(
    store: Store, snapshot: Snapshot, rows: Rows, profiles: Versions, dimension: int
) -> VectorLayout:
    """Find the vectors of the documents at `rows` and of the profiles with these hashes.

    Of many the whole table is passed over, and only these vectors are held; of a few just their
    rows are read. Raises as `read_vectors`.
    """
    store.require_dimension(dimension)
    versions = snapshot.versions[rows]
    titles = [text_hash(snapshot.titles[row]) for row in rows.tolist()]
    if is_few(len(rows), len(snapshot.versions)) and is_few(len(profiles), len(snapshot.entities)):
        documents = (version.decode() for version in versions.tolist())
        chunks = _rows_by_value(store, "chunks", CHUNK_COLUMNS, "version", documents)
        of_profiles = (each.decode() for each in profiles.tolist())
        wanted_hashes = {*of_profiles, *titles, *chunks["text_hash"].to_pylist()}
        table = _rows_by_value(store, "vectors", VECTOR_COLUMNS, "text_hash", wanted_hashes)
        hashes = table["text_hash"]
    else:
        chunks = store.rows("chunks", CHUNK_COLUMNS)
        table, hashes = None, store.rows("vectors", ["text_hash"])["text_hash"]

    def copy(wanted: Sequence[Rows], matrices: Sequence[Matrix]) -> None:
        copy_from = partial(gather, hashes=hashes, wanted=wanted, matrices=matrices)
        if table is None:
            store.read_batches("vectors", VECTOR_COLUMNS, copy_from)
        else:
            copy_from(table.to_batches())

    of_chunks = places_of(chunks["version"], versions)
    vectors = places_of(chunks["text_hash"], hashes)
    is_wanted = of_chunks >= 0
    order = np.flatnonzero(is_wanted & (vectors >= 0))
    order = order[np.lexsort((chunks["ordinal"].to_numpy()[order], of_chunks[order]))]
    present, starts = np.unique(of_chunks[order], return_index=True)
    of_titles = places_of([titles[document] for document in present.tolist()], hashes)
    unsplit = np.bincount(of_chunks[is_wanted], minlength=len(versions)) == 0
    missing = int(np.count_nonzero(is_wanted & (vectors < 0)))
    missing += int(np.count_nonzero(are_texts(store, versions[unsplit])))
    lines = [chunks[name].to_numpy()[order] for name in ("line_start", "line_end")]
    of_entities = places_of(profiles, hashes)
    return VectorLayout(
        arrays={
            "versions": versions,
            "document_rows": present,
            "starts": np.append(starts, len(order)),
            "lines": np.stack(lines, axis=1).astype(np.int32),
            "profiles": np.where(of_entities >= 0, profiles, b""),
        },
        wanted=(vectors[order], of_titles, of_entities),
        coverage=Coverage(len(order) + missing, missing),
        dimension=dimension,
        copy=copy,
    )


def document_contexts(chunks: Matrix, starts: Starts, titles: Matrix) -> tuple[Matrix, Vector]:
    """Return `StoredVectors.contexts` and `StoredVectors.chunk_weights`.

    `titles` has a row per document, all zeros for a title without a vector, whose weight then goes
    to chunk and document in proportion to theirs.
    """
    if not len(titles):
        return titles, np.zeros(0, np.float32)
    contexts = np.add.reduceat(chunks, starts[:-1], axis=0)
    lengths = np.linalg.norm(contexts, axis=1, keepdims=True)
    contexts *= DOCUMENT_WEIGHT / np.maximum(lengths, 1e-9)
    weights = np.where(titles.any(axis=1), 1.0, CHUNK_WEIGHT + DOCUMENT_WEIGHT).astype(np.float32)
    contexts += TITLE_WEIGHT * titles
    contexts /= weights[:, None]
    return contexts, (CHUNK_WEIGHT / weights).astype(np.float32)


def gather(
    batches: Iterable[Any], hashes: Any, wanted: Sequence[Rows], matrices: Sequence[Matrix]
) -> None:
    """Copy vectors of a table into matrices: for each of `wanted`, one by its rows in the table.

    Where a row is -1, the matrix stays as it is. `hashes` is the column by which the rows were
    chosen. Raises TableChanged when the table no longer has it.
    """
    import pyarrow as pa

    orders = [np.argsort(rows, kind="stable") for rows in wanted]
    ascending = [rows[order] for rows, order in zip(wanted, orders, strict=True)]
    begin = 0
    for batch in batches:
        end = begin + len(batch)
        now = pa.chunked_array([batch["text_hash"]])
        if not hashes.slice(begin, len(batch)).equals(now):
            raise TableChanged
        vectors = batch["vector"].flatten().to_numpy().reshape(len(batch), -1)
        for rows, order, matrix in zip(ascending, orders, matrices, strict=True):
            first, last = rows.searchsorted((begin, end)).tolist()
            matrix[order[first:last]] = vectors[rows[first:last] - begin]
        begin = end
    if begin < len(hashes):
        raise TableChanged


def _blocks(starts: Starts) -> Iterator[tuple[slice, slice]]:
    first = 0
    while first < len(starts) - 1:
        end = int(starts.searchsorted(starts[first] + BLOCK))
        end = min(max(end, first + 1), len(starts) - 1)
        yield slice(first, end), slice(int(starts[first]), int(starts[end]))
        first = end


def _rows_by_value(
    store: Store, name: str, columns: list[str], column: str, values: Iterable[str]
) -> Any:
    import pyarrow as pa

    clauses = list(batched_clauses(column, sorted(values), CLAUSE_SIZE)) or ["false"]
    return pa.concat_tables([store.rows(name, columns, clause) for clause in clauses])

"""Approximate search by meaning: an inverted file (IVF) over int8 codes, for very large bases.

Centroids are directions that the vectors of chunks gather around; each chunk is in the list of the
nearest. A search compares its query with the centroids, then with the codes in the lists of the
best ones. The codes lie in the order of the lists, so that each list is one read.

Source: Sivic & Zisserman 2003, "Video Google"; as part of vector search Jégou, Douze & Schmid 2011,
https://doi.org/10.1109/TPAMI.2010.57.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_file import digest_of
from kbx_tui.index.snapshot import Rows
from kbx_tui.index.vectors.int8_codes import Flags, Matrix, Vector, parallel_scan, quantize

EXACT_CHUNKS = 1_000_000
"""Chunks in scope up to which every search compares all of them: reading that many codes is a
small part of the time that a search may take (docs/scale.md)."""

ENTRIES_PER_DOCUMENT = 4
"""Best chunks looked at for each document wanted: several are often of one document."""


@dataclass(frozen=True, slots=True)
class VectorLists:
    """The arrays of vectors-ivf.bin, one-dimensional. Read-only.

    Lists refer to the vectors.bin that they were made from; with another one they are not used.
    """

    source: NDArray[np.uint32]
    """Digest of `StoredVectors.code_scales`, shape (1,)."""
    centroids: NDArray[np.float32]
    """Unit length, flattened from (lists, dimension)."""
    starts: Rows
    """Where each list starts, and where the last one ends, shape (lists + 1,)."""
    documents: NDArray[np.int32]
    """The document of each chunk, list by list, as an index into `StoredVectors.starts`."""
    codes: NDArray[np.int8]
    """`StoredVectors.codes` in the order of the lists."""
    scales: NDArray[np.float32]
    probes: Rows
    """How many lists a search of the whole base reads, shape (1,)."""
    recall: NDArray[np.float64]
    """Share of the ten best chunks that so many lists hold, measured on a sample, shape (1,)."""

    def belong_to(self, code_scales: NDArray[np.float32]) -> bool:
        """Return whether the lists were made from the vectors with these `code_scales`."""
        same_number = len(self.scales) == len(code_scales)
        return same_number and int(self.source[0]) == source_of(code_scales)

    def lists_to_read(self, scope_share: float) -> int:
        """Return how many lists to read when only a share of the chunks is in scope, above 0.

        Under a filter the best chunks in scope are spread over more lists.
        """
        return min(int(np.ceil(self.probes[0] / scope_share)), len(self.starts) - 1)

    def is_worth(self, scope_share: float) -> bool:
        """Return whether reading the lists is clearly faster than comparing all chunks in scope."""
        read = self.lists_to_read(scope_share) / (len(self.starts) - 1)
        return read <= scope_share / 2

    def best_documents(
        self, query: Vector, wanted: Flags | None, count: int, scope_share: float
    ) -> Rows:
        """Return at most `count` documents with the best chunks in the lists read, best first.

        `wanted` flags the documents in scope; None: all are. Both are indices into
        `StoredVectors.starts`.
        """
        centroids = self.centroids.reshape(len(self.starts) - 1, -1)
        lists = np.argsort(-(centroids @ query), kind="stable")[: self.lists_to_read(scope_share)]
        begins, ends = self.starts[lists].tolist(), self.starts[lists + 1].tolist()
        products = self._products(query, begins, ends)
        documents = np.concatenate(
            [self.documents[begin:end] for begin, end in zip(begins, ends, strict=True)]
        )
        if wanted is not None:
            in_scope = wanted[documents]
            products, documents = products[in_scope], documents[in_scope]
        if len(products) > (most := ENTRIES_PER_DOCUMENT * count):
            best = np.argpartition(-products, most)[:most]
            products, documents = products[best], documents[best]
        ordered = documents[np.argsort(-products, kind="stable")]
        _, first = np.unique(ordered, return_index=True)
        return ordered[np.sort(first)[:count]].astype(np.int64)

    def _products(self, query: Vector, begins: list[int], ends: list[int]) -> Matrix:
        """Return the approximate products of the query with the chunks in some lists."""
        import simsimd

        quantized, codes = quantize(query[None]), self.codes.reshape(len(self.scales), -1)
        offsets = np.cumsum([0, *(end - begin for begin, end in zip(begins, ends, strict=True))])
        products: Matrix = np.empty(offsets[-1], np.float32)

        def scan(number: int) -> None:
            entries = slice(begins[number], ends[number])
            if entries.start < entries.stop:
                dots = simsimd.cdist(quantized.codes, codes[entries], "dot", out_dtype="float32")
                out = products[None, offsets[number] : offsets[number + 1]]
                np.multiply(np.asarray(dots), self.scales[entries], out=out)

        parallel_scan(range(len(begins)), scan, parallel_from=2)
        return products


def source_of(code_scales: NDArray[np.float32]) -> int:
    """Return what tells vectors from others: the digest of the scales of their codes, in order."""
    return digest_of(np.ascontiguousarray(code_scales).view(np.uint8).data)

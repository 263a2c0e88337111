"""How many texts can be found by meaning: one count, for searches, `kbx status` and the app.

The texts are the chunks of all documents and the profiles of all entities. A document that was not
split into chunks yet counts as one text without a vector, a blank one as none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from typing import Any

from kbx_tui.index.store import Store

CHUNK_KEYS = ["version", "text_hash"]
"""Columns of chunks that `count_passages` needs."""


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
    """Count the texts of an index and those without a vector. Raises IndexFault."""
    embedded = set(store.column("vectors", "text_hash"))
    versions, chunks = store.column("documents", "version"), store.rows("chunks", CHUNK_KEYS)
    profiles = count_profiles(store.column("entities", "text_hash"), embedded)
    return count_passages(store, versions, chunks, embedded) + profiles


def count_passages(
    store: Store, versions: Sequence[str], chunks: Any, embedded: Container[str]
) -> Coverage:
    """Count the chunks of the documents with these versions, and documents not split yet.

    `chunks` is a table with `CHUNK_KEYS`, which may hold other documents too; `embedded` are the
    hashes that have a vector.
    """
    texts, missing = passages_by_version(store, versions, chunks, embedded)
    return Coverage(texts.total(), missing.total())


def passages_by_version(
    store: Store, versions: Sequence[str], chunks: Any, embedded: Container[str]
) -> tuple[Counter[str], Counter[str]]:
    """Return what `count_passages` counts for each version: texts, and those without a vector."""
    wanted, texts, missing = set(versions), Counter[str](), Counter[str]()
    for version, text_hash in zip(
        chunks["version"].to_pylist(), chunks["text_hash"].to_pylist(), strict=True
    ):
        if version in wanted:
            texts[version] += 1
            if text_hash not in embedded:
                missing[version] += 1
    unsplit = wanted - texts.keys()
    if unsplit:
        blank = store.rows("documents", ["version"], r"NOT regexp_like(body, '\S')")
        unsplit = unsplit.difference(blank["version"].to_pylist())
    texts.update(unsplit)
    missing.update(unsplit)
    return texts, missing


def count_profiles(hashes: Collection[str], embedded: Container[str]) -> Coverage:
    """Count entity profiles by their hashes, and those that have no vector."""
    return Coverage(len(hashes), sum(text_hash not in embedded for text_hash in hashes))

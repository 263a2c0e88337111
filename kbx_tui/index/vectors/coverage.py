"""How many texts can be found by meaning: one count, for searches, `kbx status` and the app.

The texts are the chunks of all documents and the profiles of all entities. A document that was not
split into chunks yet counts as one text without a vector, a blank one as none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.versions import VersionArray, places_of, stored_versions
from kbx_tui.index.store import Store

Counts = NDArray[np.int64]


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
    texts, missing, profiles = count_texts(store, stored_versions(store))
    return Coverage(int(texts.sum()), int(missing.sum())) + profiles


def count_texts(store: Store, versions: VersionArray) -> tuple[Counts, Counts, Coverage]:
    """Return how many texts each document with these versions has, and how many lack a vector.

    And the coverage of the profiles of entities. Raises IndexFault.
    """
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


def are_texts(store: Store, versions: VersionArray) -> NDArray[np.bool_]:
    """Return which documents without a chunk count as a text: those that are not blank."""
    if not len(versions):
        return np.zeros(0, np.bool_)
    blank = store.rows("documents", ["version"], r"NOT regexp_like(body, '\S')")
    return places_of(versions, blank["version"]) < 0

"""Versions of documents and hashes of texts as arrays, and lookups of each among others.

As Python objects, five million hashes take half a gigabyte.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import Rows, Versions
from kbx_tui.index.store import Store
from kbx_tui.index.tables import text_hash


def hash_array(column: Any) -> NDArray[np.bytes_]:
    """Return a pyarrow column of equally long hashes as an array, without making Python objects."""
    arrays = [_hashes_of(chunk) for chunk in column.chunks]
    return np.concatenate(arrays) if arrays else np.empty(0, np.bytes_)


def _hashes_of(texts: Any) -> NDArray[np.bytes_]:
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    sizes = np.diff(starts)
    if not len(sizes) or not sizes[0] or (sizes != sizes[0]).any():
        return np.array(texts.to_pylist() or [], dtype=np.bytes_)
    return np.frombuffer(data, f"S{int(sizes[0])}", len(texts), int(starts[0]))


def stored_versions(store: Store) -> Versions:
    return hash_array(store.rows("documents", ["version"])["version"])


def rows_of_versions(versions: Versions, current: Versions) -> Rows:
    """Return the index of each version among the current ones, -1 for one that is not there.

    Usually few versions differ, so the common prefix and suffix are compared as arrays.
    """
    shared = min(len(current), len(versions))
    before = _equal_until(current[:shared], versions[:shared])
    rest = shared - before
    after = _equal_until(current[::-1][:rest], versions[::-1][:rest])
    rows = np.full(len(versions), -1, np.int64)
    rows[:before] = np.arange(before)
    end, current_end = len(versions) - after, len(current) - after
    rows[end:] = np.arange(current_end, len(current))
    changed = current[before:current_end].tolist()
    row_of = {version: row for row, version in enumerate(changed, before)}
    rows[before:end] = [row_of.get(version, -1) for version in versions[before:end].tolist()]
    return rows


def _equal_until(first: Versions, second: Versions) -> int:
    differs = first != second
    return int(differs.argmax()) if differs.any() else len(first)


def have_same_versions(versions: Versions, others: Versions) -> bool:
    """Return whether two arrays hold the same versions in any order; compares checksums."""
    is_alike = versions.shape == others.shape and versions.dtype == others.dtype
    return is_alike and bool(np.array_equal(sums_of_versions(versions), sums_of_versions(others)))


def are_among(versions: Versions, others: Versions) -> NDArray[np.bool_]:
    return places_of(versions, others) >= 0


def count_differing(versions: Versions, others: Versions) -> int:
    if have_same_versions(versions, others):
        return 0
    shared = int(np.count_nonzero(are_among(versions, others)))
    return len(versions) + len(others) - 2 * shared


def sums_of_versions(versions: Versions) -> NDArray[np.uint64]:
    """Return a checksum of versions that ignores order: the sums modulo 2^64 of 8-byte words."""
    parts = -(-versions.dtype.itemsize // 8)
    padded = np.ascontiguousarray(versions.astype(f"S{8 * parts}", copy=False))
    sums: NDArray[np.uint64] = padded.view(np.uint64).reshape(len(versions), parts).sum(axis=0)
    return sums


def places_of(values: Any, among: Any) -> Rows:
    """Return the index of each text in another column, -1 if it is not there.

    Both may be pyarrow columns, lists of texts or arrays of bytes.
    """
    import pyarrow.compute as pc

    found: Rows = (
        pc.index_in(_texts(values), value_set=_texts(among))
        .fill_null(-1)
        .to_numpy()
        .astype(np.int64)
    )
    return found


def _texts(values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, np.ndarray):
        return pa.array(values, pa.binary()).cast(pa.string())
    return pa.array(values, pa.string()) if isinstance(values, list) else values


NO_STATE = np.empty(0, "S32")

TABLES_ID = "tables_id"
"""Key in table meta of the id that the first run gives to the tables of an index."""


def table_state(
    tables: Iterable[str],
    versions: Mapping[str, int],
    meta: Mapping[str, Any],
    documents: Versions | None = None,
) -> NDArray[np.bytes_]:
    """Return a hash of the state of some tables, and of documents with these versions.

    Shape (1,).
    """
    numbers = [versions[name] for name in tables]
    sums = [] if documents is None else [len(documents), *sums_of_versions(documents).tolist()]
    return np.array([text_hash(json.dumps([numbers, meta.get(TABLES_ID, ""), sums]))], "S32")

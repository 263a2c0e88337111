"""Vectors taken over from an index that is replaced, damaged or not: they are what takes long."""

from __future__ import annotations

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kbx_tui.errors import IndexFault
from kbx_tui.index import schema
from kbx_tui.index.integrity.noted_state import changed_files, read_noted_state
from kbx_tui.index.integrity.verified_files import VerifiedFiles
from kbx_tui.index.store import BATCH, Store
from kbx_tui.index.store_errors import translate_errors
from kbx_tui.removal import SALVAGE, remove_salvage

LENGTH_TOLERANCE = 1e-3
"""How far from 1 the length of a vector may be; Gemini's are rounded."""

ROWS_PER_COMMIT = 65_536
COLUMNS = ["text_hash", "vector"]


def salvage_vectors(old: Store, new: Store, *, model: str, dimension: int) -> int:
    """Copy the vectors of `model` from one index to another and return their number.

    Only intact ones: of files with their noted digest, finite, of unit length, and one per text.
    What cannot be read is left out. Raises IndexFault when `new` cannot be written.
    """
    taken: set[str] = set()
    waiting: list[Any] = []
    if model_of(old) == model:
        for rows in _readable_rows(old, dimension, Path(new.uri) / SALVAGE):
            if intact := _intact(rows, taken):
                waiting.append(intact)
            if sum(map(len, waiting)) >= ROWS_PER_COMMIT:
                _add(new, waiting)
        _add(new, waiting)
    return len(taken)


def model_of(store: Store) -> str:
    """Return the model of an index, damaged or not; empty when it is unknown."""
    try:
        with translate_errors("read table meta", store.uri):
            values = store.open_any("meta").search().select(["key", "value"]).to_arrow()
            texts = dict(zip(*values.to_pydict().values(), strict=True))
            return str(json.loads(texts["model"]))
    except (IndexFault, KeyError):
        pass
    with suppress(IndexFault):
        if noted := read_noted_state(store):
            return noted.model
    return ""


def _readable_rows(store: Store, dimension: int, folder: Path) -> Iterator[Any]:
    """Yield the rows of table vectors in batches; `folder` is for a copy without damaged files."""
    damaged = _damaged_files(store)
    if not damaged:
        try:
            with translate_errors("read table vectors", store.uri):
                table = store.open_any("vectors")
                if _holds_vectors(table, dimension):
                    yield from table.search().select(COLUMNS).to_batches(BATCH)
            return
        except IndexFault:
            pass  # a file is missing: take what the others hold
    try:
        _link_intact_files(Path(store.uri), folder, damaged)
        yield from _fragments(Store(str(folder)), dimension)
    except (IndexFault, OSError):
        return
    finally:
        remove_salvage(folder)


def _holds_vectors(table: Any, dimension: int) -> bool:
    """Return whether a table holds vectors of this dimension, in any precision."""
    expected = schema.vectors_schema(dimension)
    if table.schema.names != expected.names:
        return False
    text, vector = table.schema.types
    is_list = pa.types.is_fixed_size_list(vector) and vector.list_size == dimension
    return bool(text == schema.TEXT and is_list and pa.types.is_floating(vector.value_type))


def _damaged_files(store: Store) -> set[str]:
    """Return the files of table vectors that are not as noted, or as last compared without that."""
    try:
        noted = read_noted_state(store)
    except IndexFault:
        noted = None
    # From the file: another process may have compared more than this one knows.
    files = noted.files if noted else VerifiedFiles(Path(store.uri)).digests()
    of_vectors = {k: v for k, v in files.items() if k.startswith("vectors.lance/")}
    return set(changed_files(store, of_vectors))


def _link_intact_files(source: Path, target: Path, damaged: set[str]) -> None:
    for below, _, names in os.walk(source / "vectors.lance"):
        relative = Path(below).relative_to(source)
        (target / relative).mkdir(parents=True, exist_ok=True)
        for name in names:
            if (relative / name).as_posix() not in damaged:
                try:
                    os.link(source / relative / name, target / relative / name)
                except OSError:  # a file system without hard links
                    shutil.copyfile(source / relative / name, target / relative / name)


def _fragments(store: Store, dimension: int) -> Iterator[Any]:
    """Yield the rows of the fragments that can be read; the upper half of a row id is its fragment.

    A row id is known even where the row is not.
    """
    table = store.open_any("vectors")
    if not _holds_vectors(table, dimension):
        return
    with translate_errors("read table vectors", store.uri):
        listed = table.search().with_row_id(True).select(["_rowid"]).to_arrow()
    ids_of: dict[int, list[int]] = defaultdict(list)
    for row_id in listed["_rowid"].to_pylist():
        ids_of[row_id >> 32].append(row_id)
    for row_ids in ids_of.values():
        with suppress(IndexFault), translate_errors("read table vectors", store.uri):
            yield table.take_row_ids(row_ids).select(COLUMNS).to_arrow()


def _intact(rows: Any, taken: set[str]) -> Any:
    """Return the rows with a vector of unit length and a text not yet `taken`, which they join."""
    hashes = rows["text_hash"].to_pylist()
    column = rows["vector"]
    flat = (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).flatten()
    vectors = flat.to_numpy(zero_copy_only=False).astype(np.float32).reshape(len(hashes), -1)
    with np.errstate(all="ignore"):
        is_unit = np.abs(np.linalg.norm(vectors, axis=1) - 1.0) < LENGTH_TOLERANCE  # NaN fails too
    kept = []
    for row in np.flatnonzero(is_unit).tolist():
        if hashes[row] not in taken:
            taken.add(hashes[row])
            kept.append(row)
    table = pa.table([rows["text_hash"], rows["vector"]], names=COLUMNS)
    return table.take(pa.array(kept, pa.int64())) if kept else None


def _add(store: Store, waiting: list[Any]) -> None:
    """Store the waiting rows in one commit and forget them."""
    if waiting:
        with translate_errors("write vectors", store.uri):
            table = store.table("vectors")
            table.add(pa.concat_tables(waiting).combine_chunks().cast(table.schema))
    waiting.clear()

"""What becomes of an index that is damaged or outdated.

A new one is built beside the old one and takes its place by rename. At any moment a process may
die: there is either the old index or the new one. What is left beside them is removed, or put in
place, by the next run, which knows by the writer lock that nobody uses it.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from kbx_tui.errors import IndexFault, WriteFault
from kbx_tui.index import tables
from kbx_tui.index.array_file import VerifiedFiles, verified_files
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.index.derived_files import LISTS, VECTORS_NAME
from kbx_tui.index.lexical.text_files import refresh_text_files
from kbx_tui.index.noted_state import changed_files, find_damage, read_noted_state
from kbx_tui.index.store import BATCH, BUILD, Store, translate_errors
from kbx_tui.index.vectors.load_vectors import refresh_vectors_file
from kbx_tui.removal import SALVAGE, foreign_entries, remove_salvage
from kbx_tui.state_file import set_aside

RENAME_EXCHANGE = 2
"""Flag of renameat2 of Linux: exchanges two paths in one step."""
AT_FDCWD = -100


def new_index(store: Store) -> Store:
    """Return where to build the index that replaces `store`: the same place if it is empty."""
    folder = Path(store.uri)
    if not folder.exists() or not any(folder.iterdir()):
        return store
    return Store(f"{store.uri}.new-{uuid4().hex[:8]}")


def put_in_place(new: Store, store: Store, documents: int) -> None:
    """Let the finished index `new`, of so many documents, take the place of `store`.

    Raises IndexFault, with the old index still in place, when `new` cannot be read.
    """
    if damage := find_damage(new):
        raise IndexFault(f"the new index cannot be used: {damage[0]}")
    if (count := new.count("documents")) != documents:
        raise IndexFault(f"the new index has {count} documents instead of {documents}: try again")
    folder, new_folder = Path(store.uri), Path(new.uri)
    with translate_errors("replace the index", store.uri):
        if _exchange(new_folder, folder):
            replaced = new_folder
        else:
            replaced = folder.with_name(f"{folder.name}.old-{uuid4().hex[:8]}")
            folder.rename(replaced)
            new_folder.rename(folder)
    store.reopen()
    verified_files.cache_clear()
    with suppress(OSError, WriteFault):
        for name in foreign_entries(replaced):  # what someone put into the folder stays there
            other = replaced / name
            if os.path.lexists(folder / name):  # a link with the name of one of our files
                other = set_aside(other)
            other.rename(folder / other.name)
    Store(str(replaced)).remove()


def sweep_leftovers(store: Store) -> None:
    """Remove what runs that died left beside an index and in it.

    If one died while exchanging the two, the exchange is finished. For the holder of the lock.
    """
    folder = Path(store.uri)
    left = re.compile(rf"{re.escape(folder.name)}\.(new|old)-[0-9a-f]{{8}}")
    with suppress(OSError):
        beside = sorted(path for path in folder.parent.iterdir() if left.fullmatch(path.name))
        if not folder.exists():
            for path in [path for path in beside if (path / BUILD).exists()][:1]:
                path.rename(folder)
                beside.remove(path)
                store.reopen()
        for path in beside:
            with suppress(IndexFault):  # another folder of that name
                Store(str(path)).remove()
    store.remove_temporary_files()


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    paths = AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other)
    return bool(rename(*paths, RENAME_EXCHANGE) == 0)


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
    expected = tables.vectors_schema(dimension)
    if table.schema.names != expected.names:
        return False
    text, vector = table.schema.types
    is_list = pa.types.is_fixed_size_list(vector) and vector.list_size == dimension
    return bool(text == tables.TEXT and is_list and pa.types.is_floating(vector.value_type))


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


def rewrite_damaged_files(root: Path, store: Store) -> tuple[str, ...]:
    """Write the derived files again that `store` found damaged; return a sentence for each.

    While another process is indexing, or where nothing can be written, they stay as they are.
    """
    damaged = sorted(store.damaged_files - {LISTS.name})  # which takes minutes: `wide_scope_notes`
    if not damaged:
        return ()
    try:
        with writer_lock(root, wait=False):
            refresh_text_files(store)
            if VECTORS_NAME in damaged:
                meta = store.meta()
                refresh_vectors_file(store, model=meta["model"], dimension=meta["dimension"])
    except (IndexFault, KeyError):
        return tuple(
            f"{name} of the index is damaged: read from the tables instead, which is slower; "
            "`kbx index` writes it again"
            for name in damaged
        )
    store.damaged_files.difference_update(damaged)
    return tuple(rewritten_note(name) for name in damaged)


def rewritten_note(name: str) -> str:
    """Return the sentence about a derived file that was damaged and has been written again."""
    return f"{name} of the index was damaged and has been written again from the tables"

"""Repair and replacement of an index that is damaged or outdated.

A new index is built beside the old one and takes its place by a rename. Whenever a process dies,
either the old index or the new one is complete. The next run removes what is left beside them, or
puts it in place: as it holds the writer lock, it knows that nobody uses these leftovers.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from kbx_tui.errors import IndexFault, WriteFault
from kbx_tui.index.array_file import VerifiedFiles, verified_files
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.index.lexical.text_files import refresh_text_files
from kbx_tui.index.noted_state import changed_files, find_damage
from kbx_tui.index.stamp import read_stamp
from kbx_tui.index.store import BATCH, BUILD, Store, translate_errors
from kbx_tui.index.tables import table_schema
from kbx_tui.index.vectors.stored_vectors import are_unit
from kbx_tui.index.vectors.vector_lists import LISTS
from kbx_tui.index.vectors.vector_matrix import refresh_vectors_file
from kbx_tui.removal import foreign_entries
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
    """Let a finished index take the place of `store`, or raise IndexFault and leave that."""
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
    """Remove what runs that died left; if one died while exchanging two indices, finish that."""
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


ROWS_PER_COMMIT = 65_536
COLUMNS = ["text_hash", "vector"]


def copy_vectors(old: Store, new: Store, *, model: str, dimension: int) -> None:
    """Copy the vectors of `model` from the index being replaced, as computing them takes long.

    Copies none if any of their files is damaged, and only those that are finite and of unit length;
    unreadable ones are left out. Raises IndexFault when `new` cannot be written.
    """
    if model_of(old) != model or _has_damaged_vectors(old):
        return
    taken: set[str] = set()
    waiting: list[Any] = []
    with suppress(IndexFault):
        for rows in _stored_vectors(old, dimension):
            waiting.append(_intact(rows, taken))
            if sum(map(len, waiting)) >= ROWS_PER_COMMIT:
                _add(new, waiting)
    _add(new, waiting)


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
        if stamp := read_stamp(Path(store.uri)):
            return str(stamp.meta.get("model", ""))
    return ""


def _has_damaged_vectors(store: Store) -> bool:
    folder = Path(store.uri)
    try:
        stamp = read_stamp(folder)
    except IndexFault:
        stamp = None
    # From the file: another process may have compared more than this one knows.
    files = stamp.files if stamp else VerifiedFiles(folder).digests()
    of_vectors = {k: v for k, v in files.items() if k.startswith("vectors.lance/")}
    return bool(changed_files(store, of_vectors))


def _stored_vectors(store: Store, dimension: int) -> Iterator[Any]:
    with translate_errors("read table vectors", store.uri):
        table = store.open_any("vectors")
        if table.schema == table_schema("vectors", dimension):
            yield from table.search().select(COLUMNS).to_batches(BATCH)


def _intact(rows: Any, taken: set[str]) -> Any:
    """Return the rows with a vector of unit length and a text not yet `taken`, which they join."""
    hashes = rows["text_hash"].to_pylist()
    kept = []
    for row in np.flatnonzero(are_unit(rows["vector"])).tolist():
        if hashes[row] not in taken:
            taken.add(hashes[row])
            kept.append(row)
    return pa.Table.from_batches([rows]).select(COLUMNS).take(pa.array(kept, pa.int64()))


def _add(store: Store, waiting: list[Any]) -> None:
    if any(map(len, waiting)):
        with translate_errors("write vectors", store.uri):
            table = store.table("vectors")
            table.add(pa.concat_tables(waiting).cast(table.schema))
    waiting.clear()


def rewrite_damaged_files(root: Path, store: Store) -> tuple[str, ...]:
    """Rewrite the derived files that `store` found damaged; return a sentence for each.

    While another process is indexing, or if they cannot be written, they stay as they are.
    """
    damaged = sorted(store.damaged_files - {LISTS.name})  # which takes minutes: `wide_scope_notes`
    if not damaged:
        return ()
    try:
        with writer_lock(root, wait=False):
            refresh_text_files(store)
            if any(name.startswith("vectors") for name in damaged):
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
    return f"{name} of the index was damaged and has been written again from the tables"

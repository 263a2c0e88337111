"""Repair and replacement of an index that is damaged, outdated or was not made here.

A new index is built beside the old one and takes its place by a rename. Whenever a process dies,
either the old index or the new one is complete. The next run removes what is left beside them, or
puts it in place: as it holds the writer lock, it knows that nobody uses these leftovers.

An index that was not made here is put aside: it gets another name, and keeps it until the next one
is. Links are never followed here, and nothing is removed that another base has made.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import SystemRandom
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.errors import EmbeddingError, IndexFault, WriteFault
from kbx_tui.index.array_file import VerifiedFiles, verified_files
from kbx_tui.index.build.stages import add_vectors, read_texts
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.index.lexical.text_files import refresh_text_files
from kbx_tui.index.noted_state import changed_files, find_damage
from kbx_tui.index.ownership import index_id, is_own, mark_aside
from kbx_tui.index.stamp import read_stamp
from kbx_tui.index.store import BATCH, BUILD, Store, translate_errors
from kbx_tui.index.tables import table_schema
from kbx_tui.index.vectors.stored_vectors import (
    LENGTH_TOLERANCE,
    StoredVectors,
    are_unit,
    vectors_file,
)
from kbx_tui.index.vectors.vector_lists import LISTS
from kbx_tui.index.vectors.vector_matrix import refresh_vectors_file
from kbx_tui.index.versions import hash_array
from kbx_tui.removal import foreign_entries, has_marker
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


def put_aside(store: Store) -> Path | None:
    """Rename an index that must not be opened, and return its new path; None if there is none.

    One that was put aside before is removed. Raises IndexFault.
    """
    folder = Path(store.uri)
    if not store.foreign_words():
        return None
    aside = folder.with_name(f"{folder.name}.aside-{uuid4().hex[:8]}")
    with translate_errors("put an index aside", store.uri):
        for other in _beside(folder, "aside"):
            with suppress(IndexFault):  # another folder of that name
                Store(str(other)).remove()
        folder.rename(aside)
        mark_aside(aside)
    store.reopen()
    return aside


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
        # What someone put into the folder stays there; it may just have become a link elsewhere.
        for name in foreign_entries(replaced) if has_marker(replaced) else ():
            other = replaced / name
            if os.path.lexists(folder / name):  # a link with the name of one of our files
                other = set_aside(other)
            other.rename(folder / other.name)
    Store(str(replaced)).remove()


def sweep_leftovers(store: Store) -> None:
    """Remove what runs that died left; if one died while exchanging two indices, finish that."""
    folder = Path(store.uri)
    with suppress(OSError):
        beside = [path for path in _beside(folder, "new|old") if is_own(path)]
        if not os.path.lexists(folder):
            for path in [path for path in beside if (path / BUILD).exists()][:1]:
                path.rename(folder)
                beside.remove(path)
                store.reopen()
        owner = index_id(folder) if store.is_own else ""
        for path in beside:
            if owner in ("", index_id(path)):
                with suppress(IndexFault):  # replaced meanwhile
                    Store(str(path)).remove()
    store.remove_temporary_files()


def _beside(folder: Path, kinds: str) -> list[Path]:
    """Return the folders beside that of an index that runs named so, without links."""
    name = re.compile(rf"{re.escape(folder.name)}\.({kinds})-[0-9a-f]{{8}}")
    with suppress(OSError):
        beside = [path for path in folder.parent.iterdir() if name.fullmatch(path.name)]
        return sorted(path for path in beside if stat.S_ISDIR(path.lstat().st_mode))
    return []


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
    intact = (_intact(rows, taken) for rows in _stored_vectors(old, dimension))
    with translate_errors("write vectors", new.uri):
        schema = table_schema("vectors", dimension)
        new.table("vectors").add(pa.RecordBatchReader.from_batches(schema, intact))


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
    with suppress(IndexFault), translate_errors("read table vectors", store.uri):
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
    return rows.select(COLUMNS).take(pa.array(kept, pa.int64()))


SAMPLE = 32
"""Vectors of an index put aside that are compared with those of the model before any is used."""
SAME_TEXT = 0.98
"""Least cosine of two vectors of one text: processors round differently (docs/decisions)."""


def take_over_vectors(store: Store, embedder: Embedder) -> None:
    """Give an index without vectors those of its texts that an index put aside has.

    None are taken unless a random sample is what the model makes of the texts. Only vectors.bin is
    read: LanceDB opens no table of such an index. Raises IndexFault when `store` cannot be written.
    """
    if store.count("vectors"):
        return
    for folder in _beside(Path(store.uri), "aside"):
        hashes, vectors = _vectors_put_aside(folder, store, embedder)
        for begin in range(0, len(hashes), ROWS_PER_COMMIT):
            rows = slice(begin, begin + ROWS_PER_COMMIT)
            add_vectors(store, hashes[rows], vectors[rows])


def _vectors_put_aside(
    folder: Path, store: Store, embedder: Embedder
) -> tuple[list[str], NDArray[np.float32]]:
    """Return hashes and vectors, shape (n, dimension), of texts of `store`."""
    found: dict[str, NDArray[np.float32]] = {}
    try:
        with np.errstate(all="ignore"):  # as in `are_unit`
            for text, vector in _stored_by_hash(folder, store, embedder):
                if abs(float(np.linalg.norm(vector)) - 1.0) < LENGTH_TOLERANCE:
                    found.setdefault(text, vector)
        sample = SystemRandom().sample(sorted(found), min(SAMPLE, len(found)))
        texts = read_texts(store, sample)
        made = embedder.embed([texts[text] for text in sample])
        stored = np.array([found[text] for text in sample], np.float32)
        if not sample or (made * stored).sum(axis=1).min() < SAME_TEXT:
            return [], made
        return list(found), np.array(list(found.values()), np.float32)
    except (EmbeddingError, IndexFault):
        raise
    except Exception:  # whoever made the file decides what reading it raises
        return [], np.zeros((0, embedder.dimension), np.float32)


def _stored_by_hash(
    folder: Path, store: Store, embedder: Embedder
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the vectors in an index put aside of chunks and profiles in `store`, by text hash."""
    aside = Store(str(folder), is_copy=True)  # to map one file of it
    chunks = store.rows("chunks", ["version", "ordinal", "text_hash"])
    chunks = chunks.sort_by([("version", "ascending"), ("ordinal", "ascending")])
    versions, hashes = hash_array(chunks["version"]), chunks["text_hash"].to_pylist()
    profiles = set(store.column("entities", "text_hash"))
    file = vectors_file(embedder.model, embedder.dimension)
    for stored in filter(None, (file.map(aside), file.of_newer.map(aside))):
        _require_sizes(stored, embedder.dimension)
        of_documents = stored.versions[stored.document_rows]
        firsts, ends = (versions.searchsorted(of_documents, side) for side in ("left", "right"))
        of_chunks = zip(
            firsts.tolist(), ends.tolist(), pairwise(stored.starts.tolist()), strict=True
        )
        for first, end, (start, stop) in of_chunks:
            if end - first == stop - start:  # all chunks of this version of a document
                yield from zip(hashes[first:end], stored.chunks[start:stop], strict=True)
        for profile, vector in zip(stored.profiles.tolist(), stored.entities, strict=True):
            if profile.decode() in profiles:
                yield profile.decode(), vector


def _require_sizes(stored: StoredVectors, dimension: int) -> None:
    """Raise ValueError for arrays whose reading could take more memory than they have bytes."""
    documents, profiles = len(stored.document_rows), len(stored.profiles)
    shapes = {
        "versions": ("S32", (len(stored.versions),)),
        "document_rows": ("i8", (documents,)),
        "starts": ("i8", (documents + 1,)),
        "chunks": ("f4", (len(stored.chunks), dimension)),
        "profiles": ("S32", (profiles,)),
        "entities": ("f4", (profiles, dimension)),
    }
    for name, (dtype, shape) in shapes.items():
        array = getattr(stored, name)
        if array.dtype != np.dtype(dtype) or array.shape != shape:
            raise ValueError(f"{name} has another type or shape")


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

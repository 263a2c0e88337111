"""Words and bodies of all documents beside the index: caches, never more.

LanceDB holds the text, both files are derived from it. What they do not know by its version is
read from there, and analysed, when an index is opened: a missing, damaged or stale file costs time,
not results. A remote index has none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.lexical.bm25 import Part, WordIndex
from kbx_tui.index.lexical.bodies_file import Bodies, read_bodies, write_bodies
from kbx_tui.index.lexical.postings import make_postings, read_postings, write_postings
from kbx_tui.index.paths.where_clause import quoted
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store, translated

WORDS, BODIES, VECTORS = "words.bin", "bodies.bin", "vectors.bin"
"""The last is written and read by `index/vectors/vector_file.py`."""

STALE_SHARE = 0.05
"""Share of the documents that may differ from a file before a run of indexing writes it anew."""

BATCH = 500

Rows = NDArray[np.int64]


def open_words(store: Store, snapshot: Snapshot) -> WordIndex:
    """Return the words of the documents of `snapshot`, its rows. Raises IndexFault.

    Pages of entities can be found, but do not count in the statistics: half of a base may be such
    pages, short and made of names, and how rare a word is would depend on them. cacm-dev topic .573
    for .554, cranfield-dev .481 for .478, tc39-none person+project .927 for .923, locomo .827 for
    .830.
    """
    kept = read_postings(folder_of(store) / WORDS) if store.is_local else None
    parts = [] if kept is None else [Part(kept, rows_of(kept.names, snapshot.versions))]
    known = np.zeros(len(snapshot.versions), np.bool_)
    for part in parts:
        known[part.rows[part.rows >= 0]] = True
    missing = [snapshot.versions[row] for row in np.flatnonzero(~known)]
    if missing:
        found = _documents(store, ["version", "text"], missing, len(known))
        added = make_postings((row["version"], row["text"]) for row in found)
        parts.append(Part(added, rows_of(added.names, snapshot.versions)))
    typical = np.ones(len(known), np.bool_)
    typical[
        [snapshot.row_of[one.path] for one in snapshot.entities if one.path in snapshot.row_of]
    ] = False
    return WordIndex(parts, len(known), typical=typical)


def open_bodies(store: Store) -> Bodies | None:
    """Return the bodies that are kept in the file; None when there is none."""
    return read_bodies(folder_of(store) / BODIES) if store.is_local else None


def write_text_cache(store: Store) -> None:
    """Bring both files up to date, unless few documents changed: those are quick to read."""
    if not store.is_local:
        return
    folder, versions = folder_of(store), store.rows("documents", ["version"])["version"].to_pylist()
    postings, bodies = read_postings(folder / WORDS), read_bodies(folder / BODIES)
    if is_stale(None if postings is None else postings.names, versions):
        rows = _documents(store, ["version", "text"], versions, len(versions))
        made = make_postings((row["version"], row["text"]) for row in rows)
        with translated("write the words", store.uri):
            write_postings(made, folder / WORDS)
    if is_stale(None if bodies is None else bodies.names, versions):
        rows = _documents(store, ["version", "body", "body_line"], versions, len(versions))
        with translated("write the bodies", store.uri):
            write_bodies(
                folder / BODIES, ((row["version"], row["body"], row["body_line"]) for row in rows)
            )


def remove_text_cache(store: Store) -> None:
    """Delete all files: what they were derived from is made anew, by another program perhaps."""
    if store.is_local:
        for name in (WORDS, BODIES, VECTORS):
            with translated("tidy the index", store.uri):
                (folder_of(store) / name).unlink(missing_ok=True)


def rows_of(names: NDArray[np.bytes_], versions: Sequence[str]) -> Rows:
    """Return the row of each name among the versions of a snapshot, -1 where it holds none."""
    wanted = np.array(versions or [], dtype=np.bytes_)
    if np.array_equal(wanted, names):
        return np.arange(len(wanted))
    row_of = {version: row for row, version in enumerate(wanted.tolist())}
    return np.fromiter((row_of.get(name, -1) for name in names.tolist()), np.int64, len(names))


def is_stale(names: NDArray[np.bytes_] | None, versions: Sequence[str]) -> bool:
    """Tell whether a file that knows these documents, None without one, is to be written anew."""
    if names is None:
        return True
    differ = set(names.tolist()) ^ {version.encode() for version in versions}
    return not is_few(len(differ), len(versions))


def is_few(count: int, documents: int) -> bool:
    """Tell whether so many of all documents are rather read beside a file."""
    return count <= STALE_SHARE * documents


def folder_of(store: Store) -> Path:
    """Return where the files of a local index lie."""
    return Path(store.uri)


def _documents(
    store: Store, columns: list[str], wanted: Collection[str], total: int
) -> Iterator[dict[str, Any]]:
    """Yield the wanted documents, by path when they are most."""
    if not is_few(len(wanted), total):
        chosen = set(wanted)
        for batch in store.rows("documents", ["path", *columns]).sort_by("path").to_batches(BATCH):
            yield from (row for row in batch.to_pylist() if row["version"] in chosen)
        return
    versions = list(wanted)
    for at in range(0, len(versions), BATCH):
        listed = ", ".join(map(quoted, versions[at : at + BATCH]))
        yield from store.rows("documents", columns, f"version IN ({listed})").to_pylist()

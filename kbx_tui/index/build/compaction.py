"""When tables are compacted: copying one takes time, the files it no longer needs take space."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from shutil import disk_usage

from kbx_tui.errors import IndexFault
from kbx_tui.index.store import INDEXED_BY_PATH, PATH_INDEX, Store, bytes_in
from kbx_tui.index.store_errors import translate_errors
from kbx_tui.removal import INDEX_TABLES

MAX_FRAGMENTS = 8
"""Files of rows up to which a table is not compacted: a run adds one, and compacting copies all."""
MAX_STALE = 0.1
"""Share of rows that may be deleted, or missing in the index of their table."""
MAX_UNUSED, FEW_BYTES = 0.1, 200_000
"""Share of a table that may lie in files it no longer needs, and what does not matter anyway."""


def compact(store: Store, name: str) -> None:
    """Optimize a table if what that saves is worth copying it."""
    if _is_wasteful(store, name):
        store.optimize(name)


def _is_wasteful(store: Store, name: str) -> bool:
    with translate_errors(f"read table {name}", store.uri):
        table = store.table(name)
        stats = table.stats()
        count, needed = int(stats["num_rows"]), int(stats["total_bytes"])
        fragments = int(stats["fragment_stats"]["num_fragments"])
        stale = fragments * int(stats["fragment_stats"]["lengths"]["mean"]) - count  # deleted rows
        if name in INDEXED_BY_PATH:
            stale += int(table.index_stats(PATH_INDEX).num_unindexed_rows)
        unused = bytes_in(Path(store.uri) / f"{name}.lance") - needed
    return (
        fragments > MAX_FRAGMENTS
        or stale > MAX_STALE * count
        or unused > MAX_UNUSED * needed + FEW_BYTES
    )


def compact_if_short_of_space(store: Store) -> None:
    """Compact all tables when the disk could not hold a second copy.

    Never fails: compacting needs some space itself.
    """
    if not store.exists():
        return
    with suppress(OSError):
        if disk_usage(store.uri).free < store.size_bytes():
            for name in INDEX_TABLES:
                with suppress(IndexFault):
                    store.optimize(name)

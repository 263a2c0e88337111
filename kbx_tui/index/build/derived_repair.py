"""Writing damaged derived files again, outside of an index run."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.errors import IndexFault
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.index.derived_files import LISTS, VECTORS_NAME
from kbx_tui.index.lexical.load_bm25 import refresh_text_files
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.load_vectors import refresh_vectors_file


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

"""Replacing an index: the new one is built beside the old one and takes its place by rename.

At any moment a process may die: there is either the old index or the new one. What is left beside
them is removed, or put in place, by the next run, which knows by the writer lock that nobody uses
it.
"""

from __future__ import annotations

import ctypes
import os
import re
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from kbx_tui.errors import IndexFault, WriteFault
from kbx_tui.index.integrity.noted_state import find_damage
from kbx_tui.index.integrity.verified_files import verified_files
from kbx_tui.index.store import BUILD, Store
from kbx_tui.index.store_errors import translate_errors
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

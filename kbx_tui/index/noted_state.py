"""A check that the tables of an index are as the last run noted them in its stamp.

LanceDB never changes a file, so later runs only add digests. A digest is compared again only when
its file has changed on disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from kbx_tui.errors import IndexDamaged
from kbx_tui.index.array_file import digest_of_part, state_of, verified_files
from kbx_tui.index.ownership import digest_seed
from kbx_tui.index.stamp import DIGESTS, REBUILT, Stamp, read_stamp, write_stamp
from kbx_tui.index.store import Store, translate_errors
from kbx_tui.removal import INDEX_TABLES
from kbx_tui.state_file import open_regular_file

NOTED_FOLDERS = ("_versions", "data", "_deletions", "_indices")
"""Folders of a table whose files affect what is read from it."""
NOTED_ENDINGS = (".manifest", ".lance", ".arrow", ".bin", ".idx")


def note_state(store: Store) -> None:
    """Stamp an index with the state of its tables. Raises IndexFault.

    The caller must hold the writer lock. A file noted before keeps its digest, and no version goes
    down: damage must not become the state to compare with.
    """
    folder = Path(store.uri)
    with translate_errors("note the state of the index", store.uri):
        before = None
        with suppress(IndexDamaged):
            before = read_stamp(folder)
        known, versions = (before.files, before.versions) if before else ({}, {})
        files: dict[str, tuple[int, int]] = {}
        for name in _table_files(folder):
            with suppress(FileNotFoundError):
                files[name] = known.get(name) or _measured(folder, name)
        stamp = Stamp(
            {name: max(now, versions.get(name, 0)) for name, now in store.versions().items()},
            store.stored_counts(),
            store.stored_meta(),
            files,
        )
        if stamp != before:
            write_stamp(folder, stamp)
    verified_files(store.uri).keep()


def find_damage(store: Store) -> list[str]:
    """Return a sentence for each table that differs from the stamp; opens all tables."""
    return _compare(store)[1] or _wrong_stamp(store)


def undamaged_versions(store: Store) -> dict[str, int]:
    """Return the versions of the tables, opening none. Raises IndexDamaged if not as noted."""
    versions, damage = _compare(store)
    if damage:
        raise IndexDamaged(damage[0])
    return versions


def _compare(store: Store) -> tuple[dict[str, int], list[str]]:
    build = store.build_id()
    versions, damage = _compare_once(store)
    return _compare_once(store) if damage and store.build_id() != build else (versions, damage)


def _compare_once(store: Store) -> tuple[dict[str, int], list[str]]:
    try:
        stamp = read_stamp(Path(store.uri))
    except IndexDamaged as error:
        return {}, [str(error)]
    versions = store.versions()  # read after the stamp, which may be replaced meanwhile
    if stamp is None:
        return versions, [f"{store.uri}/{DIGESTS} is missing; {REBUILT}"]
    damage = [
        f"table {name} of the index at {store.uri} has version {versions[name]}, but "
        f"{stamp.versions[name]} was noted; {REBUILT}"
        for name in INDEX_TABLES
        if versions[name] < stamp.versions[name]
    ]
    changed = changed_files(store, stamp.files)
    tables = sorted({name.partition(".lance/")[0] for name in changed})
    return versions, damage + [
        f"table {table} of the index at {store.uri} has a changed file, "
        f"{next(name for name in changed if name.startswith(f'{table}.lance/'))}; {REBUILT}"
        for table in tables
    ]


def _wrong_stamp(store: Store) -> list[str]:
    if (stamp := read_stamp(Path(store.uri))) is None:
        return []  # the index is being replaced
    current, opened = store.versions(), store.opened_versions()
    counts, meta = store.stored_counts(), store.stored_meta()
    is_right = current == opened or store.versions() != current  # or written meanwhile
    for name, count in counts.items():
        is_right &= current[name] != stamp.versions[name] or stamp.counts[name] == count
    is_right &= current["meta"] != stamp.versions["meta"] or stamp.meta == meta
    return [] if is_right else [f"{store.uri}/{DIGESTS} does not fit the tables; {REBUILT}"]


def changed_files(store: Store, files: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return the noted files that exist but cannot be read, or have another size or digest."""
    folder, verified = Path(store.uri), verified_files(store.uri)
    changed = []
    for name, (size, digest) in files.items():
        try:
            state = state_of(folder / name)
            if verified.holds(name, state, digest):
                continue
            if state[1] == size and _digest(folder, name, size) == digest:
                verified.add(name, state, digest)
                continue
        except FileNotFoundError:  # no longer needed by the newest version
            continue
        except OSError:
            pass  # unreadable counts as changed
        changed.append(name)
    verified.keep()
    return changed


def _measured(folder: Path, name: str) -> tuple[int, int]:
    state = state_of(folder / name)
    digest = _digest(folder, name, state[1])
    verified_files(str(folder)).add(name, state, digest)
    return state[1], digest


def _digest(folder: Path, name: str, size: int) -> int:
    with open_regular_file(folder / name) as source:
        digest = digest_of_part(source, size, digest_seed(folder))
    return -1 if digest is None else digest


def _table_files(folder: Path) -> Iterator[str]:
    for table in INDEX_TABLES:
        for part in NOTED_FOLDERS:
            for below, _, names in os.walk(folder / f"{table}.lance" / part):
                relative = Path(below).relative_to(folder).as_posix()
                yield from (f"{relative}/{name}" for name in names if name.endswith(NOTED_ENDINGS))

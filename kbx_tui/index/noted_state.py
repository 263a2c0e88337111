"""The state in which a run left the index: versions and digests of the tables, in `DIGESTS`.

LanceDB has no checksums: a flipped bit gives other rows, and a lost manifest silently gives the
version before. So each run notes the version of every table and the digest of every file, and
readers compare. LanceDB never changes a file, so later runs only add to the list; a table may be
newer than noted, while a run is writing or after one was killed, but never older.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import msgspec

from kbx_tui.errors import IndexDamaged
from kbx_tui.index.array_file import digest_of, digest_of_part, state_of, verified_files
from kbx_tui.index.store import Store, translate_errors
from kbx_tui.removal import INDEX_TABLES, remove_temporary
from kbx_tui.state_file import read_regular_file

DIGESTS = "DIGESTS"
NOTED_FOLDERS = ("_versions", "data", "_deletions", "_indices")
"""Folders of a table whose files decide what is read."""
NOTED_ENDINGS = (".manifest", ".lance", ".arrow", ".bin", ".idx")
REBUILT = "the next index run rebuilds it"


class NotedState(msgspec.Struct, frozen=True):
    """What a run left behind."""

    model: str
    versions: dict[str, int]
    """Version of each table."""
    counts: dict[str, int]
    """Rows of each table but `meta`."""
    files: dict[str, tuple[int, int]]
    """Size and digest of each file of the tables, by its path in the index folder."""


def note_state(store: Store, model: str) -> None:
    """Note the state of an index, for the holder of the writer lock. Raises IndexFault.

    A file noted before keeps its digest, and no version falls: damage must not become the state to
    compare with.
    """
    folder = Path(store.uri)
    with translate_errors("note the state of the index", store.uri):
        try:
            before = read_noted_state(store)
        except IndexDamaged:
            before = None
        known = before.files if before else {}
        files: dict[str, tuple[int, int]] = {}
        for name in _table_files(folder):
            with suppress(FileNotFoundError):
                files[name] = known.get(name) or _measured(folder, name)
        before_versions = before.versions if before else {}
        versions = {
            name: max(version, before_versions.get(name, 0))
            for name, version in store.versions().items()
        }
        noted = NotedState(model, versions, store.counts(), files)
        if noted != before:
            _write(folder, noted)
    verified_files(store.uri).keep()


def read_noted_state(store: Store) -> NotedState | None:
    """Return the noted state; None where none was noted. Raises IndexDamaged."""
    file = Path(store.uri) / DIGESTS
    try:
        head, _, body = read_regular_file(file).partition(b"\n")
        if head == f"kbx digests 1 {digest_of(body):08x}".encode():
            return msgspec.json.decode(body, type=NotedState)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, msgspec.MsgspecError, RecursionError):
        pass
    raise IndexDamaged(f"{file} is damaged, so the index cannot be verified; {REBUILT}")


def find_damage(store: Store) -> list[str]:
    """Return a sentence for each table of an index that is not what was noted.

    Digests are compared once per state of a file. Raises IndexFault when tables cannot be opened.
    """
    return _compare(store)[1]


def undamaged_versions(store: Store) -> dict[str, int]:
    """Return the versions of the tables. Raises IndexDamaged when they are not what was noted."""
    versions, damage = _compare(store)
    if damage:
        raise IndexDamaged(damage[0])
    return versions


def _compare(store: Store) -> tuple[dict[str, int], list[str]]:
    """Return the versions and the damage, compared again if another index took the place."""
    build = store.build_id()
    versions, damage = _compare_once(store)
    return _compare_once(store) if damage and store.build_id() != build else (versions, damage)


def _compare_once(store: Store) -> tuple[dict[str, int], list[str]]:
    try:
        noted = read_noted_state(store)
    except IndexDamaged as error:
        return {}, [str(error)]
    if noted is not None and not noted.versions.keys() >= {*INDEX_TABLES}:
        return {}, [f"the index at {store.uri} was made by an older version; {REBUILT}"]
    versions = store.versions()  # read after the noted ones, which may be replaced meanwhile
    if noted is None:
        is_lost = bool(store.meta().get(DIGESTS.lower()))
        return versions, [f"{store.uri}/{DIGESTS} is missing; {REBUILT}"] if is_lost else []
    damage = [
        f"table {name} of the index at {store.uri} has version {versions[name]}, but "
        f"{noted.versions[name]} was noted; {REBUILT}"
        for name in INDEX_TABLES
        if versions[name] < noted.versions.get(name, 0)
    ]
    changed = changed_files(store, noted.files)
    tables = sorted({name.partition(".lance/")[0] for name in changed})
    return versions, damage + [
        f"table {table} of the index at {store.uri} has a changed file, "
        f"{next(name for name in changed if name.startswith(f'{table}.lance/'))}; {REBUILT}"
        for table in tables
    ]


def changed_files(store: Store, files: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return those of the noted files that exist and have another size or digest."""
    folder, verified = Path(store.uri), verified_files(store.uri)
    changed = []
    for name, (size, digest) in files.items():
        with suppress(FileNotFoundError):  # no longer needed by the newest version
            try:
                state = state_of(folder / name)
                if verified.holds(name, state, digest):
                    continue
                if state[1] == size and _digest(folder / name, size) == digest:
                    verified.add(name, state, digest)
                    continue
            except FileNotFoundError:
                raise
            except OSError:
                pass  # cannot be read
            changed.append(name)
    verified.keep()
    return changed


def _measured(folder: Path, name: str) -> tuple[int, int]:
    """Return size and digest of a new file, whose state is noted as verified."""
    state = state_of(folder / name)
    digest = _digest(folder / name, state[1])
    verified_files(str(folder)).add(name, state, digest)
    return state[1], digest


def _digest(file: Path, size: int) -> int:
    with file.open("rb") as source:
        digest = digest_of_part(source, 0, size)
    return -1 if digest is None else digest


def _table_files(folder: Path) -> Iterator[str]:
    """Yield the files of the tables that decide what is read, relative to the index folder."""
    for table in INDEX_TABLES:
        for part in NOTED_FOLDERS:
            for below, _, names in os.walk(folder / f"{table}.lance" / part):
                relative = Path(below).relative_to(folder).as_posix()
                yield from (f"{relative}/{name}" for name in names if name.endswith(NOTED_ENDINGS))


def _write(folder: Path, noted: NotedState) -> None:
    body = msgspec.json.encode(noted)
    temporary = folder / f"{DIGESTS}.{uuid4().hex}"
    try:
        with temporary.open("wb") as out:
            out.write(f"kbx digests 1 {digest_of(body):08x}\n".encode() + body)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(folder / DIGESTS)
    finally:
        remove_temporary(temporary)

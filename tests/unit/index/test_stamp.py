"""LanceDB opens no table that would make it read elsewhere."""

import os
import struct
from collections.abc import Callable
from pathlib import Path

import lancedb
import pyarrow as pa
import pytest

from kbx_tui.errors import IndexDamaged
from kbx_tui.index import stamp
from kbx_tui.index.array_file import FileState, state_of
from kbx_tui.index.ownership import index_id
from kbx_tui.index.stamp import require_sound_table
from kbx_tui.index.store import Store
from kbx_tui.removal import INDEX_TABLES

BASE_PATH = b"\x92\x01" + bytes([14]) + b"\x08\x01\x22\x0as3://thief"
"""Field 18 of a manifest: a base path with the id 1 and this path."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(str(tmp_path / "index"))
    store.create(model="bundled", dimension=3)
    return store


def manifests_of(store: Store, table: str) -> list[Path]:
    return sorted((Path(store.uri) / f"{table}.lance" / "_versions").glob("*.manifest"))


def change(manifest: Path, changed: Callable[[bytes], bytes]) -> None:
    """Change the protobuf message of a manifest, which stays readable."""
    data = manifest.read_bytes()
    (place,) = struct.unpack("<q", data[-16:-8])
    (size,) = struct.unpack_from("<I", data, place)
    message = changed(data[place + 4 : place + 4 + size])
    end = struct.pack("<I", len(message)) + message + data[-16:]
    manifest.write_bytes(data[:place] + end)


def check(store: Store, table: str) -> None:
    folder = Path(store.uri)
    require_sound_table(folder / f"{table}.lance", index_id(folder))


@pytest.mark.parametrize("table", INDEX_TABLES)
def test_tables_of_ours_are_sound_after_every_kind_of_write(store: Store, table: str) -> None:
    check(store, table)
    if table != "vectors":  # which are only added to
        store.replace(table, store.table(table).to_arrow())
        check(store, table)
    store.optimize(table)
    check(store, table)


def test_a_manifest_may_be_deleted_by_another_process_meanwhile(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def state_before_it_goes(manifest: Path) -> FileState:
        state = state_of(manifest)
        manifest.unlink()
        return state

    monkeypatch.setattr(stamp, "state_of", state_before_it_goes)
    check(store, "facts")
    assert not manifests_of(store, "facts")


@pytest.mark.parametrize("is_newest", [True, False])
def test_a_base_path_in_any_manifest_is_refused(store: Store, is_newest: bool) -> None:
    store.write_meta({"model": "bundled"})
    newest, *_, oldest = manifests_of(store, "meta")
    change(newest if is_newest else oldest, lambda message: message + BASE_PATH)
    assert lancedb.connect(store.uri).open_table("meta").count_rows() == 1  # LanceDB reads it
    store.reopen()
    with pytest.raises(IndexDamaged, match="names files outside its table"):
        store.table("meta")
    with pytest.raises(IndexDamaged, match="names files outside its table"):
        store.optimize("meta")


@pytest.mark.parametrize("is_new", [True, False])
def test_a_base_path_that_comes_while_a_table_is_open_is_refused(
    store: Store, is_new: bool
) -> None:
    assert store.count("facts") == 0
    (manifest,) = manifests_of(store, "facts")
    newer = manifest.with_name(f"{int(manifest.stem) - 1:020d}.manifest")  # named backwards
    data = manifest.read_bytes()
    manifest.unlink()
    (newer if is_new else manifest).write_bytes(data)
    change(newer if is_new else manifest, lambda message: message + BASE_PATH)
    for use in (store.stored_counts, lambda: store.rows("facts", ["text"]), store.opened_versions):
        with pytest.raises(IndexDamaged, match="names files outside its table"):
            use()


def test_a_base_path_is_found_however_its_key_is_written(store: Store) -> None:
    (manifest,) = manifests_of(store, "facts")
    change(manifest, lambda message: b"\x92\x81\x80\x00" + BASE_PATH[2:] + message)
    with pytest.raises(IndexDamaged, match="names files outside its table"):
        check(store, "facts")


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:-16] + struct.pack("<q", -8) + data[-8:],
        lambda data: data[:-16] + struct.pack("<q", 1 << 62) + data[-8:],
        lambda data: data[:-16] + struct.pack("<q", len(data)) + data[-8:],
        lambda data: b"\xff" * 4 + data[4:-16] + struct.pack("<q", 0) + data[-8:],
        lambda data: b"\x02\0\0\0\x0b\x0c" + data[-16:-16] + struct.pack("<q", 0) + data[-8:],
        lambda data: b"\x0b\0\0\0" + b"\x80" * 11 + struct.pack("<q", 0) + data[-8:],
        lambda data: b"\x02\0\0\0\x92\x01" + struct.pack("<q", 0) + data[-8:],
    ],
)
def test_an_unreadable_manifest_is_damage(store: Store, damage: Callable[[bytes], bytes]) -> None:
    (manifest,) = manifests_of(store, "facts")
    manifest.write_bytes(damage(manifest.read_bytes()))
    with pytest.raises(IndexDamaged, match="cannot be read"):
        check(store, "facts")


def test_a_table_of_another_index_is_refused(store: Store, tmp_path: Path) -> None:
    """As if `git pull` had put it over the files that it ignores."""
    schema = store.table("facts").schema
    for metadata in ({}, {"kbx index": "0" * 32}):
        database = lancedb.connect(store.uri)
        empty = pa.Table.from_pylist([], schema=schema.with_metadata(metadata))
        database.create_table("facts", empty, mode="overwrite")
        with pytest.raises(IndexDamaged, match="belongs to another index"):
            check(store, "facts")


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/tty")])
@pytest.mark.parametrize("name", ["data/1.lance", "_versions/1.manifest"])
def test_pipes_and_terminals_are_not_opened(
    store: Store, make: Callable[[Path], None], name: str
) -> None:
    file = Path(store.uri) / "facts.lance" / name
    file.parent.mkdir(exist_ok=True)
    make(file)
    with pytest.raises(IndexDamaged, match="not a regular file"):
        store.open_any("facts")


def test_a_table_that_is_a_link_is_not_opened(store: Store, tmp_path: Path) -> None:
    table = Path(store.uri) / "facts.lance"
    table.rename(tmp_path / "elsewhere")
    table.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IndexDamaged, match="it is a symbolic link"):
        store.table("facts")

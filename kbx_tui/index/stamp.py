"""The tables of an index without LanceDB: the state in which a run left them, and what their files
must be before LanceDB opens them.

LanceDB takes a second to import and has no checksums: a flipped bit gives other rows, and a lost
manifest silently gives the previous version. So each run notes in the stamp, `DIGESTS`, the version
and row count of each table, the content of table meta, and the digest of every file. A table may be
newer than noted, while a run is writing or after one was killed, but never older; the stamp does
not cover a newer one.

LanceDB also follows links, waits for pipes, and reads whatever a manifest names as a base path,
which may be an object store: it would ask that with the credentials of the user. So a table
consists of files and folders, and each of its manifests has no base path and the id of the index.

A manifest file ends with the position of the manifest, four bytes of version numbers and "LANC". At
that position is the length of a protobuf message, `Manifest` of Lance's table.proto, and then it.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from kbx_tui.errors import IndexDamaged
from kbx_tui.index.array_file import FileState, state_of
from kbx_tui.index.ownership import digest_seed
from kbx_tui.state_file import UnusableFile, check_regular_file, read_regular_file, replace_file

DIGESTS = "DIGESTS"
FORMAT = "kbx digests 2"
REBUILT = "the next index run rebuilds it"

_MANIFEST = re.compile(r"(\d{20})\.manifest")
_LAST = (1 << 64) - 1
"""LanceDB names the manifest of version n by this minus n, so that the newest sorts first."""


class Stamp(msgspec.Struct, frozen=True):
    versions: dict[str, int]
    counts: dict[str, int]
    meta: dict[str, Any]
    files: dict[str, tuple[int, int]]
    """Size and digest (CRC-32) of each file of the tables, by its path in the index folder."""


def read_stamp(folder: Path) -> Stamp | None:
    """Return the stamp of an index; None if there is none. Raises IndexDamaged."""
    file = folder / DIGESTS
    try:
        head, _, body = read_regular_file(file).partition(b"\n")
        if head == _head(folder, body):
            return msgspec.json.decode(body, type=Stamp)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, msgspec.MsgspecError, RecursionError):
        pass
    raise IndexDamaged(f"{file} is damaged, so the index cannot be verified; {REBUILT}")


def write_stamp(folder: Path, stamp: Stamp) -> None:
    body = msgspec.json.encode(stamp)
    replace_file(folder / DIGESTS, _head(folder, body) + b"\n" + body, is_synced=True)


def _head(folder: Path, body: bytes) -> bytes:
    return f"{FORMAT} {zlib.crc32(body, digest_seed(folder)):08x}".encode()


def newest_version(table: str) -> int | None:
    """Return the version of the table in a folder, from its manifests' names; None without any."""
    with suppress(OSError):
        names = os.listdir(f"{table}/_versions")  # noqa: PTH208 - faster than Path
        if manifests := [name for name in names if _MANIFEST.fullmatch(name)]:
            return _LAST - int(min(manifests).removesuffix(".manifest"))
    return None


ID_KEY = "kbx index"
"""Key of the index's id in the metadata of a table's schema."""
SCHEMA_METADATA, BASE_PATHS = 5, 18
"""Fields of `Manifest`."""

_END = struct.Struct("<qi4s")
_LENGTH = struct.Struct("<I")
_MAGIC = b"LANC"


def require_sound_table(table: Path, index_id: str) -> None:
    """Raise IndexDamaged for a table that LanceDB must not open. `index_id` may be empty."""
    sound, found = _known_to_be_sound(table, index_id), set[FileState]()
    for manifest in _manifests(table):
        try:
            state = state_of(manifest)
            fault = "" if state in sound else _fault_of(manifest, index_id)
        except FileNotFoundError:  # another process compacted the table meanwhile
            continue
        except (OSError, ValueError, IndexError, struct.error) as error:
            fault = f"cannot be read ({error})"
        if fault:
            raise IndexDamaged(f"{manifest} {fault}; {REBUILT}")
        found.add(state)
    sound &= found
    sound |= found


@lru_cache(64)
def _known_to_be_sound(table: Path, index_id: str) -> set[FileState]:
    """The manifests of a table as they were last checked: a run that adds one checks all."""
    return set()


def _fault_of(manifest: Path, index_id: str) -> str:
    fields = [*_fields(_message(read_regular_file(manifest)))]
    if any(number == BASE_PATHS for number, _ in fields):
        return "names files outside its table"
    metadata = [dict(_fields(pair)) for field, pair in fields if field == SCHEMA_METADATA]
    is_own = not index_id or {1: ID_KEY.encode(), 2: index_id.encode()} in metadata
    return "" if is_own else "belongs to another index"


def _manifests(path: Path) -> Iterator[Path]:
    """Yield the manifests at a path and below. Raises IndexDamaged for links, pipes and so on."""
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            for name in os.listdir(path):  # noqa: PTH208 - faster
                yield from _manifests(path / name)
            return
        check_regular_file(path, limit=None)
    except UnusableFile as error:
        raise IndexDamaged(f"{path} is not opened: {error.strerror}; {REBUILT}") from error
    except OSError:  # replaced meanwhile, or LanceDB reports it better
        return
    if path.suffix == ".manifest":
        yield path


def _message(data: bytes) -> bytes:
    position, _, magic = _END.unpack(data[-_END.size :])
    if magic != _MAGIC or position < 0:
        raise ValueError("it does not end as a manifest")
    (length,) = _LENGTH.unpack_from(data, position)
    start = position + _LENGTH.size
    if start + length > len(data):
        raise ValueError("it is cut off")
    return data[start : start + length]


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and value of each field of a message; numbers are left empty."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        size = 0
        match key & 7:  # the wire type
            case 0:  # a number
                _, place = _varint(message, place)
            case 1:
                size = 8
            case 2:  # bytes, a text or a message
                size, place = _varint(message, place)
            case 5:
                size = 4
            case kind:
                raise ValueError(f"it has a field of type {kind}")
        if place + size > len(message):
            raise ValueError("a field is cut off")
        yield key >> 3, message[place : place + size]
        place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """Return a number of up to ten bytes, and where the next field is."""
    number = 0
    for count in range(10):
        byte = message[place + count]
        number |= (byte & 0x7F) << (7 * count)
        if not byte & 0x80:
            return number, place + count + 1
    raise ValueError("a number is too long")

"""The stamp of an index, `DIGESTS`: the state in which a run left the tables, readable without
opening them.

LanceDB takes a second to import and has no checksums: a flipped bit gives other rows, and a lost
manifest silently gives the previous version. So each run notes the version and row count of each
table, the content of table meta, and the digest of every file. A table may be newer than noted,
while a run is writing or after one was killed, but never older; the stamp does not cover a newer
one.
"""

from __future__ import annotations

import os
import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from kbx_tui.errors import IndexDamaged
from kbx_tui.index.ownership import digest_seed
from kbx_tui.state_file import read_regular_file, replace_file

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

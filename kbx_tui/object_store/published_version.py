"""The objects below a URI: immutable files, a list of files per version, and the head.

    files/<SHA-256>-<revision>    a file of an index; two may have the same content
    manifests/<version>-<digest>  the files of one version of the index
    head.json                     the newest version, and who may publish the next one

Only the head ever changes, by conditional writes. Pure: nothing here accesses a store.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Annotated

import msgspec

from kbx_tui.errors import StoreFault

HEAD = "head.json"
FILES, MANIFESTS = "files", "manifests"
FORMAT = 1

FILE_KEY = re.compile(rf"{FILES}/(?P<digest>[0-9a-f]{{64}})-[0-9a-f]+")
MANIFEST_KEY = re.compile(rf"{MANIFESTS}/(?P<version>[0-9]{{10,}})-[0-9a-f]{{16}}")
"""Objects with other names below the URI are not ours: they are neither read nor deleted."""

Time = Annotated[float, msgspec.Meta(ge=0, le=1e11)]
"""Seconds since 1970, at most those of a year that `datetime` can format."""
Count = Annotated[int, msgspec.Meta(ge=0)]


class PublishedFile(msgspec.Struct, frozen=True):
    path: str
    """Path relative to the index folder, with `/`."""
    size: Count
    digest: str
    key: str


class Manifest(msgspec.Struct, frozen=True):
    version: Count
    published_at: Time
    """Time by the clock of the machine that published it."""
    files: tuple[PublishedFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


class Lease(msgspec.Struct, frozen=True):
    """Who may publish, and until when unless it is renewed."""

    host: str
    pid: int
    since: Time
    expires: Time
    """Time by the clock of the holder."""
    process_space: str = ""
    """The boot and PID namespace in which `pid` is valid; empty if unknown."""


class Head(msgspec.Struct, frozen=True):
    """The newest version. Each write has a higher `revision`, so that no two heads are equal."""

    revision: int
    version: Count = 0
    """Number of the newest version; 0 while nothing has been published."""
    manifest: str = ""
    manifest_digest: str = ""
    published_at: Time = 0.0
    swept_at: Time = 0.0
    """Time when objects that no version needs were last deleted."""
    lease: Lease | None = None
    format: int = FORMAT


class _Format(msgspec.Struct):
    format: int = FORMAT


def decode_head(data: bytes, uri: object) -> Head:
    """Decode a head. Raises StoreFault if it is damaged, or written by a newer kbx-tui."""
    try:
        if msgspec.json.decode(data, type=_Format).format > FORMAT:
            raise StoreFault(f"{uri} was published by a newer version of kbx-tui: update this one")
        return msgspec.json.decode(data, type=Head)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StoreFault(
            f"{uri}/{HEAD} is damaged, or of another program: name another place in [index] uri, "
            "or delete it and run `kbx index` where the files are"
        ) from error


def decode_manifest(data: bytes, head: Head, uri: object) -> Manifest:
    """Decode the manifest that a head names. Raises StoreFault unless its digest matches.

    Also raised for paths outside the index folder, as files are written where their paths say.
    """
    damaged = StoreFault(
        f"{uri}/{head.manifest} is not what was written: publish again, with `kbx index` where "
        "the files are"
    )
    if sha256(data).hexdigest() != head.manifest_digest:
        raise damaged
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise damaged from error
    paths = {PurePosixPath(file.path) for file in manifest.files}
    if len(paths) != len(manifest.files) or not all(map(_is_sound, manifest.files)):
        raise damaged
    return manifest


def _is_sound(file: PublishedFile) -> bool:
    """Return whether the path is inside the index folder, and the key has the file's digest."""
    path = PurePosixPath(file.path)
    is_inside = path.parts and ".." not in path.parts and not path.is_absolute()
    is_plain = file.path.isprintable() and not {"\\", ":"} & {*file.path}
    key = FILE_KEY.fullmatch(file.key)
    return bool(is_inside and is_plain and key and key["digest"] == file.digest)

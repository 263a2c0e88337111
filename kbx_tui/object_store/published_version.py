"""What is stored below a URI: immutable files, a list of files per version, and the head.

    files/<SHA-256>-<revision>    a file of an index; two may have the same content
    manifests/<version>-<digest>  the files of one version of the index
    head.json                     the newest version, and who may publish the next one

Only the head ever changes, by conditional writes. Pure: nothing here talks to a store.
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
"""Whatever else lies below the URI belongs to others, and is neither read nor deleted."""

Time = Annotated[float, msgspec.Meta(ge=0, le=1e11)]
"""Seconds since 1970, up to a year that can be shown."""
Count = Annotated[int, msgspec.Meta(ge=0)]


class PublishedFile(msgspec.Struct, frozen=True):
    path: str
    """Relative to the index folder, with `/`."""
    size: Count
    digest: str
    key: str


class Manifest(msgspec.Struct, frozen=True):
    version: Count
    published_at: Time
    """By the clock of the machine that published it."""
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
    """By the clock of the holder."""
    process_space: str = ""
    """Where `pid` is that of the holder; empty if unknown."""


class Head(msgspec.Struct, frozen=True):
    """The newest version. Each write of the head has a higher `revision`, so no two are equal."""

    revision: int
    version: Count = 0
    """0 while nothing has been published."""
    manifest: str = ""
    manifest_digest: str = ""
    published_at: Time = 0.0
    swept_at: Time = 0.0
    """When objects that no version needs were last deleted."""
    lease: Lease | None = None
    format: int = FORMAT


class _Format(msgspec.Struct):
    format: int = FORMAT


def decode_head(data: bytes, uri: object) -> Head:
    """Return a head that was read. Raises StoreFault for one that is damaged, or newer."""
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
    """Return the manifest that a head names. Raises StoreFault unless it is what was written.

    Paths outside the index folder are refused: they would be written where they say.
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
    """Return whether a file may be written where its path says, with what its key names."""
    path = PurePosixPath(file.path)
    is_inside = path.parts and ".." not in path.parts and not path.is_absolute()
    is_plain = file.path.isprintable() and not {"\\", ":"} & {*file.path}
    key = FILE_KEY.fullmatch(file.key)
    return bool(is_inside and is_plain and key and key["digest"] == file.digest)

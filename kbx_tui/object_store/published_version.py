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

import msgspec

from kbx_tui.errors import StoreFault

HEAD = "head.json"
FILES, MANIFESTS = "files", "manifests"
FORMAT = 1

_DIGEST = re.compile(r"[0-9a-f]{64}")


class PublishedFile(msgspec.Struct, frozen=True):
    """One file of a version."""

    path: str
    """Relative to the index folder, with `/`."""
    size: int
    digest: str
    """SHA-256 of the content, in hex."""
    key: str
    """The object that holds it."""


class Manifest(msgspec.Struct, frozen=True):
    """All files of one version of an index."""

    version: int
    published_at: float
    """Seconds since 1970, by the clock of the machine that published it."""
    files: tuple[PublishedFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


class Lease(msgspec.Struct, frozen=True):
    """Who may publish, and until when unless it is renewed."""

    host: str
    pid: int
    since: float
    expires: float
    """Seconds since 1970, by the clock of the holder."""


class Head(msgspec.Struct, frozen=True):
    """The newest version. Each write of the head has a higher `revision`, so no two are equal."""

    revision: int
    version: int = 0
    """0 while nothing has been published."""
    manifest: str = ""
    """Key of the manifest of the version."""
    manifest_digest: str = ""
    published_at: float = 0.0
    swept_at: float = 0.0
    """When objects that no version needs were last deleted."""
    lease: Lease | None = None
    format: int = FORMAT


def encode(content: Head | Manifest) -> bytes:
    """Return a head or a manifest as it is stored."""
    return msgspec.json.encode(content)


def decode_head(data: bytes, uri: object) -> Head:
    """Return a head that was read. Raises StoreFault for one that is damaged, or newer."""
    try:
        head = msgspec.json.decode(data, type=Head)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StoreFault(
            f"{uri}/{HEAD} is not what was written: delete it, then run `kbx index` where the "
            "files are"
        ) from error
    if head.format > FORMAT:
        raise StoreFault(f"{uri} was published by a newer version of kbx-tui: update this one")
    return head


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
    for file in manifest.files:
        parts = PurePosixPath(file.path).parts
        is_inside = parts and ".." not in parts and "\\" not in file.path and ":" not in file.path
        if not is_inside or file.path.startswith("/") or not _DIGEST.fullmatch(file.digest):
            raise damaged
    return manifest

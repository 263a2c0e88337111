"""The folder on this machine that holds copies of a published index.

    <cache>/stores/<digest of the URI>/
        mirror.json            which version is read
        mirror.lock            held by the process that fetches
        files/<SHA-256>        each file once, whatever versions have it
        versions/<n>-<id>/     an index folder, of links to these files
        versions/<n>-<id>.json its manifest

A version is complete before `mirror.json` names it. Several processes share the folder.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator, Set
from contextlib import suppress
from hashlib import blake2b, file_digest
from pathlib import Path
from uuid import uuid4

import msgspec

from kbx_tui.editing.atomic_write import write_atomically
from kbx_tui.object_store.published_version import Head, Manifest, PublishedFile, encode
from kbx_tui.object_store.store_uri import ENDPOINT_VARIABLES, StoreUri
from kbx_tui.removal import remove_mirror_file, remove_mirror_folder
from kbx_tui.state_file import decode_json, read_regular_file
from kbx_tui.user_folders import user_cache_folder

STORES, FILES, VERSIONS = "stores", "files", "versions"
STATE, LOCK = "mirror.json", "mirror.lock"
KEPT_SECONDS = 900.0
"""Time for which a version stays that was replaced: another process may be reading from it."""

_FILE = re.compile(r"[0-9a-f]{64}(\.[0-9a-f]{32})?")
_MANIFEST = re.compile(r"\d+-[0-9a-f]{8}\.json")


class MirroredVersion(msgspec.Struct, frozen=True):
    """The version that is read."""

    version: int
    manifest: str
    """Key of its manifest in the store."""
    folder: str
    """Name in `versions`."""
    published_at: float
    """Seconds since 1970."""


class MirrorFolder:
    """Copies of what is published at one URI; imports no client of an object store."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def current(self) -> MirroredVersion | None:
        """Return the version that is read; None if there is none, or its folder is gone."""
        with suppress(OSError, ValueError):
            state = decode_json(read_regular_file(self.path / STATE), MirroredVersion)
            if self.index_folder(state).is_dir():
                return state
        return None

    def index_folder(self, version: MirroredVersion | None) -> Path:
        """Return the index folder of a version; for None, one that does not exist."""
        return self.path / VERSIONS / (version.folder if version else "none")

    def create(self) -> None:
        """Make the folder, for this user only. Raises OSError."""
        for folder in (self.path, self.path / FILES, self.path / VERSIONS):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def file(self, file: PublishedFile) -> Path:
        """Return where the content of a file is kept."""
        return self.path / FILES / file.digest

    def holds(self, file: PublishedFile) -> bool:
        """Return whether the content of a file is there, by its size."""
        with suppress(OSError):
            return self.file(file).stat().st_size == file.size
        return False

    def put_in_place(self, manifest: Manifest, head: Head) -> None:
        """Make the index folder of a version whose files are all there, and let it be read.

        Raises OSError and WriteFault.
        """
        folder = self.path / VERSIONS / f"{manifest.version}-{uuid4().hex[:8]}"
        write_atomically(_manifest_file(folder), encode(manifest))
        for file in manifest.files:
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            _link(self.file(file), target)
        before = self.current()
        version = MirroredVersion(
            manifest.version, head.manifest, folder.name, manifest.published_at
        )
        write_atomically(self.path / STATE, msgspec.json.encode(version))
        if before is not None:
            with suppress(OSError):
                os.utime(self.index_folder(before))  # replaced now

    def discard(self, version: MirroredVersion) -> None:
        """Remove a version that is damaged, and its files that are. Raises OSError."""
        folder = self.index_folder(version)
        for file in self._files_of(folder):
            with suppress(FileNotFoundError):
                with self.file(file).open("rb") as source:
                    digest = file_digest(source, "sha256").hexdigest()
                if digest != file.digest:
                    remove_mirror_file(self.file(file))
        remove_mirror_folder(folder)

    def sweep(self, needed: Set[str] = frozenset()) -> None:
        """Remove what neither a version nor `needed` names, as far as possible.

        `needed` are digests. For the holder of the lock, while it fetches nothing.
        """
        current, oldest = self.current(), time.time() - KEPT_SECONDS
        kept = set(needed)
        with suppress(OSError):
            for manifest in self._named(VERSIONS, _MANIFEST):  # written before its folder
                folder = manifest.with_suffix("")
                is_current = current is not None and folder.name == current.folder
                age_of = folder if folder.is_dir() else manifest
                if is_current or age_of.stat().st_mtime >= oldest:
                    kept.update(file.digest for file in self._files_of(folder))
                else:
                    self._remove_version(manifest)
            for file in self._named(FILES, _FILE):
                is_unfinished = file.suffix != ""  # of a process that was killed
                if is_unfinished or (file.name not in kept and file.stat().st_mtime < oldest):
                    remove_mirror_file(file)

    def clear(self) -> None:
        """Remove all versions and files, as far as possible; for the holder of the lock."""
        with suppress(OSError):
            for manifest in self._named(VERSIONS, _MANIFEST):
                self._remove_version(manifest)
            for file in self._named(FILES, _FILE):
                remove_mirror_file(file)

    def size(self) -> int:
        """Return the bytes of all files."""
        total = 0
        with suppress(OSError), os.scandir(self.path / FILES) as entries:
            for entry in entries:
                total += entry.stat().st_size
        return total

    def last_used(self) -> float:
        """Return when a version was last put in place or confirmed, in seconds since 1970."""
        with suppress(OSError):
            return (self.path / STATE).stat().st_mtime
        return 0.0

    def confirm(self) -> None:
        """Note that the version is used, and that it is the newest."""
        with suppress(OSError):
            os.utime(self.path / STATE)

    def _named(self, folder: str, name: re.Pattern[str]) -> list[Path]:
        """Return what has a name of ours; systems put files of theirs into any folder."""
        return [each for each in (self.path / folder).iterdir() if name.fullmatch(each.name)]

    def _remove_version(self, manifest: Path) -> None:
        """Remove a version; its manifest stays until nothing else does."""
        folder = manifest.with_suffix("")
        if folder.is_dir():
            remove_mirror_folder(folder)
        if not folder.exists():
            remove_mirror_file(manifest)

    def _files_of(self, folder: Path) -> tuple[PublishedFile, ...]:
        """Return the files of a version; none if its manifest is damaged."""
        with suppress(OSError, ValueError):
            return decode_json(read_regular_file(_manifest_file(folder)), Manifest).files
        return ()


def mirror_of(uri: StoreUri) -> MirrorFolder:
    """Return the mirror of what is published at a URI. Another endpoint is another store."""
    endpoint = "\0".join(os.environ.get(name, "") for name in ENDPOINT_VARIABLES[uri.scheme])
    name = blake2b(f"{uri}\0{endpoint}".encode(), digest_size=8).hexdigest()
    return MirrorFolder(user_cache_folder() / STORES / name)


def all_mirrors() -> Iterator[MirrorFolder]:
    """Yield the mirrors of this user, the one longest unused first."""
    with suppress(OSError):
        mirrors = map(MirrorFolder, (user_cache_folder() / STORES).iterdir())
        yield from sorted(mirrors, key=lambda mirror: mirror.last_used())


def _manifest_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")


def _link(file: Path, target: Path) -> None:
    """Make a link to a file; a copy where the file system has none. Raises OSError."""
    try:
        os.link(file, target)
    except FileExistsError:  # to copy would change the file that is linked there
        raise
    except (OSError, NotImplementedError):
        shutil.copyfile(file, target)

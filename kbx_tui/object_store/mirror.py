"""Copies of a published index on this machine, and fetching the newest version into them.

    <cache>/stores/<digest of the URI>/
        mirror.json            which version is read
        mirror.lock            held by the process that fetches
        files/<SHA-256>        each file once, whatever versions have it
        versions/<n>-<id>/     an index folder, of links to these files
        versions/<n>-<id>.json its manifest

A version is complete before `mirror.json` names it. Several processes share the folder. Files that
are there already are not fetched again. Each is written to a temporary name, compared with its
digest, and renamed. Nothing waits for the disk: what a loss of power damages is noticed by whoever
opens the index, and fetched again.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from hashlib import blake2b, file_digest
from pathlib import Path
from uuid import uuid4

import msgspec
from filelock import FileLock, Timeout

from kbx_tui.editing.state_files import write_atomically
from kbx_tui.errors import StoreFault, WriteFault
from kbx_tui.formatting import format_size
from kbx_tui.object_store.object_client import RANGE, ObjectClient
from kbx_tui.object_store.published_version import (
    HEAD,
    Head,
    Manifest,
    PublishedFile,
    decode_head,
    decode_manifest,
    encode,
)
from kbx_tui.object_store.store_uri import ENDPOINT_VARIABLES, StoreUri
from kbx_tui.removal import remove_mirror_file, remove_mirror_folder
from kbx_tui.state_file import decode_json, read_regular_file
from kbx_tui.user_files import user_cache_folder

THREADS = 8
ATTEMPTS = 3
"""How often the newest version is read again when its files were deleted while being fetched."""

Progress = Callable[[int, int], object]
"""Receives the bytes fetched so far, and all that will be."""


def fetch_newest(
    client: ObjectClient,
    mirror: MirrorFolder,
    *,
    limit: int,
    progress: Progress = lambda done, total: None,
    on_wait: Callable[[], object] = lambda: None,
) -> bool:
    """Fetch the newest version; return False where nothing is published yet.

    `limit` is how many bytes all mirrors of this user may have. Where another process is fetching,
    this one waits only if there is no version to read, after calling `on_wait`. Raises StoreFault.
    """
    head = _head(client if mirror.current() is None else client.impatient())
    if head is None or not head.version:
        return False
    if _is_current(mirror, head):
        mirror.confirm()
        return True
    with _translate_cache_errors(client, mirror):
        mirror.create()
        try:
            with FileLock(mirror.path / LOCK, timeout=0):
                _fetch(client, mirror, limit, progress)
        except Timeout:
            if mirror.current() is None:
                on_wait()
                with FileLock(mirror.path / LOCK):
                    _fetch(client, mirror, limit, progress)
    return True


def discard_damaged(client: ObjectClient, mirror: MirrorFolder, damaged: MirroredVersion) -> None:
    """Remove a version, unless another process has replaced it.

    Raises StoreFault, with the version still there, where no other could be fetched.
    """
    if client.read(HEAD) is None:
        raise StoreFault(f"nothing is published at {client.uri} any more")
    with _translate_cache_errors(client, mirror), FileLock(mirror.path / LOCK):
        if mirror.current() == damaged:
            mirror.discard(damaged)


@contextmanager
def _translate_cache_errors(client: ObjectClient, mirror: MirrorFolder) -> Iterator[None]:
    try:
        yield
    except (OSError, WriteFault) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreFault(
            f"cannot keep a copy of {client.uri} in {mirror.path} ({reason}): free some space, or "
            "set KBX_CACHE_DIR to another folder"
        ) from error


def _head(client: ObjectClient) -> Head | None:
    found = client.read(HEAD)
    return decode_head(found[0], client.uri) if found else None


def _is_current(mirror: MirrorFolder, head: Head) -> bool:
    current = mirror.current()
    return current is not None and current.manifest == head.manifest


def _fetch(client: ObjectClient, mirror: MirrorFolder, limit: int, progress: Progress) -> None:
    """Fetch the version that is the newest by now, for the holder of the lock."""
    for _ in range(ATTEMPTS):
        head = _head(client)
        if head is None or _is_current(mirror, head):
            return
        stored = client.read(head.manifest)
        if stored is None:
            continue
        manifest = decode_manifest(stored[0], head, client.uri)
        mirror.sweep(needed={file.digest for file in manifest.files})
        missing = {file.digest: file for file in manifest.files if not mirror.holds(file)}
        _make_room(client, mirror, manifest, list(missing.values()), limit)
        try:
            _fetch_files(client, mirror, list(missing.values()), progress)
        except FileNotFoundError:
            continue  # replaced, and deleted, while it was being fetched
        mirror.put_in_place(manifest, head)
        mirror.sweep()
        return
    raise StoreFault(
        f"{client.uri} lacks files of its newest version: run `kbx index` where the files are"
    )


def _make_room(
    client: ObjectClient,
    mirror: MirrorFolder,
    manifest: Manifest,
    missing: list[PublishedFile],
    limit: int,
) -> None:
    """Remove mirrors that were not used for longest until there is room. Raises StoreFault."""
    if manifest.size > limit:
        raise StoreFault(
            f"the index at {client.uri} has {format_size(manifest.size)}, but copies may take "
            f"{format_size(limit)}: raise [index] cache_mb in kbx.toml"
        )
    needed = sum(file.size for file in missing)
    others = [other for other in all_mirrors() if other.path != mirror.path]
    taken = mirror.size() + sum(other.size() for other in others)
    for other in others:
        if taken + needed <= limit:
            break
        size = other.size()
        with suppress(OSError, Timeout), FileLock(other.path / LOCK, timeout=0):
            other.clear()
            taken -= size


def _fetch_files(
    client: ObjectClient, mirror: MirrorFolder, files: list[PublishedFile], progress: Progress
) -> None:
    """Fetch files in parallel. Raises StoreFault, FileNotFoundError and OSError."""
    total, done = sum(file.size for file in files), 0
    progress(0, total)
    largest_first = sorted(files, key=lambda file: -file.size)
    downloads = [_Download(client, file, mirror.file(file)) for file in largest_first]
    with ThreadPoolExecutor(THREADS) as threads:
        try:
            pending = {
                threads.submit(download.fetch, start, end): end - start
                for download in downloads
                for start, end in download.ranges
            }
            for future in as_completed(pending):
                future.result()
                done += pending[future]
                progress(done, total)
        finally:
            threads.shutdown(cancel_futures=True)
            for download in downloads:
                download.tidy()


class _Download:
    """A file of which ranges are fetched in any order, by several threads."""

    def __init__(self, client: ObjectClient, file: PublishedFile, target: Path) -> None:
        self._client, self._file, self._target = client, file, target
        self._temporary = target.with_name(f"{target.name}.{uuid4().hex}")
        self._temporary.touch(exist_ok=False)
        starts = range(0, file.size, RANGE) or (0,)
        self.ranges = [(start, min(start + RANGE, file.size)) for start in starts]
        self._left, self._lock = len(self.ranges), threading.Lock()

    def fetch(self, start: int, end: int) -> None:
        """Fetch a range; the last one puts the file in place. Raises as `_fetch_files`."""
        if end > start:
            with self._temporary.open("r+b") as out:
                out.seek(start)
                out.write(self._client.read_range(self._file.key, start, end))
        with self._lock:
            self._left -= 1
            is_complete = not self._left
        if is_complete:
            self._put_in_place()

    def tidy(self) -> None:
        """Remove what was not put in place."""
        remove_mirror_file(self._temporary)

    def _put_in_place(self) -> None:
        with self._temporary.open("rb") as source:
            if file_digest(source, "sha256").hexdigest() != self._file.digest:
                raise StoreFault(
                    f"{self._client.uri}/{self._file.key} is not what was published: delete it "
                    "there, then run `kbx index` where the files are"
                )
        self._temporary.replace(self._target)


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

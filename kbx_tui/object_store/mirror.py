"""Copies of a published index on this machine, and fetching the newest version into them.

The machine that publishes has its own index in `.kbx/index`, which `.kbx/published.json` notes; any
other reads the mirror of what is published. A client is made only where a store is read.

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
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b, file_digest
from pathlib import Path
from uuid import uuid4

import msgspec
from filelock import FileLock, Timeout

from kbx_tui.editing.state_files import replace_state_file, state_folder, write_atomically
from kbx_tui.errors import NotFound, StoreFault, WriteFault
from kbx_tui.formatting import format_minute, format_size
from kbx_tui.object_store.object_client import RANGE, ObjectClient, Progress, transferred
from kbx_tui.object_store.published_version import (
    HEAD,
    Head,
    Manifest,
    PublishedFile,
    decode_manifest,
)
from kbx_tui.object_store.store_uri import ENDPOINT_VARIABLES, OFFLINE, StoreUri
from kbx_tui.removal import STATE_FOLDER, remove_mirror_file, remove_mirror_folder
from kbx_tui.state_file import decode_json, read_regular_file
from kbx_tui.user_files import user_cache_folder

NOTE = "published.json"
CHECK_SECONDS = 30.0
PROGRESS_SECONDS = 10.0
"""Time between two notices about the same download."""
NOTICED_BYTES = 10_000_000
"""Size of a download from which it is announced."""


FILES_LOOKED_FOR = 1000
"""Files of a published index that are looked for, to know whether the base has files here."""


class _Note(msgspec.Struct):
    uri: str


def publishes_from_here(root: Path, uri: StoreUri) -> bool:
    with suppress(OSError, ValueError):
        note = decode_json(read_regular_file(root / STATE_FOLDER / NOTE), _Note)
        return note.uri == str(uri)
    return False


def note_publisher(root: Path, uri: StoreUri) -> None:
    note = msgspec.json.encode(_Note(str(uri)))
    replace_state_file(state_folder(root) / NOTE, note)


def mirrored_index(uri: StoreUri) -> Path:
    """Return the folder of the version that was fetched last; it is missing before the first."""
    mirror = mirror_of(uri)
    return mirror.index_folder(mirror.current())


def files_here(root: Path, paths: Sequence[str]) -> Iterator[bool]:
    for path in paths[:: max(1, len(paths) // FILES_LOOKED_FOR)]:
        yield (root / path).exists()


class PublishedIndex:
    """The published index that one session reads. Cheap to make; not thread-safe."""

    def __init__(self, uri: StoreUri, *, limit: int, notice: Callable[[str], None]) -> None:
        """`limit` is how many bytes all mirrors of this user may have."""
        self.uri, self._limit, self._notice = uri, limit, notice
        self._mirror = mirror_of(uri)
        self._version: MirroredVersion | None = None
        self._checked_at: float | None = None
        self._thread: threading.Thread | None = None
        self._is_reachable = True
        self.failure = ""
        """Why the store could not be read the last time; empty if it could."""

    def open(self) -> str:
        self._version = self._mirror.current()
        return str(self._mirror.index_folder(self._version))

    def has_newer(self) -> bool:
        return self._mirror.current() != self._version

    def words(self) -> str:
        version = self._version
        if version is None:
            return f"{self.uri}, nothing yet"
        words = f"{self.uri}, version {version.version} of {format_minute(version.published_at)}"
        return f"{words}; {self.failure}" if self.failure else words

    def notes(self, *, has_files: bool) -> tuple[str, ...]:
        version, notes = self._version, []
        when = format_minute(version.published_at) if version else ""
        if self.failure:
            notes.append(f"{self.failure}; this is the version published {when}")
        if not has_files:
            notes.append(f"the files are not here, so redactions are those published {when}")
        return tuple(notes)

    def update(self) -> None:
        """Fetch the newest version on the first call; later, look for it now and then on a thread.

        Raises StoreFault, or NotFound where nothing is published, if there is nothing to read.
        """
        now, is_here = time.monotonic(), self._mirror.current() is not None
        if os.environ.get(OFFLINE):
            if not is_here:
                raise NotFound(
                    f"there is no copy of {self.uri} on this machine yet ({OFFLINE} is set)"
                )
        elif self._checked_at is None or not is_here:
            self._checked_at = now
            self._fetch(self._notice)
            if self._mirror.current() is None:
                if not self._is_reachable:
                    raise StoreFault(self.failure)
                raise NotFound(
                    f"nothing is published at {self.uri} yet: run `kbx index` on the machine that "
                    "has the files"
                )
        elif now - self._checked_at > CHECK_SECONDS and not (
            self._thread and self._thread.is_alive()
        ):
            self._checked_at = now
            self._thread = threading.Thread(
                target=self._fetch, args=(lambda text: None,), name="kbx-mirror", daemon=True
            )
            self._thread.start()

    def fetch_again(self) -> None:
        """Replace the opened version, which is damaged. Raises StoreFault, leaving it in place."""
        if os.environ.get(OFFLINE):
            raise StoreFault(f"{OFFLINE} is set")
        if self._version is not None:
            discard_damaged(ObjectClient(self.uri), self._mirror, self._version)
        self._checked_at = None
        self.update()

    def _fetch(self, notice: Callable[[str], None]) -> None:
        said_at = 0.0

        def progress(done: int, total: int) -> None:
            nonlocal said_at
            now = time.monotonic()
            if total >= NOTICED_BYTES and now - said_at > PROGRESS_SECONDS:
                said_at = now
                sizes = f"{format_size(done)} of {format_size(total)}"
                notice(f"fetching the index from {self.uri}: {sizes}")

        try:
            is_there = fetch_newest(
                ObjectClient(self.uri),
                self._mirror,
                limit=self._limit,
                progress=progress,
                on_wait=lambda: notice(f"another process is fetching {self.uri}; waiting"),
            )
            self.failure = "" if is_there else f"nothing is published at {self.uri} any more"
            self._is_reachable = True
        except StoreFault as error:
            self._is_reachable, self.failure = False, str(error)


ATTEMPTS = 3
"""How often the newest version is read again when its files were deleted while being fetched."""


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
    found = (client if mirror.current() is None else client.impatient()).head()
    if found is None or not found[0].version:
        return False
    if mirror.holds_version(found[0]):
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
    """Remove a version unless it was replaced. Raises StoreFault where no other can be fetched."""
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


def _fetch(client: ObjectClient, mirror: MirrorFolder, limit: int, progress: Progress) -> None:
    for _ in range(ATTEMPTS):
        found = client.head()
        if found is None or mirror.holds_version(head := found[0]):
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
    largest_first = sorted(files, key=lambda file: -file.size)
    downloads = [_Download(client, file, mirror.file(file)) for file in largest_first]
    ranges = [
        (partial(download.fetch, start, end), end - start)
        for download in downloads
        for start, end in download.ranges
    ]
    try:
        for _ in transferred(ranges, progress):
            pass
    finally:
        for download in downloads:
            remove_mirror_file(download.temporary)


class _Download:
    def __init__(self, client: ObjectClient, file: PublishedFile, target: Path) -> None:
        self._client, self._file, self._target = client, file, target
        self.temporary = target.with_name(f"{target.name}.{uuid4().hex}")
        self.temporary.touch(exist_ok=False)
        starts = range(0, file.size, RANGE) or (0,)
        self.ranges = [(start, min(start + RANGE, file.size)) for start in starts]
        self._left, self._lock = len(self.ranges), threading.Lock()

    def fetch(self, start: int, end: int) -> None:
        """Fetch a range; the last one puts the file in place. Raises as `_fetch_files`."""
        if end > start:
            with self.temporary.open("r+b") as out:
                out.seek(start)
                out.write(self._client.read_range(self._file.key, start, end))
        with self._lock:
            self._left -= 1
            if self._left:
                return
        with self.temporary.open("rb") as source:
            if file_digest(source, "sha256").hexdigest() != self._file.digest:
                raise StoreFault(
                    f"{self._client.uri}/{self._file.key} is not what was published: delete it "
                    "there, then run `kbx index` where the files are"
                )
        self.temporary.replace(self._target)


STORES, FILES, VERSIONS = "stores", "files", "versions"
STATE, LOCK = "mirror.json", "mirror.lock"
KEPT_SECONDS = 900.0
"""Time for which a version stays that was replaced: another process may be reading from it."""

_FILE = re.compile(r"[0-9a-f]{64}(\.[0-9a-f]{32})?")
_MANIFEST = re.compile(r"\d+-[0-9a-f]{8}\.json")


class MirroredVersion(msgspec.Struct, frozen=True):
    version: int
    manifest: str
    """Key of its manifest in the store."""
    folder: str
    published_at: float


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

    def holds_version(self, head: Head) -> bool:
        current = self.current()
        return current is not None and current.manifest == head.manifest

    def index_folder(self, version: MirroredVersion | None) -> Path:
        """Return the index folder of a version; for None, one that does not exist."""
        return self.path / VERSIONS / (version.folder if version else "none")

    def create(self) -> None:
        for folder in (self.path, self.path / FILES, self.path / VERSIONS):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def file(self, file: PublishedFile) -> Path:
        return self.path / FILES / file.digest

    def holds(self, file: PublishedFile) -> bool:
        with suppress(OSError):
            return self.file(file).stat().st_size == file.size
        return False

    def put_in_place(self, manifest: Manifest, head: Head) -> None:
        """Make the index folder of a version whose files are all there, and let it be read."""
        folder = self.path / VERSIONS / f"{manifest.version}-{uuid4().hex[:8]}"
        write_atomically(_manifest_file(folder), msgspec.json.encode(manifest))
        for file in manifest.files:
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            _link(self.file(file), target)
        before = self.current()
        number, published_at = manifest.version, manifest.published_at
        version = MirroredVersion(number, head.manifest, folder.name, published_at)
        write_atomically(self.path / STATE, msgspec.json.encode(version))
        if before is not None:
            with suppress(OSError):
                os.utime(self.index_folder(before))  # replaced now

    def discard(self, version: MirroredVersion) -> None:
        folder = self.index_folder(version)
        for file in self._files_of(folder):
            with suppress(FileNotFoundError):
                with self.file(file).open("rb") as source:
                    digest = file_digest(source, "sha256").hexdigest()
                if digest != file.digest:
                    remove_mirror_file(self.file(file))
        remove_mirror_folder(folder)

    def sweep(self, needed: Set[str] = frozenset()) -> None:
        """Remove what neither a version nor `needed`, digests, names; while nothing is fetched."""
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
        with suppress(OSError):
            for manifest in self._named(VERSIONS, _MANIFEST):
                self._remove_version(manifest)
            for file in self._named(FILES, _FILE):
                remove_mirror_file(file)

    def size(self) -> int:
        total = 0
        with suppress(OSError), os.scandir(self.path / FILES) as entries:
            for entry in entries:
                total += entry.stat().st_size
        return total

    def last_used(self) -> float:
        with suppress(OSError):
            return (self.path / STATE).stat().st_mtime
        return 0.0

    def confirm(self) -> None:
        with suppress(OSError):
            os.utime(self.path / STATE)

    def _named(self, folder: str, name: re.Pattern[str]) -> list[Path]:
        """Return the files whose names match, and not those that systems put into any folder."""
        return [each for each in (self.path / folder).iterdir() if name.fullmatch(each.name)]

    def _remove_version(self, manifest: Path) -> None:
        """Remove a version; its manifest stays until nothing else does."""
        folder = manifest.with_suffix("")
        if folder.is_dir():
            remove_mirror_folder(folder)
        if not folder.exists():
            remove_mirror_file(manifest)

    def _files_of(self, folder: Path) -> tuple[PublishedFile, ...]:
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

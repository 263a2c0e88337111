"""Mirroring: fetching the newest published version into the cache of this machine.

Files that are there already are not fetched again. Each is written to a temporary name, compared
with its digest, and renamed; the version is read once all of them are there. Nothing waits for the
disk: what a loss of power damages is noticed by whoever opens the index, and fetched again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from kbx_tui.errors import StoreFault, WriteFault
from kbx_tui.formatting import format_size
from kbx_tui.object_store.mirror_folder import LOCK, MirroredVersion, MirrorFolder, all_mirrors
from kbx_tui.object_store.object_client import RANGE, ObjectClient
from kbx_tui.object_store.published_version import (
    HEAD,
    Head,
    Manifest,
    PublishedFile,
    decode_head,
    decode_manifest,
)
from kbx_tui.removal import remove_mirror_file

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

"""Publishing an index folder: new files are uploaded, then a manifest, and last the head changes.

A process may die at any moment: readers see the version before or the new one. What was uploaded in
vain is used by the next run, or deleted later.

A lease lets one machine publish at a time. It is a part of the head, so that a single conditional
write decides both who may publish and what is published: whoever took the lease over has changed
the head, and the write of the former holder is refused, however late it comes and whatever its
clock says. Clocks only decide when a lease may be taken over. The answer to a write may be lost
although it was made, so a holder whose write is refused reads the head: while it says that this
process holds the lease, nobody else has written it.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kbx_tui.errors import IndexLocked, StoreFault
from kbx_tui.formatting import format_minute
from kbx_tui.object_store.object_client import (
    Conflict,
    ObjectClient,
    Progress,
    StoredObject,
    Tag,
    transferred,
)
from kbx_tui.object_store.published_version import (
    FILE_KEY,
    FILES,
    HEAD,
    MANIFEST_KEY,
    MANIFESTS,
    Head,
    Lease,
    Manifest,
    PublishedFile,
    decode_manifest,
)
from kbx_tui.removal import INDEX_FILES, INDEX_MARKER, INDEX_TABLES, PUBLIC_INDEX
from kbx_tui.system import HAS_UNIX

REUSED_AGE = timedelta(hours=12)
"""Age up to which an object that no version names is used again: half of that from which a writer
deletes it, so that one which has lost its lease cannot delete it at the same time."""

_PARTS = {INDEX_MARKER, *INDEX_FILES, *(f"{table}.lance" for table in INDEX_TABLES), PUBLIC_INDEX}
_LEFT_OUT = re.compile(
    rf"({PUBLIC_INDEX}/)?(VERIFIED|[^/]+\.lance/(_transactions/.*|.*hint\.json))"
)
"""Files of an index that are of use only to its own machine."""
_UNIQUE = re.compile(rf"({PUBLIC_INDEX}/)?[^/]+\.lance/(data|_deletions|_indices)/")
"""Files that LanceDB gives a name of their own and never changes."""


@dataclass(frozen=True, slots=True)
class PublishReport:
    uri: str
    version: int
    files: int
    size_bytes: int
    uploaded: int
    uploaded_bytes: int
    """The bytes of `size_bytes` that had not been uploaded before."""


def publish(
    folder: Path,
    lease: WriterLease,
    *,
    progress: Progress = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> PublishReport | None:
    """Publish an index folder, which must not change meanwhile; None where cancelled.

    No version is added if nothing changed since the last one. Raises StoreFault and OSError.
    """
    before = _published(lease)
    by_path = {file.path: file for file in before.files} if before else {}
    local = [_described(folder, path, by_path.get(path)) for path in index_files(folder)]
    keys = _present(lease, by_path.values())
    missing = {file.digest: file for file in local if (file.digest, file.size) not in keys}
    term = lease.head.revision
    new = {digest: f"{FILES}/{digest}-{term:x}" for digest in missing}
    files = tuple(
        replace(file, key=new.get(file.digest) or keys[file.digest, file.size]) for file in local
    )
    if before is not None and before.files == files:
        return _report(lease, before, [])
    uploads = [
        (partial(lease.client.upload, new[digest], folder / file.path), file.size)
        for digest, file in missing.items()
    ]
    for _ in transferred(uploads, progress):
        lease.require_held()
        if cancelled():
            return None
    manifest = Manifest(lease.head.version + 1, time.time(), files)
    data = msgspec.json.encode(manifest)
    digest = sha256(data).hexdigest()
    key = f"{MANIFESTS}/{manifest.version:010}-{digest[:16]}"
    try:
        lease.client.create(key, data)
    except Conflict as error:  # written by an attempt whose answer was lost
        stored = lease.client.read(key)
        if stored is None or stored[0] != data:
            raise StoreFault(
                f"{lease.client.uri}/{key} is not what was written: run again"
            ) from error
    lease.publish(
        version=manifest.version,
        manifest=key,
        manifest_digest=digest,
        published_at=manifest.published_at,
    )
    return _report(lease, manifest, list(missing.values()))


def index_files(folder: Path) -> Iterator[str]:
    """Yield the files that readers need, in order; of a table's manifests only the newest."""
    paths = []
    for below, _, names in os.walk(folder):
        relative = Path(below).relative_to(folder)
        manifests = [name for name in names if name.endswith(".manifest")]
        if below.endswith("_versions") and manifests:
            names = [min(manifests)]
        paths += [(relative / name).as_posix() for name in names]
    parts = (path for path in sorted(paths) if path.partition("/")[0] in _PARTS)
    return (path for path in parts if not _LEFT_OUT.fullmatch(path))


def _described(folder: Path, path: str, before: PublishedFile | None) -> PublishedFile:
    """Return a file with its digest, which is not computed again for a name that never changes."""
    size = (folder / path).stat().st_size
    if before is not None and before.size == size and _UNIQUE.match(path):
        return before
    with (folder / path).open("rb") as source:
        return PublishedFile(path, size, file_digest(source, "sha256").hexdigest(), "")


def _published(lease: WriterLease) -> Manifest | None:
    """Return the newest published version; None if there is none, or its manifest is lost.

    A damaged manifest counts as lost: otherwise nothing could be published ever again.
    """
    head, client = lease.head, lease.client
    if stored := client.read(head.manifest) if head.manifest else None:
        with suppress(StoreFault):
            return decode_manifest(stored[0], head, client.uri)
    return None


def _present(lease: WriterLease, published: Iterable[PublishedFile]) -> dict[tuple[str, int], str]:
    """Return the keys of objects that may be used, by digest and size of what they hold."""
    now, client = lease.client.modified(HEAD), lease.client
    named = {file.key for file in published}
    keys: dict[tuple[str, int], str] = {}
    for found in client.list(FILES):
        if (match := FILE_KEY.fullmatch(found.key)) is None:
            continue
        if found.key in named:
            keys[match["digest"], found.size] = found.key
        elif now - found.modified < REUSED_AGE:
            keys.setdefault((match["digest"], found.size), found.key)
    return keys


def _report(lease: WriterLease, manifest: Manifest, uploaded: list[PublishedFile]) -> PublishReport:
    return PublishReport(
        uri=str(lease.client.uri),
        version=manifest.version,
        files=len(manifest.files),
        size_bytes=manifest.size,
        uploaded=len(uploaded),
        uploaded_bytes=sum(file.size for file in uploaded),
    )


GRACE = timedelta(hours=24)
SWEEP_SECONDS = 6 * 3600.0
"""Time between two sweeps, each of which reads the manifests of all versions that are kept."""


def sweep_if_due(lease: WriterLease, now: float) -> int:
    """Sweep if the last one was long ago; `now` is in seconds since 1970. Raises StoreFault."""
    if 0 <= now - lease.head.swept_at < SWEEP_SECONDS:  # negative if a clock was wrong
        return 0
    deleted = sweep(lease)
    lease.publish(swept_at=now)
    return deleted


def sweep(lease: WriterLease, grace: timedelta = GRACE) -> int:
    """Delete what no version has needed since `grace`; return how many. Raises StoreFault."""
    lease.renew()
    client, head = lease.client, lease.head
    oldest = client.modified(HEAD) - grace
    manifests = [found for found in client.list(MANIFESTS) if MANIFEST_KEY.fullmatch(found.key)]
    kept = {head.manifest} | {
        manifest.key for manifest in manifests if not _was_replaced(manifest, manifests, oldest)
    }
    needed = {key for manifest in kept for key in _files(client, head, manifest)}
    deleted = [manifest.key for manifest in manifests if manifest.key not in kept]
    deleted += [
        found.key
        for found in client.list(FILES)
        if FILE_KEY.fullmatch(found.key) and found.key not in needed and found.modified < oldest
    ]
    lease.renew()  # the machine may have been asleep since the first time
    client.delete(deleted)
    return len(deleted)


def _was_replaced(manifest: StoredObject, manifests: list[StoredObject], oldest: datetime) -> bool:
    number = _version(manifest)
    return any(each.modified < oldest and _version(each) > number for each in manifests)


def _version(manifest: StoredObject) -> int:
    return int(manifest.key.removeprefix(f"{MANIFESTS}/").partition("-")[0])


def _files(client: ObjectClient, head: Head, key: str) -> set[str]:
    """Return the keys of the files of a version; none where its manifest is gone or damaged."""
    stored = client.read(key)
    if stored is None:
        return set()
    named = replace(head, manifest=key, manifest_digest=sha256(stored[0]).hexdigest())
    with suppress(StoreFault):
        return {file.key for file in decode_manifest(stored[0], named, client.uri).files}
    return set()


LEASE_SECONDS = 60.0
"""Time for which a lease holds unless it is renewed, which happens three times as often."""
SKEW_SECONDS = 30.0
"""By how much two clocks may differ before a lease is taken over that is still held."""


class WriterLease:
    """A lease that this process holds. Safe for several threads."""

    def __init__(
        self, client: ObjectClient, head: Head, tag: Tag, clock: Callable[[], float]
    ) -> None:
        self.client, self.head, self._term = client, head, _term(head)
        self._tag, self._clock, self._lock = tag, clock, threading.Lock()
        self._lost: StoreFault | None = None

    def require_held(self) -> None:
        """Raise StoreFault if the lease is known to be lost; sends nothing."""
        if self._lost is not None:
            raise self._lost

    def publish(self, **changes: object) -> Head:
        """Change the head, and return it. Raises StoreFault where the lease was lost."""
        with self._lock:
            try:
                self._write(changes)
            except Conflict:
                self._adopt()
                try:
                    self._write(changes)
                except Conflict as error:
                    raise self._note_lost(_holder(self.client)) from error
            return self.head

    def renew(self) -> None:
        if self.head.lease is not None:
            expires = self._clock() + LEASE_SECONDS
            self.publish(lease=replace(self.head.lease, expires=expires))

    def release(self) -> None:
        """Let others publish; if that fails, they can when the lease has expired."""
        with suppress(StoreFault):
            self.publish(lease=None)

    def _write(self, changes: Mapping[str, object]) -> None:
        head = replace(self.head, revision=self.head.revision + 1, **changes)
        self._tag = write_head(self.client, head, self._tag)
        self.head = head

    def _adopt(self) -> None:
        found = self.client.head()
        if found is None or _term(found[0]) != self._term:
            raise self._note_lost(found[0].lease if found else None)
        self.head, self._tag = found

    def _note_lost(self, holder: Lease | None) -> StoreFault:
        by = f"process {holder.pid} on {holder.host}" if holder else "another process"
        self._lost = StoreFault(
            f"{by} has taken over publishing to {self.client.uri}, because the lease of this one "
            "was not renewed in time: nothing was published; run `kbx index` again"
        )
        return self._lost


@contextmanager
def writer_lease(client: ObjectClient) -> Iterator[WriterLease]:
    """Hold the lease of a store, renewed until the end. Raises IndexLocked and StoreFault."""
    lease = acquire(client)
    ended = threading.Event()

    def keep_renewing() -> None:
        while not ended.wait(LEASE_SECONDS / 3):
            with suppress(StoreFault):  # publishing will say so, if the lease is lost for good
                lease.renew()

    thread = threading.Thread(target=keep_renewing, name="kbx-lease", daemon=True)
    thread.start()
    try:
        yield lease
    finally:
        ended.set()
        thread.join()
        lease.release()


def acquire(client: ObjectClient, *, clock: Callable[[], float] = time.time) -> WriterLease:
    before, tag = client.head() or (Head(revision=0), None)
    now = clock()
    if before.lease is not None and not _has_ended(before.lease, now):
        raise _locked(client, before.lease)
    mine = Lease(platform.node(), os.getpid(), now, now + LEASE_SECONDS, process_space())
    head = replace(before, revision=before.revision + 1, lease=mine)
    try:
        return WriterLease(client, head, write_head(client, head, tag), clock)
    except Conflict as error:
        raise _locked(client, _holder(client)) from error


def write_head(client: ObjectClient, head: Head, tag: Tag | None) -> Tag:
    """Write the head in place of that with this tag; return its tag. Raises Conflict."""
    data = msgspec.json.encode(head)
    try:
        return client.create(HEAD, data) if tag is None else client.replace(HEAD, data, tag)
    except (Conflict, StoreFault):
        with suppress(StoreFault):
            found = client.read(HEAD)
            if found is not None and found[0] == data:  # only the answer was lost
                return found[1]
        raise


def _holder(client: ObjectClient) -> Lease | None:
    found = client.head()
    return found[0].lease if found else None


def _has_ended(lease: Lease, now: float) -> bool:
    if now > lease.expires + SKEW_SECONDS:
        return True
    is_here = lease.process_space != "" and lease.process_space == process_space()
    return HAS_UNIX and is_here and not _is_running(lease.pid)  # on Windows, 0 is ctrl+c


def process_space() -> str:
    """Return what is equal for two processes whose pids can be compared; empty if unknown.

    Containers may have the same host name, and machines, too.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - no file has its name
    except (OSError, ValueError):
        is_linux = sys.platform == "linux"
        return "" if is_linux else f"{platform.node()} {uuid.getnode():x}"


def _term(head: Head) -> tuple[object, ...] | None:
    """Return what is equal in all heads that one holder writes while it has the lease."""
    if (lease := head.lease) is None:
        return None
    return (lease.host, lease.pid, lease.since, lease.process_space)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)  # sends nothing
    except ProcessLookupError:
        return False
    except OSError:
        pass  # of another user, or a system that cannot say
    # One that has ended may stay until its parent asks, in a container for ever.
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] != b"Z"
    return True


def _locked(client: ObjectClient, lease: Lease | None) -> IndexLocked:
    if lease is None:
        return IndexLocked(f"another process has just published to {client.uri}: run again")
    since = format_minute(lease.since)[-5:]
    until = format_minute(lease.expires + SKEW_SECONDS + 60)[-5:]
    return IndexLocked(
        f"process {lease.pid} on {lease.host} publishes to {client.uri} since {since}: wait until "
        f"it has finished; if it has died, others may publish from {until}"
    )

"""The lease that lets one machine publish at a time. It is a part of the head of the store.

So a single conditional write decides both who may publish and what is published: whoever took the
lease over has changed the head, and the write of the former holder is refused, however late it
comes and whatever its clock says. Clocks only decide when a lease may be taken over.

The answer to a write may be lost although it was made. So a holder whose write is refused reads the
head: while it says that this process holds the lease, nobody else has written it.
"""

from __future__ import annotations

import os
import platform
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kbx_tui.errors import IndexLocked, StoreFault
from kbx_tui.object_store.object_client import Conflict, ObjectClient, Tag
from kbx_tui.object_store.published_version import HEAD, Head, Lease

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
                self._write_again(changes)
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

    def _write_again(self, changes: Mapping[str, object]) -> None:
        try:
            self._write(changes)
        except Conflict as error:
            raise self._note_lost(_holder(self.client)) from error

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
def writer_lease(
    client: ObjectClient, *, clock: Callable[[], float] = time.time
) -> Iterator[WriterLease]:
    """Hold the lease of a store, renewed until the end. Raises IndexLocked and StoreFault."""
    lease = acquire(client, clock=clock)
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
    return is_here and not _is_running(lease.pid)


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
    since = time.strftime("%H:%M", time.localtime(lease.since))
    until = time.strftime("%H:%M", time.localtime(lease.expires + SKEW_SECONDS + 60))
    return IndexLocked(
        f"process {lease.pid} on {lease.host} publishes to {client.uri} since {since}: wait until "
        f"it has finished; if it has died, others may publish from {until}"
    )

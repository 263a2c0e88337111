"""The lease that lets one machine publish at a time. It is a part of the head of the store.

So a single conditional write decides both who may publish and what is published: whoever took the
lease over has changed the head, and the write of the former holder is refused, however late it
comes and whatever its clock says. Clocks only decide when a lease may be taken over.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from msgspec.structs import replace

from kbx_tui.errors import IndexLocked, StoreFault
from kbx_tui.object_store.object_client import Conflict, ObjectClient, Tag
from kbx_tui.object_store.published_version import HEAD, Head, Lease, decode_head, encode

LEASE_SECONDS = 60.0
"""Time for which a lease holds unless it is renewed, which happens three times as often."""
SKEW_SECONDS = 30.0
"""By how much two clocks may differ before a lease is taken over that is still held."""


class WriterLease:
    """A lease that this process holds. Safe for several threads."""

    def __init__(
        self, client: ObjectClient, head: Head, tag: Tag, clock: Callable[[], float]
    ) -> None:
        self.client, self.head = client, head
        self._tag, self._clock, self._lock = tag, clock, threading.Lock()

    def publish(self, **changes: object) -> Head:
        """Change the head, and return it. Raises StoreFault where the lease was lost."""
        with self._lock:
            self._write(replace(self.head, revision=self.head.revision + 1, **changes))
            return self.head

    def renew(self) -> None:
        """Hold the lease for another `LEASE_SECONDS`. Raises as `publish`."""
        if self.head.lease is not None:
            expires = self._clock() + LEASE_SECONDS
            self.publish(lease=replace(self.head.lease, expires=expires))

    def release(self) -> None:
        """Let others publish; if that fails, they can when the lease has expired."""
        with suppress(StoreFault):
            self.publish(lease=None)

    def _write(self, head: Head) -> None:
        try:
            self._tag = write_head(self.client, head, self._tag)
        except Conflict as error:
            raise _lost(self.client) from error
        self.head = head


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
    """Take the lease. Raises IndexLocked where another process holds it, and StoreFault."""
    found = client.read(HEAD)
    before, tag = (None, None) if found is None else (decode_head(found[0], client.uri), found[1])
    now = clock()
    if before is not None and before.lease is not None and not _has_ended(before.lease, now):
        raise _locked(client, before.lease)
    mine = Lease(platform.node(), os.getpid(), now, now + LEASE_SECONDS)
    start = before or Head(revision=0)
    head = replace(start, revision=start.revision + 1, lease=mine)
    try:
        return WriterLease(client, head, write_head(client, head, tag), clock)
    except Conflict as error:
        raise _locked(client, _holder(client)) from error


def write_head(client: ObjectClient, head: Head, tag: Tag | None) -> Tag:
    """Write the head in place of the one with this tag, or the first one; return its tag.

    Raises Conflict where another process has changed it, and StoreFault.
    """
    data = encode(head)
    try:
        return client.create(HEAD, data) if tag is None else client.replace(HEAD, data, tag)
    except Conflict:
        found = client.read(HEAD)
        if found is not None and found[0] == data:  # written by an attempt whose answer was lost
            return found[1]
        raise


def _holder(client: ObjectClient) -> Lease | None:
    found = client.read(HEAD)
    return decode_head(found[0], client.uri).lease if found else None


def _has_ended(lease: Lease, now: float) -> bool:
    """Return whether a lease was given up, has expired, or its process died on this machine."""
    if now > lease.expires + SKEW_SECONDS:
        return True
    return lease.host == platform.node() and not _is_running(lease.pid)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)  # sends nothing
    except ProcessLookupError:
        return False
    except OSError:
        pass  # of another user, or a system that cannot say
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


def _lost(client: ObjectClient) -> StoreFault:
    lease = _holder(client)
    by = f"process {lease.pid} on {lease.host}" if lease else "another process"
    return StoreFault(
        f"{by} has taken over publishing to {client.uri}, because the lease of this one was not "
        "renewed in time: nothing was published; run `kbx index` again"
    )

"""One machine publishes at a time."""

from __future__ import annotations

import subprocess
import sys

import pytest
from msgspec.structs import replace

from kbx_tui.errors import IndexLocked, StoreFault
from kbx_tui.object_store.published_version import HEAD, decode_head, encode
from kbx_tui.object_store.writer_lease import (
    LEASE_SECONDS,
    SKEW_SECONDS,
    WriterLease,
    acquire,
)
from tests.functional.object_store.machines import client_of

NOW = 1_800_000_000.0


def held_elsewhere(lease: WriterLease) -> None:
    """Let the lease appear to be held by a process of another machine."""
    assert lease.head.lease is not None
    lease.publish(lease=replace(lease.head.lease, host="elsewhere", pid=7))


def acquired_at(uri: str, seconds: float) -> WriterLease:
    return acquire(client_of(uri), clock=lambda: NOW + seconds)


def test_second_writer_is_refused(store_uri: str) -> None:
    held_elsewhere(acquired_at(store_uri, 0))
    with pytest.raises(IndexLocked, match="process 7 on elsewhere publishes to s3://"):
        acquired_at(store_uri, LEASE_SECONDS + SKEW_SECONDS - 1)


def test_expired_lease_is_taken_over_and_its_holder_fenced_off(store_uri: str) -> None:
    former = acquired_at(store_uri, 0)
    held_elsewhere(former)
    heir = acquired_at(store_uri, LEASE_SECONDS + SKEW_SECONDS + 1)
    for write in (former.renew, lambda: former.publish(version=1)):
        with pytest.raises(StoreFault, match=r"has taken over publishing .* nothing was published"):
            write()
    former.release()  # not its own any more
    heir.publish(version=2)
    found = client_of(store_uri).read(HEAD)
    assert found is not None
    assert decode_head(found[0], store_uri) == heir.head


def test_renewed_lease_is_not_taken_over(store_uri: str) -> None:
    time = 0.0
    lease = acquire(client_of(store_uri), clock=lambda: NOW + time)
    held_elsewhere(lease)
    time = LEASE_SECONDS + SKEW_SECONDS - 1
    lease.renew()
    with pytest.raises(IndexLocked):
        acquired_at(store_uri, LEASE_SECONDS + SKEW_SECONDS + 1)


def test_lease_of_a_process_that_died_here_is_free(store_uri: str) -> None:
    lease = acquired_at(store_uri, 0)
    assert lease.head.lease is not None
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    lease.publish(lease=replace(lease.head.lease, pid=ended.pid))
    assert acquired_at(store_uri, 1).head.revision > lease.head.revision


def test_write_whose_answer_was_lost_counts(store_uri: str) -> None:
    lease = acquired_at(store_uri, 0)
    after = replace(lease.head, revision=lease.head.revision + 1, version=3)
    found = lease.client.read(HEAD)
    assert found is not None
    lease.client.replace(HEAD, encode(after), found[1])  # what a retry meets
    lease.publish(version=3)
    assert lease.head == after

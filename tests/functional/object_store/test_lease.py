"""One machine publishes at a time."""

import os
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kbx_tui.errors import IndexLocked, StoreFault
from kbx_tui.object_store import publish
from kbx_tui.object_store.object_client import ObjectClient, Tag
from kbx_tui.object_store.publish import LEASE_SECONDS, SKEW_SECONDS, WriterLease, acquire
from kbx_tui.object_store.published_version import HEAD, decode_head
from kbx_tui.object_store.store_uri import parse_store_uri
from tests.functional.object_store.machines import client_of

NOW = 1_800_000_000.0


def held_elsewhere(lease: WriterLease) -> None:
    """Let the lease appear to be held by a process of another machine."""
    assert lease.head.lease is not None
    mine = replace(lease.head.lease, host="elsewhere", pid=7, process_space="elsewhere")
    lease.publish(lease=mine)


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
    former.require_held()  # it has not noticed yet
    for write in (former.renew, lambda: former.publish(version=1), former.require_held):
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
    if sys.platform == "linux":
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # its parent has not asked yet
    else:
        ended.wait()
    lease.publish(lease=replace(lease.head.lease, pid=ended.pid))
    assert acquired_at(store_uri, 1).head.revision > lease.head.revision
    ended.wait()


def test_where_signal_0_is_ctrl_c_no_process_is_asked_whether_it_runs(
    store_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = acquired_at(store_uri, 0)
    assert lease.head.lease is not None
    lease.publish(lease=replace(lease.head.lease, pid=2**22 + 1))
    monkeypatch.setattr(publish, "HAS_UNIX", False)
    monkeypatch.setattr(os, "kill", None)
    with pytest.raises(IndexLocked):
        acquired_at(store_uri, 1)


def test_lease_of_another_container_with_this_host_name_is_not_free(store_uri: str) -> None:
    lease = acquired_at(store_uri, 0)
    assert lease.head.lease is not None
    there = replace(lease.head.lease, pid=2**22 + 1, process_space="another container")
    lease.publish(lease=there)
    with pytest.raises(IndexLocked):
        acquired_at(store_uri, 1)


class LosingClient(ObjectClient):
    """A client that loses the answers to its next writes, and perhaps to its next reads."""

    lost_writes = lost_reads = 0

    def _put(self, key: str, data: bytes, mode: Any) -> Tag:
        tag = super()._put(key, data, mode)
        if self.lost_writes:
            self.lost_writes -= 1
            raise StoreFault("the answer to a write was lost")
        return tag

    def read(self, key: str) -> tuple[bytes, Tag] | None:
        if self.lost_reads:
            self.lost_reads -= 1
            raise StoreFault("the answer to a read was lost")
        return super().read(key)


def test_holder_that_lost_an_answer_is_not_taken_for_another(store_uri: str) -> None:
    client = LosingClient(parse_store_uri(store_uri))
    lease = acquire(client)
    client.lost_writes = 1
    lease.renew()
    client.lost_writes = client.lost_reads = 1
    with pytest.raises(StoreFault, match="the answer to a write was lost"):
        lease.renew()
    assert lease.publish(version=3).version == 3
    lease.release()
    assert acquire(client).head.version == 3


def test_write_whose_answer_was_lost_counts(store_uri: str) -> None:
    lease = acquired_at(store_uri, 0)
    after = replace(lease.head, revision=lease.head.revision + 1, version=3)
    found = lease.client.read(HEAD)
    assert found is not None
    lease.client.replace(HEAD, msgspec.json.encode(after), found[1])  # what a retry meets
    lease.publish(version=3)
    assert lease.head == after

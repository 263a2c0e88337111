"""The copy of a published index on one machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kbx_tui.errors import StoreFault
from kbx_tui.object_store.mirror import MirrorFolder, discard_damaged, fetch_newest
from kbx_tui.object_store.object_client import ObjectClient
from kbx_tui.object_store.published_version import HEAD
from kbx_tui.object_store.store_uri import parse_store_uri
from tests.functional.object_store.machines import client_of
from tests.functional.object_store.test_faults import LIMIT, publish_version, read_version

LONG_AGO = 1_000_000_000.0


class FailingClient(ObjectClient):
    """A client whose network fails after some ranges of files."""

    def __init__(self, uri: str, ranges: int) -> None:
        super().__init__(parse_store_uri(uri))
        self._left = ranges

    def read_range(self, key: str, start: int, end: int) -> memoryview:
        if not self._left:
            raise StoreFault("the network is gone")
        self._left -= 1
        return super().read_range(key, start, end)


@pytest.fixture
def mirror(tmp_path: Path, store_uri: str) -> MirrorFolder:
    """The mirror, still empty, of a store with one version."""
    publish_version(tmp_path / "index", client_of(store_uri), 1)
    return MirrorFolder(tmp_path / "stores" / "mirror")


def files_in(mirror: MirrorFolder) -> list[Path]:
    return list((mirror.path / "files").iterdir())


def test_interrupted_fetch_goes_on_later(mirror: MirrorFolder, store_uri: str) -> None:
    with pytest.raises(StoreFault, match="the network is gone"):
        fetch_newest(FailingClient(store_uri, 2), mirror, limit=LIMIT)
    fetched = files_in(mirror)
    assert len(fetched) == 2
    for file in fetched:
        os.utime(file, (LONG_AGO, LONG_AGO))
    assert fetch_newest(FailingClient(store_uri, 2), mirror, limit=LIMIT)
    assert read_version(mirror, store_uri) == {"1"}


def test_fetch_removes_what_a_killed_one_left_and_nothing_of_others(
    mirror: MirrorFolder, store_uri: str
) -> None:
    mirror.create()
    unfinished = mirror.path / "files" / f"{'a' * 64}.{uuid4().hex}"
    theirs = mirror.path / "files" / ".nfs0001"  # what NFS keeps of a file that is still open
    for file in (unfinished, theirs):
        file.touch()
        os.utime(file, (LONG_AGO, LONG_AGO))
    assert read_version(mirror, store_uri) == {"1"}
    assert len(files_in(mirror)) == 4 + 1
    mirror.clear()
    assert files_in(mirror) == [theirs]


def test_good_copy_is_not_discarded_for_a_damaged_one_before(
    mirror: MirrorFolder, store_uri: str
) -> None:
    client = client_of(store_uri)
    fetch_newest(client, mirror, limit=LIMIT)
    damaged = mirror.current()
    assert damaged is not None
    discard_damaged(client, mirror, damaged)
    fetch_newest(client, mirror, limit=LIMIT)
    discard_damaged(client, mirror, damaged)  # another process had noticed it, too
    assert mirror.current() is not None
    client.delete([HEAD])
    with pytest.raises(StoreFault, match=r"nothing is published at .* any more"):
        discard_damaged(client, mirror, damaged)


@pytest.fixture
def silent_endpoint() -> Iterator[str]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_store_that_does_not_answer_is_given_up_soon(
    mirror: MirrorFolder,
    store_uri: str,
    silent_endpoint: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read_version(mirror, store_uri) == {"1"}
    monkeypatch.setenv("AWS_ENDPOINT_URL", silent_endpoint)
    monkeypatch.setattr("kbx_tui.object_store.object_client.LOOK_SECONDS", 0.1)
    with pytest.raises(StoreFault, match="cannot be reached"):
        fetch_newest(client_of(store_uri), mirror, limit=LIMIT)

"""A writer that ends at any moment, and what it leaves behind."""

import os
import shutil
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from kbx_tui.errors import StoreFault
from kbx_tui.object_store.mirror import MirrorFolder, discard_damaged, fetch_newest
from kbx_tui.object_store.object_client import ObjectClient
from kbx_tui.object_store.publish import PublishReport, acquire, index_files, publish, sweep
from kbx_tui.object_store.published_version import HEAD
from kbx_tui.object_store.store_uri import parse_store_uri
from tests.functional.object_store.machines import client_of

LIMIT = 1_000_000


class EndingClient(ObjectClient):
    """A client whose process ends before one of its writes."""

    def __init__(self, uri: str, writes: int) -> None:
        super().__init__(parse_store_uri(uri))
        self._left = writes

    def _count(self) -> None:
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1

    def _put(self, *arguments: Any) -> Any:
        self._count()
        return super()._put(*arguments)

    def upload(self, key: str, file: Path) -> None:
        self._count()
        super().upload(key, file)


def write_version(folder: Path, number: int) -> None:
    """Write an index folder whose files all say the number, except for one that never changes."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("BUILD", "words.bin", f"documents.lance/data/{number}.lance"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"version {number} of {name}", "utf-8")
    (folder / "bodies.bin").write_text("always the same", "utf-8")


def publish_version(folder: Path, client: ObjectClient, number: int) -> PublishReport:
    write_version(folder, number)
    lease = acquire(client)
    report = publish(folder, lease)
    lease.release()
    assert report is not None
    return report


def read_version(mirror: MirrorFolder, uri: str) -> set[str]:
    """Fetch the newest version and return which numbers its files say."""
    assert fetch_newest(client_of(uri), mirror, limit=LIMIT)
    version = mirror.current()
    assert version is not None
    folder = mirror.index_folder(version)
    texts = [(folder / path).read_text("utf-8") for path in index_files(folder)]
    assert len(texts) == 4
    return {text.split()[1] for text in texts if text.startswith("version")}


def stored_files(uri: str) -> int:
    return len(list(client_of(uri).list("files")))


def sweep_all(client: ObjectClient) -> int:
    """Delete what no version needs, however new it is; return the number of objects."""
    lease = acquire(client)
    count = sweep(lease, timedelta(seconds=-2))
    lease.release()
    return count


def test_writer_that_ends_at_any_write_leaves_a_whole_version(
    tmp_path: Path, store_uri: str
) -> None:
    index, lasting = tmp_path / "index", MirrorFolder(tmp_path / "stores" / "lasting")
    publish_version(index, client_of(store_uri), 0)
    for writes in range(6):  # the lease, three files, a manifest, the head
        with pytest.raises(KeyboardInterrupt):
            publish_version(index, EndingClient(store_uri, writes), writes + 1)
        fresh = MirrorFolder(tmp_path / "stores" / f"fresh-{writes}")
        assert read_version(lasting, store_uri) == read_version(fresh, store_uri) == {"0"}
        release(store_uri)
    assert publish_version(index, client_of(store_uri), 9).version == 2
    assert read_version(lasting, store_uri) == {"9"}


def release(uri: str) -> None:
    """Take the lease over from the process that ended, and give it up."""
    acquire(client_of(uri), clock=lambda: 4_000_000_000.0).release()


def test_what_was_uploaded_in_vain_is_used_again(tmp_path: Path, store_uri: str) -> None:
    index = tmp_path / "index"
    with pytest.raises(KeyboardInterrupt):
        publish_version(index, EndingClient(store_uri, 5), 1)
    release(store_uri)
    report = publish_version(index, client_of(store_uri), 1)
    assert (report.files, report.uploaded) == (4, 0)


def test_only_the_index_is_published(tmp_path: Path) -> None:
    write_version(tmp_path, 1)
    expected = list(index_files(tmp_path))
    for name in ("private.txt", f"words.bin.{'a' * 32}", "salvage/words.bin", "mine.lance/data/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert list(index_files(tmp_path)) == expected


def test_only_what_no_version_needs_is_deleted(tmp_path: Path, store_uri: str) -> None:
    index, client = tmp_path / "index", client_of(store_uri)
    mirror = MirrorFolder(tmp_path / "stores" / "mirror")
    for number in (1, 2):
        publish_version(index, client, number)
    assert stored_files(store_uri) == 7
    lease = acquire(client)
    assert sweep(lease) == 0  # someone may be reading the version before
    lease.release()
    assert sweep_all(client) == 4
    assert stored_files(store_uri) == 4
    assert read_version(mirror, store_uri) == {"2"}
    assert publish_version(index, client, 1).version == 3
    assert read_version(mirror, store_uri) == {"1"}


def test_objects_of_others_are_left_alone(tmp_path: Path, store_uri: str) -> None:
    index, client = tmp_path / "index", client_of(store_uri)
    publish_version(index, client, 1)
    theirs = ["files/report.pdf", f"files/files/{'a' * 64}-1", "manifests/notes", "draft.json"]
    for key in theirs:
        client.create(key, b"theirs")
    assert publish_version(index, client, 2).version == 2
    assert sweep_all(client) == 4
    assert all(map(client.read, theirs))


def test_damaged_manifest_is_replaced_by_the_next_run(tmp_path: Path, store_uri: str) -> None:
    index, client = tmp_path / "index", client_of(store_uri)
    mirror = MirrorFolder(tmp_path / "stores" / "mirror")
    publish_version(index, client, 1)
    key = next(client.list("manifests")).key
    client.delete([key])
    client.create(key, b"{}")
    with pytest.raises(StoreFault, match="is not what was written: publish again"):
        fetch_newest(client, mirror, limit=LIMIT)
    assert publish_version(index, client, 1).version == 2
    assert read_version(mirror, store_uri) == {"1"}
    assert sweep_all(client) == 1


def test_writer_without_the_lease_deletes_nothing(tmp_path: Path, store_uri: str) -> None:
    index, client = tmp_path / "index", client_of(store_uri)
    for number in (1, 2):
        publish_version(index, client, number)
    former = acquire(client)
    assert former.head.lease is not None
    former.publish(lease=replace(former.head.lease, host="elsewhere"))
    release(store_uri)
    with pytest.raises(StoreFault, match="nothing was published"):
        sweep(former, timedelta(seconds=-2))
    assert stored_files(store_uri) == 7


def test_replaced_copies_are_removed_once_nobody_reads_them(
    tmp_path: Path, store_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, client = tmp_path / "index", client_of(store_uri)
    mirror = MirrorFolder(tmp_path / "stores" / "mirror")
    publish_version(index, client, 1)
    read_version(mirror, store_uri)
    first = mirror.current()
    assert first is not None
    publish_version(index, client, 2)
    read_version(mirror, store_uri)
    assert mirror.index_folder(first).is_dir()
    monkeypatch.setattr("kbx_tui.object_store.mirror.KEPT_SECONDS", -1.0)
    mirror.sweep()
    assert not mirror.index_folder(first).exists()
    assert len(list((mirror.path / "files").iterdir())) == 4


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

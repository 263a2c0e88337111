"""`kbx store check`: a store that loses writes is refused."""

import sys
import threading
import time
from collections.abc import Collection, Iterator
from datetime import UTC, datetime

import pytest
from obstore.exceptions import GenericError

from kbx_tui.errors import StoreFault
from kbx_tui.object_store.object_client import (
    Conflict,
    ObjectClient,
    StoredObject,
    Tag,
    check_store,
    translate_client_errors,
)
from kbx_tui.object_store.store_uri import parse_store_uri
from tests.command_line import CommandLine
from tests.functional.object_store.s3_server import ACCESS_KEY, SECRET_KEY


def test_real_store_loses_no_write(store_uri: str) -> None:
    client = ObjectClient(parse_store_uri(store_uri), retries=0)
    report = check_store(client, racers=4, rounds=1)  # this server may let 32 wait for seconds
    assert report.faults == ()
    assert report.writes == 8
    assert report.read_ms > 0
    assert list(client.list("check")) == []


class MemoryStore(ObjectClient):
    """A store in memory that compares and writes in one step."""

    def __init__(self) -> None:
        super().__init__(parse_store_uri("s3://bucket/base"))
        self._objects: dict[str, tuple[bytes, int]] = {}
        self._lock = threading.Lock()

    def read(self, key: str) -> tuple[bytes, Tag] | None:
        found = self._objects.get(key)
        return found and (found[0], {"e_tag": str(found[1])})

    def create(self, key: str, data: bytes) -> Tag:
        return self._put(key, data, None)

    def replace(self, key: str, data: bytes, tag: Tag) -> Tag:
        return self._put(key, data, tag)

    def list(self, prefix: str) -> Iterator[StoredObject]:
        now = datetime.now(UTC)
        return iter([StoredObject(key, 1, now) for key in self._objects if key.startswith(prefix)])

    def delete(self, keys: Collection[str]) -> None:
        for key in keys:
            self._objects.pop(key)

    def _put(self, key: str, data: bytes, expected: Tag | None) -> Tag:
        with self._lock:
            self._compare(key, expected)
            return self._write(key, data)

    def _compare(self, key: str, expected: Tag | None) -> None:
        current = self.read(key)
        if (current and current[1]) != expected:
            raise Conflict(key)

    def _write(self, key: str, data: bytes) -> Tag:
        number = self._objects.get(key, (b"", 0))[1] + 1
        self._objects[key] = data, number
        return {"e_tag": str(number)}


class IgnoringStore(MemoryStore):
    """Ignores conditions."""

    def _compare(self, key: str, expected: Tag | None) -> None:
        pass


class LateStore(MemoryStore):
    """Compares first and writes later."""

    def _put(self, key: str, data: bytes, expected: Tag | None) -> Tag:
        self._compare(key, expected)
        time.sleep(0.001)
        return self._write(key, data)


def test_store_that_compares_in_one_step_is_fit() -> None:
    assert check_store(MemoryStore()).is_fit


@pytest.mark.parametrize("store", [IgnoringStore, LateStore])
def test_store_that_loses_writes_is_refused(store: type[MemoryStore]) -> None:
    report = check_store(store())
    assert not report.is_fit
    assert "simultaneous writes to create an object succeeded" in report.faults[0]


def test_unfit_store_ends_with_an_exit_code(
    kbx: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "kbx_tui.object_store.object_client.ObjectClient", lambda *_, **__: IgnoringStore()
    )
    checked = kbx("store", "check", "s3://bucket/base")
    assert checked.code == StoreFault.exit_code
    assert "s3://bucket/base is not fit for an index: writes may be lost" in checked.out


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong-secret"}, "does not accept the credentials"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "cannot be reached; check the network"),
        ({"AWS_ENDPOINT_URL": "http://192.0.2.1"}, "set AWS_ALLOW_HTTP=true"),
    ],
    ids=["credentials", "network", "no-https"],
)
def test_failure_is_one_sentence_without_credentials(
    kbx: CommandLine,
    store_uri: str,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, str],
    sentence: str,
) -> None:
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
    checked = kbx("store", "check", store_uri)
    assert checked.code == StoreFault.exit_code
    assert checked.err.count("\n") == 1
    assert sentence in checked.err
    shown = checked.out + checked.err
    assert not [secret for secret in (ACCESS_KEY, SECRET_KEY, "wrong-secret") if secret in shown]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("403 Forbidden: <Code>RequestTimeTooSkewed</Code>", "the clock of this machine differs"),
        ("403 Forbidden: <Code>AccessDenied</Code> key=hidden", "have no right to do so"),
        ("404 Not Found: <Code>NoSuchBucket</Code>", "there is no bucket bucket for s3://bucket"),
        ("404 Not Found: <Code>ContainerNotFound</Code>", "there is no bucket bucket"),
        ("HTTP error: error sending request for url (https://s3?sig=hidden)", "cannot be reached"),
        ("404 http://169.254.169.254/latest/api/token", "the environment lacks settings"),
        ("501 <Code>NotImplemented</Code>", "the store refused the request (NotImplemented)"),
    ],
)
def test_error_of_the_library_becomes_one_sentence(text: str, sentence: str) -> None:
    uri = parse_store_uri("s3://bucket/base")
    with pytest.raises(StoreFault) as raised, translate_client_errors("read", uri):
        raise GenericError(text)
    assert sentence in str(raised.value)
    assert "hidden" not in str(raised.value)


def test_missing_package_is_named(kbx: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    checked = kbx("store", "check", "s3://bucket/base")
    assert checked.code == StoreFault.exit_code
    assert 'pip install "kbx-tui[store]"' in checked.err

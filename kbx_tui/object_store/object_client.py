"""The objects below one URI: reading, conditional writing, listing and deleting.

Errors of obstore become StoreFault with one sentence that repeats no text of the library: it may
hold a signature.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import compress
from pathlib import Path
from statistics import median
from threading import Barrier
from typing import Any
from uuid import uuid4

from kbx_tui.errors import StoreFault
from kbx_tui.object_store.published_version import HEAD, Head, decode_head
from kbx_tui.object_store.store_uri import ENDPOINT_VARIABLES, StoreUri

CONNECT_SECONDS = 3
ANSWER_SECONDS = 20
"""Longest wait for the next part of an answer, except for that to an upload."""
REQUEST_SECONDS = 300
"""Longest duration of one request. It limits how slow a network may be."""
LOOK_SECONDS = 5
"""Longest duration of a request whose answer the program can do without."""
RETRY_SECONDS = 60
RANGE = 8 * 1024 * 1024
"""Bytes of a large object that are read or written by one request."""
OBJECT_BYTES = 64 * 1024 * 1024
"""Size above which an object is not read as a whole."""

EXTRA = 'pip install "kbx-tui[store]"'
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_LOOPBACK = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\])([:/]|$)")

REFUSED_CREDENTIALS = (
    *("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"),
    *("AuthenticationFailed", "AuthorizationFailure"),
)

Tag = Mapping[str, str]
"""What identifies one content of an object to the store, for a conditional write."""


class Conflict(Exception):
    """A conditional write was refused: the object exists, or is not what it was."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    key: str
    size: int
    modified: datetime
    """The time of the last write, by the clock of the store."""


class ObjectClient:
    """Reads and writes objects by keys relative to a URI. Safe for several threads."""

    def __init__(
        self, uri: StoreUri, *, retries: int = 3, request_seconds: float = REQUEST_SECONDS
    ) -> None:
        self.uri, self._retries, self._request_seconds = uri, retries, request_seconds

    def impatient(self) -> ObjectClient:
        return ObjectClient(self.uri, retries=0, request_seconds=LOOK_SECONDS)

    @cached_property
    def _store(self) -> Any:
        return self._connect(read_timeout=timedelta(seconds=ANSWER_SECONDS))

    @cached_property
    def _upload_store(self) -> Any:
        return self._connect()  # the time in which a request is sent counts as one without answer

    def _connect(self, **limits: timedelta) -> Any:
        try:
            from obstore import store as stores  # only where a URI is used
        except ImportError as error:
            raise StoreFault(f"{self.uri} needs the package obstore: {EXTRA}") from error
        options: dict[str, Any] = {
            "client_options": {
                "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                "timeout": timedelta(seconds=self._request_seconds),
                **limits,
                **({"allow_http": True} if _is_loopback() else {}),
            },
            "retry_config": {
                "max_retries": self._retries,
                "retry_timeout": timedelta(seconds=RETRY_SECONDS),
            },
        }
        kinds = {"s3": stores.S3Store, "gs": stores.GCSStore, "az": stores.AzureStore}
        kind: Any = kinds[self.uri.scheme]
        with translate_client_errors("open", self.uri):
            return kind(self.uri.bucket, prefix=self.uri.prefix or None, **options)

    def read(self, key: str) -> tuple[bytes, Tag] | None:
        """Return a small object and its tag; None where there is none. Raises StoreFault."""
        store = self._store
        with translate_client_errors("read", self.uri):
            try:
                result = store.get(key)
                if result.meta["size"] > OBJECT_BYTES:
                    raise StoreFault(f"{self.uri}/{key} is too large to be what was published")
                return bytes(result.bytes()), _tag(result.meta)
            except FileNotFoundError as error:
                if _lacks_bucket(str(error)):
                    raise
                return None

    def head(self) -> tuple[Head, Tag] | None:
        """Return the newest version and its tag; None where nothing is published yet."""
        found = self.read(HEAD)
        return None if found is None else (decode_head(found[0], self.uri), found[1])

    def read_range(self, key: str, start: int, end: int) -> memoryview:
        """Return a part of an object. Raises StoreFault, FileNotFoundError if it is missing."""
        store = self._store
        with translate_client_errors("read", self.uri):
            try:
                data = memoryview(store.get_range(key, start=start, end=end))
                if len(data) != end - start:
                    raise StoreFault(f"{self.uri}/{key} is not as large as what was published")
                return data
            except FileNotFoundError as error:
                missing = error
        raise missing

    def create(self, key: str, data: bytes) -> Tag:
        """Write an object that must not exist. Raises Conflict where it does, and StoreFault."""
        return self._put(key, data, "create")

    def replace(self, key: str, data: bytes, tag: Tag) -> Tag:
        """Replace the content that `tag` identifies. Raises Conflict, and StoreFault."""
        return self._put(key, data, dict(tag))

    def upload(self, key: str, file: Path) -> None:
        store = self._upload_store
        with file.open("rb") as source, translate_client_errors("write", self.uri):
            store.put(key, source, chunk_size=RANGE, max_concurrency=1)

    def list(self, prefix: str) -> Iterator[StoredObject]:
        store = self._store
        with translate_client_errors("list", self.uri):
            for objects in store.list(prefix, chunk_size=1000):
                for found in objects:
                    yield StoredObject(found["path"], found["size"], found["last_modified"])

    def modified(self, key: str) -> datetime:
        """Return when an object was written, by the clock of the store. Raises StoreFault."""
        store = self._store
        with translate_client_errors("read", self.uri):
            modified: datetime = store.head(key)["last_modified"]
        return modified

    def delete(self, keys: Collection[str]) -> None:
        store = self._store
        if keys:
            with translate_client_errors("delete from", self.uri), suppress(FileNotFoundError):
                store.delete(list(keys))

    def _put(self, key: str, data: bytes, mode: Any) -> Tag:
        store = self._store
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with translate_client_errors("write", self.uri):
            try:
                return _tag(store.put(key, data, mode=mode))
            except (AlreadyExistsError, PreconditionError) as error:
                refused = error
        raise Conflict(key) from refused


THREADS = 8

Progress = Callable[[int, int], object]
"""Called with the bytes that were transferred, and with all that are to be."""


def transferred(
    parts: Sequence[tuple[Callable[[], object], int]], progress: Progress
) -> Iterator[None]:
    """Transfer parts of so many bytes on several threads; yield after each. Raises their errors."""
    total, done = sum(size for _, size in parts), 0
    progress(0, total)
    with ThreadPoolExecutor(THREADS) as threads:
        pending = {threads.submit(transfer): size for transfer, size in parts}
        try:
            for future in as_completed(pending):
                future.result()
                done += pending[future]
                progress(done, total)
                yield
        finally:
            threads.shutdown(cancel_futures=True)


@contextmanager
def translate_client_errors(action: str, uri: StoreUri) -> Iterator[None]:
    """Turn errors of obstore into StoreFault; `action` completes the sentence "cannot ..."."""
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError as error:
        raise StoreFault(_no_bucket(uri)) from error
    except (BaseError, ValueError) as error:
        raise StoreFault(_sentence(action, uri, str(error))) from None


def _tag(meta: Mapping[str, Any]) -> Tag:
    return {name: meta[name] for name in ("e_tag", "version") if meta[name]}


def _is_loopback() -> bool:
    """Return whether requests go to this machine, where nobody could listen to plain HTTP."""
    endpoints = (os.environ.get(name, "") for name in ENDPOINT_VARIABLES["s3"])
    return any(_LOOPBACK.match(endpoint) for endpoint in endpoints)


def _lacks_bucket(text: str) -> bool:
    return "NoSuchBucket" in text or "ContainerNotFound" in text


def _no_bucket(uri: StoreUri) -> str:
    return f"there is no bucket {uri.bucket} for {uri}: create it, or correct the URI"


def _sentence(action: str, uri: StoreUri, text: str) -> str:
    """Return what went wrong and what to do, without anything of `text` but its error code."""
    match = _CODE.search(text)
    code = match[1] if match else ""
    what = f"cannot {action} {uri}"
    if code == "RequestTimeTooSkewed":
        return f"{what}: the clock of this machine differs too much from the store's; set it"
    if _lacks_bucket(text):
        return _no_bucket(uri)
    if code in REFUSED_CREDENTIALS:
        return f"{what}: the store does not accept the credentials in the environment ({code})"
    if "403 Forbidden" in text or "401 Unauthorized" in text:
        return f"{what}: the credentials in the environment have no right to do so"
    if action == "open" or "169.254.169.254" in text or "metadata" in text.lower():
        return f"{what}: the environment lacks settings or credentials; docs/store.md names them"
    if "URL scheme is not allowed" in text or "BadScheme" in text:
        return f"{what}: its endpoint has no https; set AWS_ALLOW_HTTP=true to send texts in clear"
    if re.search("error sending request|timed out|timeout|dns error|connect", text, re.IGNORECASE):
        return f"{what}: it cannot be reached; check the network and the endpoint"
    return f"{what}: the store refused the request{f' ({code})' if code else ''}"


RACERS = 32
ROUNDS = 3
"""Races of each kind: a store that checks first and writes later does not lose every time."""
READINGS = 20

Write = Callable[[str, bytes], Tag]


@dataclass(frozen=True, slots=True)
class StoreCheck:
    uri: str
    writes: int
    faults: tuple[str, ...]
    read_ms: float
    write_ms: float
    list_ms: float
    """Median times of reading and writing a small object, and of listing some, in milliseconds."""

    @property
    def is_fit(self) -> bool:
        return not self.faults


def check_store(client: ObjectClient, *, racers: int = RACERS, rounds: int = ROUNDS) -> StoreCheck:
    """Race conditional writes below the URI, and delete what they wrote. Raises StoreFault.

    Stores that ignore `If-None-Match` or `If-Match`, or check first and write later, lose commits
    silently, so one where not exactly one write wins is unfit. `client` should not retry: a write
    that is repeated may meet itself.
    """
    folder = f"check/{uuid4().hex}"
    faults: list[str] = []
    try:
        for round_number in range(rounds):
            key = f"{folder}/{round_number}"
            faults += _race(key, client.create, "to create an object", client, racers)
            current = client.read(key)
            if current is None:
                faults.append("an object that was written is not there")
                continue
            tag = current[1]
            replace = _replacing(client, tag)
            faults += _race(key, replace, "to replace an object", client, racers)
            faults += _late_writes(client, key, tag)
        reads = _median_ms(lambda number: client.read(f"{folder}/0"))
        writes = _median_ms(lambda number: client.create(f"{folder}/timed-{number}", b"timed"))
        lists = _median_ms(lambda number: list(client.list(folder)))
    finally:
        client.delete([found.key for found in client.list(folder)])
    named = tuple(dict.fromkeys(faults))
    return StoreCheck(str(client.uri), 2 * rounds * racers, named, reads, writes, lists)


def _replacing(client: ObjectClient, tag: Tag) -> Write:
    return lambda key, data: client.replace(key, data, tag)


def _race(key: str, write: Write, what: str, client: ObjectClient, racers: int) -> list[str]:
    barrier = Barrier(racers)
    # Never the content that is replaced: a tag may be a digest, which the same bytes keep valid.
    contents = [f"{what} {number}".encode() for number in range(racers)]

    def attempt(number: int) -> bool:
        barrier.wait()
        try:
            write(key, contents[number])
        except (Conflict, StoreFault):  # some stores answer a race with another error
            return False
        return True

    with ThreadPoolExecutor(racers) as threads:
        won = list(compress(range(racers), threads.map(attempt, range(racers))))
    if len(won) != 1:
        return [f"{len(won)} of {racers} simultaneous writes {what} succeeded, where one should"]
    found = client.read(key)
    if found is None or found[0] != contents[won[0]]:
        return [f"a write {what} succeeded, but the object holds something else"]
    return []


def _late_writes(client: ObjectClient, key: str, old: Tag) -> list[str]:
    faults = []
    for write, what in (
        (client.create, "to create an object that exists"),
        (_replacing(client, old), "to replace what an object no longer holds"),
    ):
        try:
            write(key, b"late")
        except Conflict:
            continue
        faults.append(f"a write {what} succeeded")
    return faults


def _median_ms(request: Callable[[int], object]) -> float:
    spent = []
    for number in range(READINGS):
        began = time.perf_counter()
        request(number)
        spent.append(time.perf_counter() - began)
    return round(median(spent) * 1000, 2)

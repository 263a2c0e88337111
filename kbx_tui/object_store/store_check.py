"""Whether an object store keeps the promise that publishing relies on: one conditional write wins.

Stores that accept `If-None-Match` or `If-Match` and ignore them, or check first and write later,
lose commits silently. So many writes race, and a store where not exactly one wins is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from threading import Barrier
from uuid import uuid4

from kbx_tui.errors import StoreFault
from kbx_tui.object_store.object_client import Conflict, ObjectClient, Tag

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
    """Median time of a request for a small object, in milliseconds."""

    @property
    def is_fit(self) -> bool:
        return not self.faults


def check_store(client: ObjectClient, *, racers: int = RACERS, rounds: int = ROUNDS) -> StoreCheck:
    """Race conditional writes below the URI, and delete what they wrote. Raises StoreFault.

    `client` should not retry: a write that is repeated may meet itself.
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
        won = [
            number for number, is_won in enumerate(threads.map(attempt, range(racers))) if is_won
        ]
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

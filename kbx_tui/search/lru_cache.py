"""A least-recently-used cache whose entries may expire."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import inf
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """A cache of at most `max_size` values, each for at most `seconds`. Not thread-safe."""

    def __init__(
        self, max_size: int, *, seconds: float = inf, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_size, self._seconds, self._clock = max_size, seconds, clock
        self._entries: OrderedDict[Key, tuple[float, Value]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        entry = self._entries.get(key)
        if entry is None or self._clock() - entry[0] > self._seconds:
            return None
        self._entries.move_to_end(key)
        return entry[1]

    def put(self, key: Key, value: Value) -> Value:
        self._entries[key] = (self._clock(), value)
        self._entries.move_to_end(key)
        while len(self._entries) > self._max_size:
            self._entries.popitem(last=False)
        return value

    def drop(self, key: Key) -> None:
        self._entries.pop(key, None)

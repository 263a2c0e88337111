"""The latest answers to equal questions: the least recently asked goes first."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """At most `most` values, each for `seconds`. For one thread at a time."""

    def __init__(
        self,
        most: int,
        *,
        seconds: float = float("inf"),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._known: OrderedDict[Key, tuple[float, Value]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Key) -> Value | None:
        """Return what is known about `key`, None when nothing is or it is too old."""
        known = self._known.get(key)
        if known is None or self._clock() - known[0] > self._seconds:
            return None
        self._known.move_to_end(key)
        return known[1]

    def put(self, key: Key, value: Value) -> Value:
        """Keep and return a value; one that was kept longest without being asked for may go."""
        self._known[key] = (self._clock(), value)
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return value

    def drop(self, key: Key) -> None:
        """Forget what is known about `key`."""
        self._known.pop(key, None)

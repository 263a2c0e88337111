"""The base of columns: a value for each row, made when it is asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from operator import eq
from typing import TypeVar, overload

Value = TypeVar("Value", covariant=True)


class Column(Sequence[Value]):
    """The values of rows. Immutable; a slice is a tuple."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # columns are compared by their values

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Column):
            return self is other
        return len(self) == len(other) and all(map(eq, self, other))

    @overload
    def __getitem__(self, row: int) -> Value: ...

    @overload
    def __getitem__(self, row: slice) -> tuple[Value, ...]: ...

    def __getitem__(self, row: int | slice) -> Value | tuple[Value, ...]:
        if isinstance(row, slice):
            return self._slice(row)
        if row < 0 and (row := row + len(self)) < 0:
            raise IndexError("there is no row before the first")
        return self._at(row)

    @abstractmethod
    def _at(self, row: int) -> Value:
        """Return the value of a row, which is not negative. Raises IndexError beyond the last."""

    def _slice(self, rows: slice) -> tuple[Value, ...]:
        """Return the values of some rows; columns with a faster way have their own."""
        return tuple(map(self._at, range(*rows.indices(len(self)))))

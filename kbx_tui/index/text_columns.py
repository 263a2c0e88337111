"""Columns: a value for each row, made from a few arrays on access and not kept.

Also numbers by hash. As Python objects, all of these take ten times the memory, and seconds to
make.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import eq
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import Flags, Hashes, Ints, Rows

Value = TypeVar("Value", covariant=True)


class Column(Sequence[Value]):
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
        """Return the value of a row, which is at least 0. Raises IndexError beyond the last."""

    def _slice(self, rows: slice) -> tuple[Value, ...]:
        return tuple(map(self._at, range(*rows.indices(len(self)))))


BLOCK = 1000

ROWS_KEPT = 2000
"""Most entries of a cache of rows: a search looks up those of its results several times."""


@dataclass(frozen=True, slots=True)
class TextArena:
    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    """Where each text starts in `data`, shape (texts + 1,)."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextArena:
        """Return an arena of texts. Surrogates, which tables cannot hold, become question marks."""
        builder = TextArenaBuilder()
        for text in texts:
            builder.append(text)
        return builder.arena()

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[str]:
        return self.between(0, len(self))

    def between(self, first: int, end: int) -> Iterator[str]:
        """Yield the texts from `first` up to `end`: faster than one by one."""
        data = self.data.data
        for begin in range(first, end, BLOCK):
            bounds = self.starts[begin : min(begin + BLOCK, end) + 1].tolist()
            block = bytes(data[bounds[0] : bounds[-1]])
            if block.isascii():
                text, origin = block.decode("ascii"), bounds[0]
                for start, stop in pairwise(bounds):
                    yield text[start - origin : stop - origin]
            else:
                for start, stop in pairwise(bounds):
                    yield str(data[start:stop], "utf-8")


class TextArenaBuilder:
    def __init__(self) -> None:
        self._data, self._ends = bytearray(), array("q")

    def append(self, text: str) -> None:
        self._data += text.encode("utf-8", "replace")
        self._ends.append(len(self._data))

    def arena(self) -> TextArena:
        ends = np.array(self._ends, np.int64)
        return TextArena(np.frombuffer(self._data, np.uint8), np.concatenate(([0], ends)))


class TextColumn(Column[str]):
    __slots__ = ("_arenas", "_places", "_size", "_views")

    def __init__(self, arenas: Sequence[TextArena], places: Rows | None = None) -> None:
        """`places` has the text of each row, numbered across all arenas; None: row i has text i."""
        self._arenas, self._places = tuple(arenas), places
        self._views = [(arena.data.data, arena.starts.data, len(arena)) for arena in arenas]
        self._size = len(self._arenas[0]) if places is None else len(places)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        return cls([TextArena.of(texts)])

    def take(self, rows: Rows) -> Self:
        return type(self)(self._arenas, rows if self._places is None else self._places[rows])

    def to_arrow(self) -> Any:
        """Return the texts as a pyarrow array; those of a single arena are not copied."""
        import pyarrow as pa

        arrays = [
            pa.Array.from_buffers(
                pa.large_utf8(),
                len(arena),
                [None, pa.py_buffer(arena.starts), pa.py_buffer(arena.data)],
            )
            for arena in self._arenas
        ]
        if self._places is None:
            return arrays[0]
        return pa.concat_arrays(arrays).take(pa.array(self._places))

    def __len__(self) -> int:
        return self._size

    def _at(self, row: int) -> str:
        place = row if self._places is None else int(self._places[row])
        for data, starts, count in self._views:
            if place < count:
                return str(data[starts[place] : starts[place + 1]], "utf-8")
            place -= count
        raise IndexError(f"there is no row {row} in a column of {self._size} texts")

    def _slice(self, rows: slice) -> tuple[str, ...]:
        first, end, step = rows.indices(len(self))
        if self._places is None and step == 1:
            return tuple(self._arenas[0].between(first, end))
        return super()._slice(rows)

    def __iter__(self) -> Iterator[str]:
        if self._places is None:
            return iter(self._arenas[0])
        return map(self._at, range(len(self)))


class SortedTexts(TextColumn):
    """Distinct texts in ascending order, for binary search."""

    __slots__ = ()

    def find(self, text: str) -> int:
        row = bisect_left(self, text)
        return row if row < len(self) and self[row] == text else -1

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.find(text) >= 0

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        row = self.find(value)
        if not start <= row < (len(self) if stop is None else stop):
            raise ValueError(f"{value!r} is not in the column")
        return row


class RowOfText(Mapping[str, int]):
    """The row of each text of a sorted column. Caches those of the last texts looked up."""

    __slots__ = ("_column", "_found")

    def __init__(self, column: SortedTexts) -> None:
        self._column = column
        self._found: dict[str, int] = {}

    def __getitem__(self, text: str) -> int:
        if (row := self._row(text)) < 0:
            raise KeyError(text)
        return row

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self._row(text) >= 0

    def get(self, text: str, default: Any = None) -> Any:
        """Return the row of a text, or `default`; faster than `Mapping.get`."""
        return default if (row := self._row(text)) < 0 else row

    def _row(self, text: str) -> int:
        if (row := self._found.get(text)) is None:
            if len(self._found) >= ROWS_KEPT:
                self._found.clear()
            row = self._found[text] = self._column.find(text)
        return row

    def __len__(self) -> int:
        return len(self._column)

    def __iter__(self) -> Iterator[str]:
        return iter(self._column)


class TextLists(Column[tuple[str, ...]]):
    __slots__ = ("_column",)

    END = "\0"
    """Follows each text; texts of tables never hold it."""

    def __init__(self, column: TextColumn) -> None:
        self._column = column

    @classmethod
    def joined(cls, texts: Iterable[str]) -> str:
        return "".join(f"{text.replace(cls.END, '')}{cls.END}" for text in texts)

    def __len__(self) -> int:
        return len(self._column)

    def _at(self, row: int) -> tuple[str, ...]:
        return self.split(self._column[row])

    def _slice(self, rows: slice) -> tuple[tuple[str, ...], ...]:
        return tuple(map(self.split, self._column[rows]))

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return map(self.split, self._column)

    def starting(self, start: str) -> Iterator[tuple[int, str]]:
        """Yield the rest of each text that begins with `start`, after its row."""
        start = self.END + start
        for row, text in enumerate(self._column):
            for rest in (self.END + text).split(start)[1:]:
                yield row, rest.partition(self.END)[0]

    @classmethod
    def split(cls, text: str) -> tuple[str, ...]:
        return tuple(text.split(cls.END)[:-1]) if text else ()


class CodeBuilder:
    def __init__(self) -> None:
        self._codes, self._code_of = array("i"), dict[str, int]()

    def append(self, text: str) -> None:
        self._codes.append(self._code_of.setdefault(text, len(self._code_of)))

    def column(self) -> CodedColumn:
        return CodedColumn(np.array(self._codes, np.int32), TextArena.of(self._code_of))


class CodedColumn(Column[str]):
    """Texts with few distinct values, such as types and dates: a code for each row. Immutable."""

    __slots__ = ("_values", "arena", "codes")

    def __init__(self, codes: Ints, arena: TextArena) -> None:
        self.codes = codes
        self.arena = arena
        self._values: tuple[str, ...] | None = None

    @property
    def values(self) -> tuple[str, ...]:
        if self._values is None:
            self._values = tuple(self.arena)
        return self._values

    @classmethod
    def of(cls, texts: Iterable[str]) -> CodedColumn:
        if isinstance(texts, CodedColumn):
            return texts
        builder = CodeBuilder()
        for text in texts:
            builder.append(text)
        return builder.column()

    @classmethod
    def concatenated(cls, columns: Sequence[CodedColumn]) -> CodedColumn:
        code_of: dict[str, int] = {}
        parts = []
        for column in columns:
            codes = [code_of.setdefault(text, len(code_of)) for text in column.values]
            parts.append(np.array(codes, np.int32)[column.codes])
        return cls(np.concatenate(parts), TextArena.of(code_of))

    def take(self, rows: Rows) -> CodedColumn:
        taken = CodedColumn(self.codes[rows], self.arena)
        taken._values = self.values
        return taken

    def flags(self, matches: Callable[[str], bool]) -> Flags:
        """Return which rows have a text that matches; each distinct text is tested once."""
        return np.fromiter(map(matches, self.values), np.bool_, len(self.values))[self.codes]

    def __len__(self) -> int:
        return len(self.codes)

    def _at(self, row: int) -> str:
        return self.values[int(self.codes[row])]

    def _slice(self, rows: slice) -> tuple[str, ...]:
        return tuple(map(self.values.__getitem__, self.codes[rows].tolist()))

    def __iter__(self) -> Iterator[str]:
        return map(self.values.__getitem__, self.codes.tolist())


@dataclass(frozen=True, slots=True)
class ByHash:
    """Numbers by a 64-bit hash; several numbers may share a hash."""

    hashes: Hashes
    """The hashes in ascending order."""
    numbers: Ints

    @classmethod
    def of(cls, hashes: Any, numbers: Any) -> ByHash:
        """Index `numbers` by the parallel `hashes`; numbers with the same hash keep their order."""
        unordered = np.array(hashes, np.uint64)
        order = np.argsort(unordered, kind="stable")
        return cls(unordered[order], np.array(numbers, np.int32)[order])

    def find(self, wanted: int) -> list[int]:
        hashes, sought = self.hashes, np.uint64(wanted)
        start = int(hashes.searchsorted(sought))
        if start == len(hashes) or hashes[start] != sought:
            return []
        return list(self.numbers[start : int(hashes.searchsorted(sought, "right"))].tolist())


class ColumnsBuilder:
    """Makes columns from the rows of a table, converting each row to bytes as it arrives.

    As Python objects, all rows would take ten times the memory. `texts`, `lists` and `codes` map
    the name of each column made to that of the table's column.
    """

    def __init__(
        self, *, texts: Mapping[str, str], lists: Mapping[str, str], codes: Mapping[str, str]
    ) -> None:
        self._texts = {name: (column, TextArenaBuilder()) for name, column in texts.items()}
        self._lists = {name: (column, TextArenaBuilder()) for name, column in lists.items()}
        self._codes = {name: (column, CodeBuilder()) for name, column in codes.items()}

    def append(self, row: Mapping[str, Any]) -> None:
        for column, texts in self._texts.values():
            texts.append(row[column])
        for column, texts in self._lists.values():
            texts.append(TextLists.joined(row[column]))
        for column, codes in self._codes.values():
            codes.append(row[column])

    def columns(self) -> dict[str, Any]:
        arenas = {name: texts.arena() for name, (_, texts) in (self._texts | self._lists).items()}
        return arenas | {name: codes.column() for name, (_, codes) in self._codes.items()}

"""Columns of few different texts, such as the types and dates of documents: a number for each."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.column import Column

Codes = NDArray[np.int32]
Rows = NDArray[np.int64]


class CodeBuilder:
    """Numbers texts as they come, equal ones alike."""

    def __init__(self) -> None:
        self._codes, self._code_of = array("i"), dict[str, int]()

    def append(self, text: str) -> None:
        self._codes.append(self._code_of.setdefault(text, len(self._code_of)))

    def codes_and_values(self) -> tuple[Codes, tuple[str, ...]]:
        """Return the number of each text, and the different texts."""
        return np.array(self._codes, np.int32), tuple(self._code_of)


class CodedColumn(Column[str]):
    """The texts of rows by their codes. Immutable."""

    __slots__ = ("codes", "values")

    def __init__(self, codes: Codes, values: Sequence[str]) -> None:
        self.codes = codes
        """The code of each row, an index into `values`."""
        self.values = tuple(values)
        """The different texts."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Return a column of texts."""
        builder = CodeBuilder()
        for text in texts:
            builder.append(text)
        codes, values = builder.codes_and_values()
        return cls(codes, values)

    @classmethod
    def concatenated(cls, columns: Sequence[CodedColumn]) -> Self:
        """Return one column after the other."""
        code_of: dict[str, int] = {}
        parts = []
        for column in columns:
            codes = [code_of.setdefault(text, len(code_of)) for text in column.values]
            parts.append(np.array(codes, np.int32)[column.codes])
        return cls(np.concatenate(parts), tuple(code_of))

    def take(self, rows: Rows) -> Self:
        """Return the column of some rows, in their order."""
        return type(self)(self.codes[rows], self.values)

    def flags(self, matches: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return which rows have a text that matches; each different text is asked for once."""
        return np.fromiter(map(matches, self.values), np.bool_, len(self.values))[self.codes]

    def __len__(self) -> int:
        return len(self.codes)

    def _at(self, row: int) -> str:
        return self.values[int(self.codes[row])]

    def _slice(self, rows: slice) -> tuple[str, ...]:
        return tuple(map(self.values.__getitem__, self.codes[rows].tolist()))

    def __iter__(self) -> Iterator[str]:
        return map(self.values.__getitem__, self.codes.tolist())

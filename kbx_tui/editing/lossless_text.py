"""The bytes of a file as characters and lines, such that a change of some leaves all others. Pure.

Lines are those of the decoded text, so that what a parser says about line 12 can be found in the
bytes, whatever their encoding, byte order mark and line ends.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.parsing.decoding import encoding_of

_LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Splice:
    """Some characters in place of others. Offsets are those of `WrittenText.text`."""

    start: int
    end: int
    inserted: str


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A file as it is written."""

    data: bytes
    bom: bytes
    encoding: str
    text: str
    """Without byte order mark, line ends as they are; encodes to exactly `data` again."""
    starts: tuple[int, ...]
    """Where each line begins, 0-based; a text that ends with a line end has an empty last one."""
    ends: tuple[int, ...]
    """Where each line ends, its line end excluded."""

    @property
    def line_end(self) -> str:
        """The line end used most, `\\n` when there is none."""
        found = Counter(_LINE_END.findall(self.text))
        return max(found, key=lambda end: found[end]) if found else "\n"

    def line(self, number: int) -> str:
        """Return a line without its line end."""
        return self.text[self.starts[number] : self.ends[number]]

    def start_of(self, number: int) -> int:
        """Return where a line begins; beyond the last one, the length of the text."""
        return self.starts[number] if number < len(self.starts) else len(self.text)

    def line_at(self, offset: int) -> int:
        """Return the line that an offset is in."""
        return bisect_right(self.starts, offset) - 1

    def insert_line(self, number: int, line: str) -> Splice:
        """Return what makes `line` line number `number`; a missing final line end stays missing."""
        at, end = self.start_of(number), self.line_end
        if at == len(self.text) and self.ends[-1] != self.starts[-1]:
            return Splice(at, at, end + line.replace("\n", end))
        return Splice(at, at, line.replace("\n", end) + end)

    def remove_lines(self, first: int, end: int) -> Splice:
        """Return what takes lines out; the last line of a text takes the line end before it."""
        start, stop = self.start_of(first), self.start_of(end)
        if stop == len(self.text) and self.ends[-1] != self.starts[-1] and first:
            start = self.ends[first - 1]
        return Splice(start, stop, "")

    def replace(self, splice: Splice) -> bytes:
        """Return the bytes with one splice. Raises WriteFault for what the encoding lacks."""
        before = self.bom + self._encoded(self.text[: splice.start])
        removed = self._encoded(self.text[splice.start : splice.end])
        try:
            inserted = splice.inserted.encode(self.encoding)
        except UnicodeEncodeError as error:
            sign = splice.inserted[error.start]
            raise WriteFault(
                f"the file is written as {self.encoding}, which has no {sign!r}: "
                "save it as UTF-8 in an editor first"
            ) from error
        return before + inserted + self.data[len(before) + len(removed) :]

    def _encoded(self, text: str) -> bytes:
        return text.encode(self.encoding, _errors(self.encoding))


def written(data: bytes) -> WrittenText:
    """Return a file as it is written. Raises WriteFault when its bytes cannot be told apart."""
    bom, encoding = encoding_of(data)
    try:
        text = data[len(bom) :].decode(encoding, _errors(encoding))
        exact = text.encode(encoding, _errors(encoding)) == data[len(bom) :]
    except UnicodeError:
        exact = False
    if not exact:
        raise WriteFault(f"the file is not wholly valid {encoding}: save it as UTF-8 first")
    starts, ends = [0], []
    for found in _LINE_END.finditer(text):
        ends.append(found.start())
        starts.append(found.end())
    return WrittenText(data, bom, encoding, text, tuple(starts), (*ends, len(text)))


def _errors(encoding: str) -> str:
    return "surrogateescape" if encoding == "utf-8" else "strict"  # broken bytes are kept as such

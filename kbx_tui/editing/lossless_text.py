"""Text edits that preserve every other byte of a file. Pure.

Lines are counted in the decoded text, so a parser's line number finds the right bytes whatever the
encoding, byte order mark and line ends.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.decoding import encoding_of

_LINE_END = re.compile("\r\n|\r|\n")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Splice:
    start: int
    end: int
    inserted: str


@dataclass(frozen=True, slots=True)
class LosslessText:
    """A decoded file that encodes back to exactly the same bytes."""

    data: bytes
    bom: bytes
    encoding: str
    text: str
    line_starts: tuple[int, ...]
    """Offset of each line, 0-based; a text that ends with a line end has an empty last line."""
    line_ends: tuple[int, ...]
    """Offset of each line's end, without its line end."""

    @property
    def line_end(self) -> str:
        counts = Counter(_LINE_END.findall(self.text))
        return max(counts, key=lambda end: counts[end]) if counts else "\n"

    def line(self, number: int) -> str:
        return self.text[self.line_starts[number] : self.line_ends[number]]

    def start_of(self, number: int) -> int:
        return self.line_starts[number] if number < len(self.line_starts) else len(self.text)

    def insert_line(self, number: int, line: str) -> Splice:
        """Return a splice that inserts line `number`; a missing final line end stays missing."""
        offset, end = self.start_of(number), self.line_end
        if self._is_end_of_unterminated_line(offset):
            return Splice(offset, offset, end + line.replace("\n", end))
        return Splice(offset, offset, line.replace("\n", end) + end)

    def remove_lines(self, first: int, end: int) -> Splice:
        start, stop = self.start_of(first), self.start_of(end)
        if first and self._is_end_of_unterminated_line(stop):  # the line end before it goes, too
            start = self.line_ends[first - 1]
        return Splice(start, stop, "")

    def apply(self, *splices: Splice) -> bytes:
        """Return the bytes of the text after splices, which do not overlap and are in order."""
        parts, done = [self.bom], 0
        for splice in splices:
            parts.append(self._encode(self.text[done : splice.start]))
            try:
                parts.append(splice.inserted.encode(self.encoding))
            except UnicodeEncodeError as error:
                character = splice.inserted[error.start]
                raise WriteFault(
                    f"the file is encoded as {self.encoding}, which has no {character!r}: "
                    "save it as UTF-8 in an editor first"
                ) from error
            done = splice.end
        return b"".join((*parts, self._encode(self.text[done:])))

    def _is_end_of_unterminated_line(self, offset: int) -> bool:
        return offset == len(self.text) and self.line_ends[-1] != self.line_starts[-1]

    def _encode(self, text: str) -> bytes:
        return text.encode(self.encoding, _errors(self.encoding))


def decode_lossless(data: bytes) -> LosslessText:
    """Decode a file. Raises WriteFault when the text would not encode back to the same bytes."""
    bom, encoding = encoding_of(data)
    try:
        text = data[len(bom) :].decode(encoding, _errors(encoding))
        is_lossless = text.encode(encoding, _errors(encoding)) == data[len(bom) :]
    except UnicodeError:
        is_lossless = False
    if not is_lossless:
        raise WriteFault(f"the file is not entirely valid {encoding}: save it as UTF-8 first")
    spans = [line_end.span() for line_end in _LINE_END.finditer(text)]
    starts, ends = (0, *(end for _, end in spans)), (*(start for start, _ in spans), len(text))
    return LosslessText(data, bom, encoding, text, starts, ends)


def with_same_change(data: bytes, old: bytes, new: bytes) -> bytes:
    """Return a file with the lines changed that differ between two other texts.

    `old` has as many lines as the file and is encoded as UTF-8, as `new` is; only the lines from
    the first to the last difference are replaced. Raises WriteFault.
    """
    before, after = old.decode().split("\n"), new.decode().split("\n")
    most, kept = min(len(before), len(after)), 0
    while kept < most and before[-1 - kept] == after[-1 - kept]:
        kept += 1
    first = 0
    while first < most - kept and before[first] == after[first]:
        first += 1
    end, lines = len(before) - kept, after[first : len(after) - kept]
    text = decode_lossless(data)
    if first == end:
        return text.apply(text.insert_line(first, "\n".join(lines))) if lines else data
    if not lines:
        return text.apply(text.remove_lines(first, end))
    inserted = text.line_end.join(lines)
    return text.apply(Splice(text.line_starts[first], text.line_ends[end - 1], inserted))


def one_line(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()


def _errors(encoding: str) -> str:
    return "surrogateescape" if encoding == "utf-8" else "strict"  # keeps invalid UTF-8 bytes

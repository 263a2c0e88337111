"""The words, sections and tag lines of a markdown text. Pure.

Words are found by the stem that they share with a wanted one. Sections hold the wanted words of
their text and of the headings above it; one without such a word is left out. Lines with only tags
or a property `key:: value` classify a note, and say little about its content.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from string import punctuation, whitespace
from typing import Literal, NamedTuple

from kbx_tui.index.lexical.bm25 import TextOffsets
from kbx_tui.index.lexical.postings import BEYOND, CJK_CHARACTER, LONGEST_WORD, STOP_WORDS
from kbx_tui.knowledge.folding import beginning_of, fold, stem

Match = tuple[int, int, str]
OffsetsOf = Callable[[str], Sequence[int] | None]
"""Returns where the words with a stem start in a text, ascending, perhaps with some past its end.
None if unknown."""

_SIGN, _SIGNS = re.compile(CJK_CHARACTER), re.compile(f"{CJK_CHARACTER}+")
_WORD_WITHOUT_SIGNS = re.compile(rf"(?:(?!{CJK_CHARACTER})\w)*")
_WORD, _ASCII_WORD = re.compile(r"\w*"), re.compile(r"\w*", re.ASCII)
_BEFORE_WORDS = frozenset(whitespace + punctuation) - {"_"}
"""Characters that most words follow. Others are examined more closely."""
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff\u0370-\u03ff\u0451]")
"""Letters whose accent folding removes, and the Greek final sigma."""
_ASCII = bytes(range(0x80))
FORMS_KEPT = 256
"""Most words per stem for which a cache knows whether they have the stem."""

_FEW_CAPITALS = 8
"""Above this number of different non-ASCII capitals, `str.lower` is faster than replacing each."""


class TextWords:
    def __init__(
        self, text: str, stems: Iterable[str], language: str, offsets_of: OffsetsOf | None = None
    ) -> None:
        """`stems` are all that will be looked for."""
        self._text, self._stems, self._language = text, stems, language
        self._offsets_of = offsets_of
        self._word_at = (_ASCII_WORD if text.isascii() else _WORD).match

    @cached_property
    def _lowered(self) -> str:
        return lower_in_place(self._text, frozenset("".join(self._stems)))

    def find(
        self, stems: Iterable[str], spans: Sequence[tuple[int, int]] | None = None
    ) -> list[Match]:
        """Return every word with one of these stems; with `spans`, only those that begin in one.

        A stem of CJK characters is found literally, anywhere.
        """
        matches: list[Match] = []
        for each in stems:
            offsets = None if self._offsets_of is None else self._offsets_of(each)
            if offsets is None:
                matches += self._search(each, spans)
            elif offsets:
                if spans is not None:
                    parts = (slice(*(bisect_left(offsets, end) for end in span)) for span in spans)
                    offsets = [offset for part in parts for offset in offsets[part]]
                matches += self._at(offsets, each)
        return matches

    def _at(self, offsets: Sequence[int], word_stem: str) -> Iterator[Match]:
        text, is_found = self._text, _forms(word_stem, self._language)
        for start in offsets[: bisect_left(offsets, len(text))]:
            word = self._word_at(text, start)[0]  # type: ignore[index]
            if not word.isascii():  # a CJK character may follow directly
                word = _WORD_WITHOUT_SIGNS.match(text, start)[0]  # type: ignore[index]
            if is_found[word] and (not start or text[start - 1] != "_"):
                yield start, start + len(word), word_stem

    def _search(self, word_stem: str, spans: Sequence[tuple[int, int]] | None) -> Iterator[Match]:
        """Search for the beginning that such words share: much faster than stemming every word."""
        text, lowered = self._text, self._lowered
        is_sign = _SIGNS.fullmatch(word_stem) is not None
        beginning = word_stem if is_sign else beginning_of(word_stem, self._language)
        for begin, stop in [(0, len(text))] if spans is None else spans:
            start = lowered.find(beginning, begin, stop)
            while start >= 0:
                end = start + 1
                if is_sign:
                    end = start + len(word_stem)
                    yield start, end, word_stem
                elif not start or lowered[start - 1] in _BEFORE_WORDS or _begins(lowered, start):
                    end = self._word_at(lowered, start).end()  # type: ignore[union-attr]
                    word = text[start:end]
                    if not word.isascii():  # ASCII words hold no CJK, and looking is slow
                        end = _WORD_WITHOUT_SIGNS.match(lowered, start).end()  # type: ignore[union-attr]
                        word = text[start:end]
                    if _stem_of(word, self._language) == word_stem:
                        yield start, end, word_stem
                start = lowered.find(beginning, end, stop)


class _Forms(dict[str, bool]):
    def __init__(self, word_stem: str, language: str) -> None:
        self._stem, self._language = word_stem, language
        self._beginning = beginning_of(word_stem, language)

    def __missing__(self, word: str) -> bool:
        if len(self) >= FORMS_KEPT:
            self.clear()
        begins_alike = fold(word).startswith(self._beginning)
        self[word] = found = begins_alike and _stem_of(word, self._language) == self._stem
        return found


_forms = lru_cache(maxsize=256)(_Forms)


@lru_cache(maxsize=4096)
def _stem_of(word: str, language: str) -> str:
    return stem(fold(word), language)


def _begins(text: str, start: int) -> bool:
    before = text[start - 1]
    return not (before.isalnum() or before == "_") or _SIGN.match(before) is not None


def lower_in_place(text: str, letters: Collection[str]) -> str:
    """Return `text` in lower case, with the same length.

    ASCII is converted as bytes, which is faster, then the other capitals, of which most texts have
    few. An accent is removed only if the plain letter is one of `letters`, as each accented letter
    takes a pass.
    """
    if text.isascii():
        return text.lower()
    encoded = text.encode("utf-8", "surrogatepass")
    others = set(encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    lower = {letter: letter.lower()[:1] for letter in others}
    capitals = [letter for letter in others if lower[letter] != letter]
    if len(capitals) <= _FEW_CAPITALS:
        lowered = encoded.lower().decode("utf-8", "surrogatepass")
        for letter in capitals:
            lowered = lowered.replace(letter, lower[letter])
    else:
        # Exceptions: in lower case, \u0130 becomes two letters, and \u03a3 depends on its position.
        lowered = text.replace("\u0130", "I").replace("\u03a3", "\u03c3").lower()
    for letter in filter(_ACCENTED.match, {*lower.values()}):
        if (folded := fold(letter)) in letters:
            lowered = lowered.replace(letter, folded)
    return lowered


LONGEST_STEM = LONGEST_WORD // 2
"""Length of a stem, in letters, up to which none of its words is too long for the index."""


def offsets_in_body(text: TextOffsets | None, body: str, *, read_at_most: int) -> OffsetsOf | None:
    """Return a function that gives the offsets of a stem's words in a body, the end of `text`.

    None unless the first `read_at_most` characters of the body have offsets. `text` must be in
    English: in other languages, stop words are left out by word, not by stem.
    """
    if text is None:
        return None
    begin = text.size - len(body)
    if begin < 0 or begin + min(len(body), read_at_most) > BEYOND:
        return None

    def offsets_of(word_stem: str) -> Sequence[int] | None:
        if not _has_offsets(word_stem):
            return None
        offsets = text.of(word_stem)
        return offsets and [offset - begin for offset in offsets[bisect_left(offsets, begin) :]]

    return offsets_of


@lru_cache(maxsize=256)  # asked of each text
def _has_offsets(word_stem: str) -> bool:
    is_indexed = word_stem.isalnum() and word_stem not in STOP_WORDS
    return is_indexed and len(word_stem) <= LONGEST_STEM and not _SIGN.search(word_stem)


_HEADING = re.compile(r"(?<![^\n])(?P<marks>#{1,6})[ \t].*")

Stems = frozenset[str]
NO_STEMS = Stems()


class Heading(NamedTuple):
    start: int
    end: int
    level: int


class Section(NamedTuple):
    heading: int
    start: int
    end: int
    own: Stems
    """Stems of the words in its heading, without those in the title, which apply to all sections.
    """
    headings: Stems
    matches: Sequence[Match]


def find_headings(text: str) -> list[Heading]:
    """Return the headings of a text, in order."""
    headings, start = [], text.find("#")
    while start >= 0:
        if found := _HEADING.match(text, start):
            headings.append(Heading(*found.span(), len(found["marks"])))
        start = text.find("#", found.end() if found else start + 1)
    return headings


def sections(text: str, headings: Sequence[Heading], matches: Sequence[Match]) -> Iterator[Section]:
    """Yield the sections with a match in their text or in a heading above it, in order."""
    above: list[tuple[int, Stems]] = []  # matching headings: level, stems so far
    begin = start = first = index = 0
    size = len(matches)
    own = title = below = NO_STEMS
    has_title = bool(headings) and not text[: headings[0].start].strip()
    for number, (place, end, level) in enumerate(headings):
        while index < size and matches[index][0] < place:
            index += 1
        if below or index > first:
            yield Section(begin, start, place, own, below, matches[first:index])
        first = index
        while index < size and matches[index][0] < end:
            index += 1
        own = stems_of(matches[first:index]) if index > first else NO_STEMS
        while above and above[-1][0] >= level:
            above.pop()
        below = above[-1][1] if above else NO_STEMS
        if own:
            below |= own
        if below:
            above.append((level, below))
        if not number and has_title:
            title = own
        if own:
            own -= title
        begin, start, first = place, end, index
    if below or first < size:
        yield Section(begin, start, len(text), own, below, matches[first:])


def stems_of(matches: Sequence[Match]) -> Stems:
    return Stems([stem for _, _, stem in matches]) if matches else NO_STEMS


_MARK = r"[ \t]*(?:[-*+>][ \t]+)?"
_TAGS = re.compile(
    rf"{_MARK}(?:\*{{0,2}}tags?\*{{0,2}}[ \t]*:{{1,2}}\*{{0,2}}[ \t]*)?"
    r"(?:\#[^\s\#,;]+[ \t,;]*)+$",
    re.IGNORECASE,
)
_PROPERTY = re.compile(rf"{_MARK}\*{{0,2}}\w[\w \-]{{0,40}}\*{{0,2}}::(?:[ \t]|$)")
_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)


def kind_of_line(text: str, offset: int) -> Literal["", "tags", "property"]:
    """Return whether the line at an offset holds only tags or a property; empty for text."""
    start, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    end = end if end >= 0 else len(text)
    if _TAGS.match(text, start, end):
        return "tags"
    return "property" if _PROPERTY.match(text, start, end) else ""


def text_near(text: str, offset: int) -> int:
    """Return the offset if its line is text, else the start of the next such line, or the first."""
    if not kind_of_line(text, offset):
        return offset
    for first in (offset, 0):
        for line in _LINE.finditer(text, first):
            is_heading = line[0].lstrip().startswith(("# ", "##"))
            if not is_heading and not kind_of_line(text, line.start()):
                return line.start()
    return offset

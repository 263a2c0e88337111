"""Chooses the passage of a document that fits a query best: by words, headings and meaning. Pure.

    score = sum of the weights of the words in the passage / sum of all weights
          + MEANING_WEIGHT * cosine of its chunk

A word of the passage's own heading counts OWN_HEADING_SHARE of its weight, in the passage or not:
the heading says what its section is about. A word that stands only in a heading further up, or in a
title above all text, counts HEADING_SHARE. Words of the title count no more in another heading, as
they say nothing about one section. The first of equal passages is the best.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

PASSAGE_LENGTH = 200
"""Characters of a passage."""

ROUNDING = 1e-9
"""Difference below which passages are equal: weights are added and subtracted."""

OWN_HEADING_SHARE, HEADING_SHARE, MEANING_WEIGHT = 1.25, 0.75, 1.0
"""Chosen by the experiment "best passage" in docs/quality.md."""

HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*#*$", re.MULTILINE)
_TEXT = re.compile(r"\S")

Match = tuple[int, int, str]
"""Start and end of a word, and its stem."""

Stems = frozenset[str]


@dataclass(frozen=True, slots=True)
class WantedWords:
    """The words of a query by stem, each with a weight above 0."""

    words: Mapping[str, float]
    names: Mapping[str, float] = field(default_factory=dict)
    """Names that the document query leaves out. They count in headings alone: who took part is
    known from links, and in a transcript everybody's name is everywhere."""


@dataclass(frozen=True, slots=True)
class _Section:
    """The text below one heading, or above the first."""

    heading: int
    """Where its heading begins."""
    start: int
    end: int
    own: Stems
    """Stems of the words in its heading that the title lacks, as all of the page is about these."""
    headings: Stems
    """Stems of the words in all headings above it, its own included."""
    matches: Sequence[Match]


def best_passage(
    text: str,
    matches: Sequence[Match],
    wanted: WantedWords,
    cosines: Sequence[tuple[int, float]] = (),
) -> int | None:
    """Return the offset where the best passage begins, None if no wanted word is in the text.

    `matches` are in order, and so are `cosines`: the offset and cosine of each chunk.
    """
    offsets = [offset for offset, _ in cosines]
    total = sum(wanted.words.values()) or 1.0
    best_score, best_start = 0.0, None
    for section in _sections(text, matches):
        for start, weight in _passages(section, text, wanted):
            score = weight / total
            if cosines:
                score += MEANING_WEIGHT * cosines[max(bisect_right(offsets, start) - 1, 0)][1]
            if best_start is None or score > best_score + ROUNDING:
                best_score, best_start = score, start
    return best_start


def _passages(section: _Section, text: str, wanted: WantedWords) -> Iterator[tuple[int, float]]:
    """Yield where each passage of a section begins, in order, and the weight of its words.

    One begins at each wanted word, and at the first text below a heading that holds one, or at such
    a heading without text. Below a title, the first text counts only if it has no such word itself.
    """
    from_headings, gains = _weights(section, wanted)
    window = _Window(section.matches, gains)
    if section.headings:
        first = _TEXT.search(text, section.start, section.end)
        start = first.start() if first else section.heading
        inside = window.weight_within(0, start)
        if section.own or not window.size:
            yield start, from_headings + inside
    for index, (start, _, stem) in enumerate(section.matches):
        if stem in wanted.words:
            yield start, from_headings + window.weight_within(index, start)


def _weights(section: _Section, wanted: WantedWords) -> tuple[float, Mapping[str, float]]:
    """Return the weight of the headings of a section, and what each word in a passage adds."""
    if not section.headings:
        return 0.0, wanted.words
    headings, gains = 0.0, dict(wanted.words)
    for stem in section.headings:
        weight = wanted.words.get(stem)
        if weight is None:
            headings += HEADING_SHARE * wanted.names.get(stem, 0.0)
        elif stem in section.own:
            headings += OWN_HEADING_SHARE * weight
            gains[stem] = 0.0
        else:
            headings += HEADING_SHARE * weight
            gains[stem] = (1.0 - HEADING_SHARE) * weight
    return headings, gains


class _Window:
    """The matches of one section within a passage that moves forward."""

    def __init__(self, matches: Sequence[Match], gains: Mapping[str, float]) -> None:
        self._matches, self._gains = matches, gains
        self._first = self._end = 0
        self._counts: dict[str, int] = {}
        self._weight = 0.0

    @property
    def size(self) -> int:
        """Number of matches in the passage."""
        return self._end - self._first

    def weight_within(self, first: int, start: int) -> float:
        """Return the weight of the different words of the passage from `start` on.

        `first` is the first match in it. Neither is lower than in the call before.
        """
        matches, gains, counts = self._matches, self._gains, self._counts
        for _, _, stem in matches[self._first : min(first, self._end)]:
            counts[stem] -= 1
            if not counts[stem]:
                self._weight -= gains.get(stem, 0.0)
        self._first, self._end = first, max(first, self._end)
        limit = start + PASSAGE_LENGTH
        while self._end < len(matches) and matches[self._end][1] <= limit:
            stem = matches[self._end][2]
            counts[stem] = counts.get(stem, 0) + 1
            if counts[stem] == 1:
                self._weight += gains.get(stem, 0.0)
            self._end += 1
        return self._weight


def _sections(text: str, matches: Sequence[Match]) -> Iterator[_Section]:
    """Yield the sections of a text in order, each with the matches below its heading."""
    above: list[tuple[int, Stems]] = []  # level and stems of each heading above
    begin = start = first = 0
    own = title = Stems()
    first_text = _TEXT.search(text)
    for heading in _headings(text):
        below = _count_before(matches, first, heading.start())
        inside = _count_before(matches, below, heading.end())
        yield _Section(begin, start, heading.start(), own, _union(above), matches[first:below])
        while above and above[-1][0] >= len(heading[1]):
            above.pop()
        stems = Stems(stem for _, _, stem in matches[below:inside])
        above.append((len(heading[1]), stems))
        if first_text and heading.start() == first_text.start():
            title = stems
        own = stems - title
        begin, start, first = heading.start(), heading.end(), inside
    yield _Section(begin, start, len(text), own, _union(above), matches[first:])


def _headings(text: str) -> Iterator[re.Match[str]]:
    """Yield the headings of a text in order. Tries no other lines, which takes long."""
    start = 0 if text.startswith("#") else text.find("\n#") + 1 or len(text)
    while start < len(text):
        if heading := HEADING.match(text, start):
            yield heading
        start = text.find("\n#", start) + 1 or len(text)


def _count_before(matches: Sequence[Match], first: int, offset: int) -> int:
    """Return the index from `first` on of the first match at or behind an offset."""
    while first < len(matches) and matches[first][0] < offset:
        first += 1
    return first


def _union(above: Sequence[tuple[int, Stems]]) -> Stems:
    return Stems().union(*(stems for _, stems in above))

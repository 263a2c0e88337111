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
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

PASSAGE_LENGTH = 200
"""Characters of a passage."""

ROUNDING = 1e-9
"""Difference below which passages are equal: weights are added and subtracted."""

OWN_HEADING_SHARE, HEADING_SHARE, MEANING_WEIGHT = 1.25, 0.75, 1.0
"""Chosen by the experiment "best passage" in docs/quality.md."""

_HEADING_MARKS = re.compile(r"#{1,6}(?=[ \t])")
_TEXT = re.compile(r"\S")

Match = tuple[int, int, str]
"""Start and end of a word, and its stem."""

Stems = frozenset[str]
_NO_STEMS = Stems()


@dataclass(frozen=True, slots=True)
class WantedWords:
    """The words of a query by stem, each with a weight above 0."""

    words: Mapping[str, float]
    names: Mapping[str, float] = field(default_factory=dict)
    """Names that the document query leaves out. They count in headings alone: who took part is
    known from links, and in a transcript everybody's name is everywhere."""


class _Section(NamedTuple):
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
    closest = MEANING_WEIGHT * max((cosine for _, cosine in cosines), default=0.0)
    total = sum(wanted.words.values()) or 1.0
    best_score, best_start = 0.0, None
    for section in _sections(text, matches):
        from_headings, gains = _weights(section, wanted)
        most = from_headings + sum(gains.get(stem, 0.0) for stem in _stems(section.matches))
        if best_start is not None and most / total + closest <= best_score:
            continue  # no passage of this section can be better
        for start, weight in _passages(section, text, wanted, from_headings, gains):
            score = weight / total
            if cosines:
                score += MEANING_WEIGHT * cosines[max(bisect_right(offsets, start) - 1, 0)][1]
            if best_start is None or score > best_score + ROUNDING:
                best_score, best_start = score, start
    return best_start


def _passages(
    section: _Section,
    text: str,
    wanted: WantedWords,
    from_headings: float,
    gains: Mapping[str, float],
) -> Iterator[tuple[int, float]]:
    """Yield where each passage of a section begins, in order, and the weight of its words.

    One begins at each wanted word, and at the first text below a heading that holds one, or at such
    a heading without text. Below a title, the first text counts only if it has no such word itself.
    """
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
    """Yield the sections of a text that hold a match or are below one in a heading, in order."""
    above: list[tuple[int, Stems]] = []  # each heading above: level, stems of all down to it
    begin = start = first = 0
    own = title = headings = Stems()
    first_text = _TEXT.search(text)
    for level, place, end in _headings(text):
        below = bisect_left(matches, (place,), first)
        inside = bisect_left(matches, (end,), below)
        if headings or below > first:
            yield _Section(begin, start, place, own, headings, matches[first:below])
        while above and above[-1][0] >= level:
            above.pop()
        stems = _stems(matches[below:inside])
        headings = stems | above[-1][1] if above else stems
        above.append((level, headings))
        if first_text and place == first_text.start():
            title = stems
        own = stems - title
        begin, start, first = place, end, inside
    if headings or first < len(matches):
        yield _Section(begin, start, len(text), own, headings, matches[first:])


def _headings(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield level, start and end of each heading of a text, in order.

    Tries no other lines and captures no words, which takes long.
    """
    start = 0 if text.startswith("#") else text.find("\n#") + 1 or len(text)
    while start < len(text):
        if marks := _HEADING_MARKS.match(text, start):
            end = text.find("\n", start)
            yield marks.end() - start, start, end if end >= 0 else len(text)
        start = text.find("\n#", start) + 1 or len(text)


def _stems(matches: Sequence[Match]) -> Stems:
    return Stems([stem for _, _, stem in matches]) if matches else _NO_STEMS

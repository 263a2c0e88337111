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
    known: dict[tuple[Stems, Stems, Stems], float] = {}
    best_score, best_start = 0.0, None
    for section in _sections(text, matches):
        for start, stems in _passages(section, text, wanted):
            key = stems, section.own, section.headings
            if (score := known.get(key)) is None:
                score = known[key] = _share(*key, wanted)
            if cosines:
                score += MEANING_WEIGHT * cosines[max(bisect_right(offsets, start) - 1, 0)][1]
            if best_start is None or score > best_score:
                best_score, best_start = score, start
    return best_start


def _share(inside: Stems, own: Stems, above: Stems, wanted: WantedWords) -> float:
    """Return the share of the words that a passage and the headings above it hold."""
    share = HEADING_SHARE * sum(weight for name, weight in wanted.names.items() if name in above)
    for stem, weight in wanted.words.items():
        if stem in own:
            share += OWN_HEADING_SHARE * weight
        elif stem in inside:
            share += weight
        elif stem in above:
            share += HEADING_SHARE * weight
    return share / (sum(wanted.words.values()) or 1.0)


def _sections(text: str, matches: Sequence[Match]) -> Iterator[_Section]:
    """Yield the sections of a text in order, each with the matches below its heading."""
    above: list[tuple[int, Stems]] = []  # level and stems of each heading above
    begin = start = first = 0
    own = title = Stems()
    for heading in HEADING.finditer(text):
        below = _count_before(matches, first, heading.start())
        inside = _count_before(matches, below, heading.end())
        yield _Section(begin, start, heading.start(), own, _union(above), matches[first:below])
        while above and above[-1][0] >= len(heading[1]):
            above.pop()
        stems = Stems(stem for _, _, stem in matches[below:inside])
        above.append((len(heading[1]), stems))
        if not text[: heading.start()].strip():
            title = stems
        own = stems - title
        begin, start, first = heading.start(), heading.end(), inside
    yield _Section(begin, start, len(text), own, _union(above), matches[first:])


def _count_before(matches: Sequence[Match], first: int, offset: int) -> int:
    """Return the index from `first` on of the first match at or behind an offset."""
    while first < len(matches) and matches[first][0] < offset:
        first += 1
    return first


def _union(above: Sequence[tuple[int, Stems]]) -> Stems:
    return Stems().union(*(stems for _, stems in above))


def _passages(section: _Section, text: str, wanted: WantedWords) -> Iterator[tuple[int, Stems]]:
    """Yield where each passage of a section begins, in order, and the stems of the words in it.

    One begins at each wanted word, and at the first text below a heading that holds one, or at such
    a heading without text. Below a title, the first text counts only if it has no such word itself.
    """
    if section.headings:
        first = _TEXT.search(text, section.start, section.end)
        start = first.start() if first else section.heading
        stems = _stems_within(section.matches, 0, start)
        if section.own or not stems:
            yield start, stems
    for index, (start, _, stem) in enumerate(section.matches):
        if stem in wanted.words:
            yield start, _stems_within(section.matches, index, start)


def _stems_within(matches: Sequence[Match], first: int, start: int) -> Stems:
    """Return the stems of the matches from `first` on in the passage that begins at `start`."""
    stems = set()
    for index in range(first, len(matches)):
        _, end, stem = matches[index]
        if end - start > PASSAGE_LENGTH:
            break
        stems.add(stem)
    return frozenset(stems)

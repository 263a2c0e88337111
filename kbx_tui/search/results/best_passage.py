"""Chooses the passage of a document that fits a query best: by words, headings and meaning. Pure.

    score = sum of the weights of the words in the passage / sum of all weights
          + MEANING_WEIGHT * cosine of its chunk

A word of the passage's own heading counts OWN_HEADING_SHARE of its weight, in the passage or not:
the heading says what its section is about. A word that stands only in a heading further up, or in a
title above all text, counts HEADING_SHARE. Words of the title count no more in another heading, as
they say nothing about one section. The first of equal passages is the best.

Sections are visited by the highest score that any of their passages can have, until none of the
rest can hold a better one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from operator import itemgetter

from kbx_tui.search.results.text_sections import Heading, Section, Stems, sections, stems_of
from kbx_tui.search.results.word_matches import Match

PASSAGE_LENGTH = 200
"""Characters of a passage."""

ROUNDING = 1e-9
"""Difference below which passages are equal: weights are added and subtracted."""

OWN_HEADING_SHARE, HEADING_SHARE, MEANING_WEIGHT = 1.25, 0.75, 1.0
"""Chosen by the experiment "best passage" in docs/quality.md."""

LinesAndCosines = tuple[Sequence[int], Sequence[float]]
"""The line of the file where each chunk of a document starts, in order, and its cosine."""
NO_CHUNKS: LinesAndCosines = (), ()

_TEXT = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class WantedWords:
    """The words of a query by stem, each with a weight above 0."""

    words: Mapping[str, float]
    names: Mapping[str, float] = field(default_factory=dict)
    """Names that the document query leaves out. They count in headings alone: who took part is
    known from links, and in a transcript everybody's name is everywhere."""


class ChunkCosines:
    """The cosines of the chunks of a text."""

    def __init__(self, text: str, chunks: LinesAndCosines, first_line: int) -> None:
        """`text` begins at the line `first_line` of the file."""
        self._text, (self._lines, self._cosines) = text, chunks
        self._first_line = self._line = first_line
        self._offset = 0
        self.highest = max(self._cosines, default=0.0)

    def at(self, offset: int) -> float:
        """Return the cosine of the chunk that an offset is in, 0 without chunks.

        Fast if offsets ascend from call to call: only the lines between are counted.
        """
        if not self._lines:
            return 0.0
        if offset < self._offset:
            self._line, self._offset = self._first_line, 0
        self._line += self._text.count("\n", self._offset, offset)
        self._offset = offset
        return self._cosines[max(bisect_right(self._lines, self._line) - 1, 0)]

    def best_offset(self) -> int | None:
        """Return where the line with the first of the best chunks starts; None without chunks."""
        last_line = self._first_line + self._text.count("\n")
        inside = [
            (-cosine, line)
            for line, cosine in zip(self._lines, self._cosines, strict=True)
            if self._first_line <= line <= last_line
        ]
        if not inside:
            return None
        offset = 0
        for _ in range(min(inside)[1] - self._first_line):
            offset = self._text.index("\n", offset) + 1
        return offset


_Candidate = tuple[float, Section, float, Mapping[str, float]]
"""A section that may hold the best passage: a weight that the words of none of its passages exceed,
the section, the weight of the words in its headings, and what each word in a passage adds."""


def best_passage(
    text: str,
    headings: Sequence[Heading],
    matches: Sequence[Match],
    wanted: WantedWords,
    cosines: ChunkCosines,
) -> int | None:
    """Return the offset where the best passage begins, None if no wanted word is in the text.

    `matches` are in order: the words in the text, and those of names in its headings.
    """
    total, closest = sum(wanted.words.values()) or 1.0, MEANING_WEIGHT * cosines.highest
    best_score, best_start = -inf, None
    candidates = _candidates(sections(text, headings, matches), wanted)
    for at_most, section, from_headings, gains in sorted(
        candidates, key=itemgetter(0), reverse=True
    ):
        if at_most / total + closest < best_score - ROUNDING:
            break
        for start, weight in _passages(section, from_headings, gains, text, wanted.words):
            score = weight / total
            if score + closest < best_score - ROUNDING:
                continue  # counts no lines
            score += MEANING_WEIGHT * cosines.at(start)
            is_first = best_start is None or start < best_start
            if score > best_score + ROUNDING or (is_first and score >= best_score - ROUNDING):
                best_score, best_start = score, start
    return best_start


def _candidates(all_sections: Iterable[Section], wanted: WantedWords) -> Iterator[_Candidate]:
    known: dict[tuple[Stems, Stems], tuple[float, Mapping[str, float]]] = {}
    for section in all_sections:  # most have the same words in their headings
        words = section[3:5]
        if (weights := known.get(words)) is None:
            weights = known[words] = _weights(*words, wanted)
        from_headings, gains = weights
        most = from_headings
        for stem in stems_of(section.matches):
            most += gains.get(stem, 0.0)
        yield most, section, from_headings, gains


def _passages(
    section: Section,
    weight: float,
    gains: Mapping[str, float],
    text: str,
    words: Mapping[str, float],
) -> Iterator[tuple[int, float]]:
    """Yield where each passage of a section begins, in order, and the weight of its words.

    One begins at each wanted word, and at the first text below a heading that holds one, or at such
    a heading without text. Below a title, the first text counts only if it has no such word itself.
    `weight` is that of the words in its headings.
    """
    matches, size = section.matches, len(section.matches)
    places = [(match[0], index) for index, match in enumerate(matches) if match[2] in words]
    if section.headings:
        first_text = _TEXT.search(text, section.start, section.end)
        start = first_text.start() if first_text else section.heading
        if section.own or not matches or matches[0][1] > start + PASSAGE_LENGTH:
            places.insert(0, (start, 0))
    counts = dict.fromkeys(gains, 0)
    first = end = 0  # of the matches in the passage
    for start, index in places:
        while first < index:
            if first < end:
                stem = matches[first][2]
                counts[stem] = left = counts.get(stem, 0) - 1
                if not left:
                    weight -= gains.get(stem, 0.0)
            first += 1
        end = max(index, end)
        limit = start + PASSAGE_LENGTH
        while end < size and matches[end][1] <= limit:
            stem = matches[end][2]
            counts[stem] = held = counts.get(stem, 0) + 1
            if held == 1:
                weight += gains.get(stem, 0.0)
            end += 1
        yield start, weight


def _weights(own: Stems, headings: Stems, wanted: WantedWords) -> tuple[float, Mapping[str, float]]:
    """Return the weight of the headings of a section, and what each word in a passage adds."""
    if not headings:
        return 0.0, wanted.words
    from_headings, gains = 0.0, dict(wanted.words)
    for stem in headings:
        weight = wanted.words.get(stem)
        if weight is None:
            from_headings += HEADING_SHARE * wanted.names.get(stem, 0.0)
        elif stem in own:
            from_headings += OWN_HEADING_SHARE * weight
            gains[stem] = 0.0
        else:
            from_headings += HEADING_SHARE * weight
            gains[stem] = (1.0 - HEADING_SHARE) * weight
    return from_headings, gains

"""What two texts have in common, as numbers within 0..1. Pure; every signal is symmetric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from kbx_tui.search.query.english_words import stem
from kbx_tui.similarity.scoring.compared_words import RANKS, Words

Form = Literal["label", "sentence"]

SHORT = 10
"""Texts under so many words are compared letter by letter too, as seed 004 asks."""
TYPO = 0.8
"""Likeness of two words, 1 - Levenshtein / longer one, from which on one is the other mistyped."""
TYPO_LENGTH = 5
"""Shorter words are too many to be one letter apart by mistake."""


_RANKS = frozenset(map(stem, RANKS))


@dataclass(frozen=True, slots=True)
class Signals:
    """The likeness of two texts, each side on its own."""

    cosine: float
    """Of their vectors, raw: -1..1."""
    tokens: float
    """Dice coefficient of their content words, whatever the order; mistyped words count when one
    of the texts is short."""
    shares_word: bool
    """True when a content word is common."""
    spelling: float
    """Likeness of the texts, words sorted, letter by letter; for short ones 1 - Levenshtein of the
    texts as they are, when that is more."""
    contains: bool
    """True when the content words of one are some of the other's."""
    distinct: bool
    """True when two labels mean different things however near they are: one adds to the single
    content word of the other (Platform, Platform & Infrastructure), or only a rank to its words
    (Engineer, Senior Engineer), or both are one word and not the same (Oslo, Lisbon)."""


def form_of(left: Words, right: Words) -> Form:
    """Return how two texts are to be compared: as labels when both are."""
    return "label" if left.is_label and right.is_label else "sentence"


def compare(left: Words, right: Words, cosine: float) -> Signals:
    """Return the signals of two texts with the cosine of their vectors."""
    one, other = left.content, right.content
    shared = len(one & other)
    is_short = min(len(left.tokens), len(right.tokens)) < SHORT
    alike = shared + (_mistyped(one - other, other - one) if is_short else 0)
    spelling = fuzz.ratio(left.in_order, right.in_order) / 100.0
    if is_short:
        as_written = Levenshtein.normalized_similarity(left.normal, right.normal)
        spelling = max(spelling, as_written)
    contains = one < other or other < one
    return Signals(
        cosine=cosine,
        tokens=2.0 * alike / max(len(one) + len(other), 1),
        shares_word=alike > 0,
        spelling=spelling,
        contains=contains,
        distinct=(contains and (min(len(one), len(other)) == 1 or one ^ other <= _RANKS))
        or (not alike and len(one) == len(other) == 1),
    )


def _mistyped(one: frozenset[str], other: frozenset[str]) -> int:
    """Return how many words have a partner on the other side that differs by a typo."""
    pairs = sorted(
        (-likeness, min(a, b), max(a, b))
        for a in one
        for b in other
        if min(len(a), len(b)) >= TYPO_LENGTH
        and (likeness := Levenshtein.normalized_similarity(a, b)) >= TYPO
    )
    taken: set[str] = set()
    for _, a, b in pairs:
        if not taken & {a, b}:
            taken |= {a, b}
    return len(taken) // 2

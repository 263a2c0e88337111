"""Similarity signals of two texts, each within 0..1 and symmetric. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from kbx_tui.knowledge.stemming import stem
from kbx_tui.similarity.scoring.compared_words import RANKS, AnalysedText

Form = Literal["label", "sentence"]

SHORT = 10
"""Texts shorter than this many words are also compared letter by letter."""
TYPO = 0.8
"""Lowest normalized Levenshtein similarity of a word and its misspelling."""
TYPO_LENGTH = 5
"""Shortest word that may be a misspelling: too many short words differ by one letter."""


_RANKS = frozenset(map(stem, RANKS))


@dataclass(frozen=True, slots=True)
class Signals:
    """What two texts have in common, one number per aspect."""

    cosine: float
    """Raw cosine of their vectors, -1..1."""
    tokens: float
    """Dice coefficient of their content words, in any order; if one text is short, misspelt words
    count as equal."""
    shares_word: bool
    """Whether they share a content word."""
    spelling: float
    """Similarity of the letters, with the words sorted; for short texts, the normalized Levenshtein
    similarity of the texts as written, if that is higher."""
    contains: bool
    """Whether the content words of one are a proper subset of the other's."""
    distinct: bool
    """Whether two labels mean different things however close they are: one adds words to the only
    content word of the other (Platform, Platform & Infrastructure), adds only a rank (Engineer,
    Senior Engineer), or both are different single words (Oslo, Lisbon)."""


def form_of(left: AnalysedText, right: AnalysedText) -> Form:
    """Return the form to compare two texts in: `label` when both are labels."""
    return "label" if left.is_label and right.is_label else "sentence"


def compare(left: AnalysedText, right: AnalysedText, cosine: float) -> Signals:
    """Return the signals of two texts whose vectors have this cosine."""
    one, other = left.content, right.content
    shared = len(one & other)
    is_short = min(len(left.tokens), len(right.tokens)) < SHORT
    matching = shared + (_count_misspellings(one - other, other - one) if is_short else 0)
    spelling = fuzz.ratio(left.sorted_tokens, right.sorted_tokens) / 100.0
    if is_short:
        as_written = Levenshtein.normalized_similarity(left.normal, right.normal)
        spelling = max(spelling, as_written)
    contains = one < other or other < one
    return Signals(
        cosine=cosine,
        tokens=2.0 * matching / max(len(one) + len(other), 1),
        shares_word=matching > 0,
        spelling=spelling,
        contains=contains,
        distinct=(contains and (min(len(one), len(other)) == 1 or one ^ other <= _RANKS))
        or (not matching and len(one) == len(other) == 1),
    )


def _count_misspellings(one: frozenset[str], other: frozenset[str]) -> int:
    """Return how many words are a misspelling of a word on the other side."""
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

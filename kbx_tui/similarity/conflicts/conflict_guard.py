"""The conflict guard: finds contradictions between two similar texts by rules. Pure, no model.

Numbers, units, dates, names, negation and opposites. Both texts must mention the aspect: `3 killed`
and `killed` is an omission, `3 killed` and `5 killed` a conflict. What one text negates, the other
must affirm: `not eating grass` and `eating grass`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.stemming import stem
from kbx_tui.similarity.conflicts import proper_names, quantities, temporal_expressions
from kbx_tui.similarity.conflicts.opposites import opposites
from kbx_tui.similarity.conflicts.proper_names import ProperName
from kbx_tui.similarity.conflicts.quantities import Quantity
from kbx_tui.similarity.conflicts.temporal_expressions import TemporalExpression
from kbx_tui.similarity.scoring.compared_words import FUNCTION_WORDS, analyse_words

ConflictKind = Literal["number", "unit", "date", "name", "negation", "opposite"]

COMMON_GROUND = 0.6
"""Dice coefficient, 0..1, that the remaining words must reach for names to count as exchanged."""

MAX_EXCHANGED_NAMES = 2
"""Maximum number of names exchanged in a conflict; with more, the events are different."""

_NEGATION = re.compile(
    r"(?i)\b(?:no longer|no one|not|no(?!\.? ?\d)|never|none|nobody|nothing|nowhere|neither|nor"
    r"|cannot|without|[a-z]+n['’]t)\b"
)
_STATE = re.compile(r"(?i)\b(on|in|off) (hold|progress|track|time|call|office|person)\b")
"""Two-word states, which are treated as one word."""
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Conflict:
    """One thing on which two texts contradict each other."""

    kind: ConflictKind
    left: str
    """What the first text says, verbatim; several are joined by commas."""
    right: str


@dataclass(frozen=True)
class _Claims:
    """The parts of a text that can be contradicted, each extracted on first use."""

    text: str

    @cached_property
    def times(self) -> tuple[TemporalExpression, ...]:
        return temporal_expressions.find_temporal_expressions(self.text)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        dates = [(time.start, time.end) for time in self.times]
        return quantities.find_quantities(self.text, dates)

    @cached_property
    def names(self) -> tuple[ProperName, ...]:
        return proper_names.find_proper_names(self.text)

    @cached_property
    def denied(self) -> dict[str, str]:
        """Stem of each negated word -> the negated phrase, verbatim."""
        return _denied(self.text)

    @cached_property
    def words(self) -> dict[str, str]:
        """Folded word -> the word, verbatim."""
        joined = _STATE.sub(r"\1-\2", self.text)
        return {fold(word): word for word in _WORD.findall(joined)}

    @cached_property
    def opposable(self) -> tuple[str, ...]:
        """Keys of `words` that have an opposite, sorted."""
        return tuple(sorted(opposites().keys() & self.words.keys()))

    @cached_property
    def word_by_stem(self) -> dict[str, str]:
        """Stem -> the word, verbatim."""
        return {stem(folded): word for folded, word in self.words.items()}


def find_conflicts(left: str, right: str) -> tuple[Conflict, ...]:
    """Return the conflicts between two texts.

    Swapping the texts only swaps `left` and `right` of each conflict.
    """
    ours, theirs = _claims(left), _claims(right)
    return tuple(conflict for differ in _GUARDS for conflict in differ(ours, theirs))


def contradict(left: str, right: str) -> bool:
    """Return whether there is any conflict, stopping at the first."""
    ours, theirs = _claims(left), _claims(right)
    return any(differ(ours, theirs) for differ in _GUARDS)


_claims = lru_cache(maxsize=65536)(_Claims)


def _dates(left: _Claims, right: _Claims) -> list[Conflict]:
    ours, theirs = temporal_expressions.differing(left.times, right.times)
    return [Conflict("date", _listed(ours), _listed(theirs))] if ours and theirs else []


def _numbers(left: _Claims, right: _Claims) -> list[Conflict]:
    ours, theirs = quantities.unmatched(left.quantities, right.quantities)
    if not (ours and theirs):
        return []
    same_figures = {number.figure for number in ours} & {number.figure for number in theirs}
    return [Conflict("unit" if same_figures else "number", _listed(ours), _listed(theirs))]


def _names(left: _Claims, right: _Claims) -> list[Conflict]:
    if not (left.names and right.names):
        return []
    left_only, right_only = proper_names.unmatched(left.names, right.names, left.text, right.text)
    if not 0 < len(left_only) == len(right_only) <= MAX_EXCHANGED_NAMES:
        return []
    one, other = analyse_words(left.text).content, analyse_words(right.text).content
    others = len(one) + len(other) - len(left_only) - len(right_only)
    if 2 * len(one & other) < COMMON_GROUND * others:
        return []
    return [Conflict("name", _listed(left_only), _listed(right_only))]


def _negation(left: _Claims, right: _Claims) -> list[Conflict]:
    denied = [stem for stem in left.denied if _affirms(right, stem)]
    affirmed = [stem for stem in right.denied if _affirms(left, stem)]
    if not denied and not affirmed:
        return []
    ours = [left.denied[stem] for stem in denied] + [left.word_by_stem[stem] for stem in affirmed]
    theirs = [right.word_by_stem[stem] for stem in denied]
    theirs += [right.denied[stem] for stem in affirmed]
    return [Conflict("negation", ", ".join(ours), ", ".join(theirs))]


def _affirms(claims: _Claims, stem: str) -> bool:
    return stem in claims.word_by_stem and stem not in claims.denied


def _denied(text: str) -> dict[str, str]:
    """Return stem -> negated phrase, of the first content word after each negation."""
    denied = {}
    for match in _NEGATION.finditer(text):
        for word in _WORD.finditer(text, match.end()):
            if fold(word.group()) not in FUNCTION_WORDS:
                denied[stem(fold(word.group()))] = text[match.start() : word.end()]
                break
    return denied


def _opposites(left: _Claims, right: _Claims) -> list[Conflict]:
    return [
        Conflict("opposite", left.words[word], right.words[other])
        for word in left.opposable
        if word not in right.words
        for other in right.opposable
        if other in opposites()[word] and other not in left.words
    ]


_GUARDS = (_dates, _numbers, _names, _negation, _opposites)
"""In the order in which conflicts are listed."""


def _listed(parts: Iterable[ProperName | Quantity | TemporalExpression]) -> str:
    return ", ".join(dict.fromkeys(part.written for part in parts))

"""The conflict guard: what makes two texts that read alike say different things. Pure, no model.

Numbers, units, dates, names, negation, opposites of state. Both texts must say something of the
kind: `3 killed` and `killed` is an omission, `3 killed` and `5 killed` is a conflict. Of what a
negation denies the other text must speak without one: `not eating grass` and `eating grass`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, Protocol

from kbx_tui.knowledge.folding import fold
from kbx_tui.search.query.english_words import stem
from kbx_tui.similarity.conflicts import proper_names, quantities, temporal_expressions
from kbx_tui.similarity.conflicts.opposites import OPPOSITES
from kbx_tui.similarity.scoring.compared_words import FUNCTION_WORDS, words_of

ConflictKind = Literal["number", "unit", "date", "name", "negation", "opposite"]

COMMON_GROUND = 0.6
"""Share of their other words that two texts must have in common for names to count as exchanged,
0..1 (Dice)."""

MOST_NAMES = 2
"""Names exchanged at most: one person or place. More is another story, or the same told longer."""

_NEGATION = re.compile(
    r"(?i)\b(?:no longer|no one|not|no(?!\.? ?\d)|never|none|nobody|nothing|nowhere|neither|nor"
    r"|cannot|without|[a-z]+n['’]t)\b"
)
_STATE = re.compile(r"(?i)\b(on|in|off) (hold|progress|track|time|call|office|person)\b")
"""States of two words, which count as one."""
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Conflict:
    """One thing on which two texts contradict each other."""

    kind: ConflictKind
    left: str
    """What the first text says, as written; several are joined by commas."""
    right: str


class _Written(Protocol):
    @property
    def written(self) -> str: ...


@dataclass(frozen=True)
class _Claims:
    """What of one text can be contradicted, each part taken out once it is asked for."""

    text: str

    @cached_property
    def moments(self) -> tuple[temporal_expressions.Moment, ...]:
        return temporal_expressions.moments(self.text)

    @cached_property
    def quantities(self) -> tuple[quantities.Quantity, ...]:
        return quantities.quantities(self.text, [(one.start, one.end) for one in self.moments])

    @cached_property
    def names(self) -> tuple[proper_names.ProperName, ...]:
        return proper_names.proper_names(self.text)

    @cached_property
    def denied(self) -> dict[str, str]:
        """Stem of what is denied -> as written, with the negation."""
        return _denied(self.text)

    @cached_property
    def words(self) -> dict[str, str]:
        """Folded word -> as written."""
        joined = _STATE.sub(r"\1-\2", self.text)
        return {fold(word): word for word in _WORD.findall(joined)}

    @cached_property
    def opposable(self) -> tuple[str, ...]:
        """Words of `words` that have an opposite, in order."""
        return tuple(sorted(OPPOSITES.keys() & self.words.keys()))

    @cached_property
    def written(self) -> dict[str, str]:
        """Stem -> as written."""
        return {stem(word): written for word, written in self.words.items()}


def find_conflicts(left: str, right: str) -> tuple[Conflict, ...]:
    """Return what the two texts contradict each other on, empty when nothing is found.

    Swapping the texts swaps `left` and `right` of each conflict and nothing else.
    """
    ours, theirs = _claims(left), _claims(right)
    return tuple(conflict for differ in _GUARDS for conflict in differ(ours, theirs))


def contradict(left: str, right: str) -> bool:
    """Tell whether `find_conflicts` finds any, stopping at the first."""
    ours, theirs = _claims(left), _claims(right)
    return any(differ(ours, theirs) for differ in _GUARDS)


@lru_cache(maxsize=65536)
def _claims(text: str) -> _Claims:
    return _Claims(text)


def _dates(left: _Claims, right: _Claims) -> list[Conflict]:
    ours, theirs = temporal_expressions.differing(left.moments, right.moments)
    return [Conflict("date", _listed(ours), _listed(theirs))] if ours and theirs else []


def _numbers(left: _Claims, right: _Claims) -> list[Conflict]:
    ours, theirs = quantities.unmatched(left.quantities, right.quantities)
    if not (ours and theirs):
        return []
    same_figures = {one.figure for one in ours} & {one.figure for one in theirs}
    return [Conflict("unit" if same_figures else "number", _listed(ours), _listed(theirs))]


def _names(left: _Claims, right: _Claims) -> list[Conflict]:
    if not (left.names and right.names):
        return []
    left_only, right_only = proper_names.unmatched(left.names, right.names, left.text, right.text)
    if not 0 < len(left_only) == len(right_only) <= MOST_NAMES:
        return []
    one, other = words_of(left.text).content, words_of(right.text).content
    others = len(one) + len(other) - len(left_only) - len(right_only)
    if 2 * len(one & other) < COMMON_GROUND * others:
        return []
    return [Conflict("name", _listed(left_only), _listed(right_only))]


def _negation(left: _Claims, right: _Claims) -> list[Conflict]:
    denied = [stem for stem in left.denied if _affirms(right, stem)]
    denied_there = [stem for stem in right.denied if _affirms(left, stem)]
    if not denied and not denied_there:
        return []
    ours = [left.denied[stem] for stem in denied] + [left.written[stem] for stem in denied_there]
    theirs = [right.written[stem] for stem in denied] + [right.denied[s] for s in denied_there]
    return [Conflict("negation", ", ".join(ours), ", ".join(theirs))]


def _affirms(claims: _Claims, stem: str) -> bool:
    return stem in claims.written and stem not in claims.denied


def _denied(text: str) -> dict[str, str]:
    """Return stem -> as written, negation included, of the first matter after each negation."""
    found = {}
    for match in _NEGATION.finditer(text):
        for word in _WORD.finditer(text, match.end()):
            if fold(word.group()) not in FUNCTION_WORDS:
                found[stem(fold(word.group()))] = text[match.start() : word.end()]
                break
    return found


def _opposites(left: _Claims, right: _Claims) -> list[Conflict]:
    pairs = [
        (left.words[word], right.words[other])
        for word in left.opposable
        if word not in right.words
        for other in right.opposable
        if other in OPPOSITES[word] and other not in left.words
    ]
    return [Conflict("opposite", one, other) for one, other in pairs]


_GUARDS = (_dates, _numbers, _names, _negation, _opposites)
"""In the order in which conflicts are told."""


def _listed(found: Sequence[_Written]) -> str:
    return ", ".join(dict.fromkeys(one.written for one in found))

"""What two texts say of each other: the same, more, a contradiction or something else. Pure.

The pair model gives probabilities, and rules exclude what the words rule out and give the reason.
The relation is the one with the lowest expected cost. Without the model, the score decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from kbx_tui.knowledge.folding import fold
from kbx_tui.similarity.compared_words import ABBREVIATIONS, word_set
from kbx_tui.similarity.conflict_guard import KEY, Conflict, ConflictKind, claims_of, find_conflicts
from kbx_tui.similarity.numbers_and_dates import is_same_quantity

JudgedRelation = Literal["same", "refines", "conflict", "different"]
JUDGED = get_args(JudgedRelation)
Probabilities = NDArray[np.float32]
"""Shape (4,), in the order of `JUDGED`."""

COSTS = np.array(
    [
        # true: same, refines, conflict, different
        [0.0, 0.5, 2.5, 2.0],  # judged the same: an update or a new fact is lost
        [0.5, 0.0, 2.5, 2.0],  # judged to refine: likewise
        [1.0, 1.0, 0.0, 1.0],  # judged a conflict: a needless question
        [1.0, 1.0, 1.5, 0.0],  # judged different: a repetition, or a second fact that contradicts
    ]
)
"""Cost of each judgement for each truth, in questions; docs/similarity.md has what follows."""

DUPLICATE, SAME_TOPIC = 0.85, 0.6
"""Lowest scores of duplicates (the calibrated point of best F1), and of texts that speak of the
same thing: without the model, a contradiction counts from there."""

CERTAIN = 0.9
"""Certainty from which texts judged different need no look; docs/similarity.md has the share of
conflicts among them."""

UNLIKELY = 0.1
"""Factor of a probability that rules speak against: they, too, are sometimes wrong."""

MANY_VALUED = word_set(
    """chair cochair co-chair co-lead tech-lead member maintainer reviewer approver contributor
    language tool skill customer client friend hobby child sibling partner tag event"""
)
"""Last words of keys that have several values at a time, in the singular."""

_LIGHT = word_set("a an the inc ltd llc llp lp l.p gmbh corp corporation plc")
_BEFORE_VALUE = word_set("at on in by to until from of is")
_CURRENCIES = {
    word: sign
    for sign, words in {"$": "usd dollar dollars", "€": "eur euro euros", "£": "gbp"}.items()
    for word in (sign, *words.split())
}
_WORD = re.compile(r"[^\W_]+(?:[.'’&@#-]+[^\W_]+)*")
MAX_WORDS = 200
"""Words of a text that are aligned with those of the other."""


@dataclass(frozen=True, slots=True)
class Judgement:
    relation: JudgedRelation
    certainty: float
    """Probability of the relation, 0..1."""
    reason: str
    """One line."""
    conflicts: tuple[Conflict, ...] = ()
    """What contradicts; empty unless the relation is `conflict`."""


EQUAL = Judgement("same", 1.0, "the same text")


def judge(left: str, right: str, probabilities: Probabilities) -> Judgement:
    """Return the judgement of two texts that are not equal, given what the model says of them."""
    pair = _Pair(left, right)
    if pair.has_equal_values:
        return Judgement("same", 0.99, "the same in another spelling or format")
    weights = probabilities * pair.plausible
    weights /= max(float(weights.sum()), 1e-9)
    chosen = int((COSTS @ weights).argmin())
    return pair.judgement(JUDGED[chosen], round(float(weights[chosen]), 3))


def judge_by_rules(left: str, right: str, score: float) -> Judgement:
    """Return the judgement of two texts that are not equal, without the model."""
    pair = _Pair(left, right)
    if score >= SAME_TOPIC and pair.conflicts:
        is_ruled_out = pair.plausible[2] < 1.0
        return pair.judgement("different" if is_ruled_out else "conflict", CERTAIN)
    return pair.judgement("same" if score >= DUPLICATE else "different", 0.5)


@dataclass(frozen=True)
class _Pair:
    left: str
    right: str

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        return find_conflicts(self.left, self.right)

    @cached_property
    def keys(self) -> tuple[str, str] | None:
        """The folded keys of `key: value` on both sides."""
        found = [KEY.match(text) for text in (self.left, self.right)]
        keys = [" ".join(fold(match[1]).split()) for match in found if match]
        return (keys[0], keys[1]) if len(keys) == 2 else None

    @cached_property
    def has_several_values(self) -> bool:
        """Whether both texts give the same key, which may have many values at a time."""
        if self.keys is None or self.keys[0] != self.keys[1]:
            return False
        words = self.keys[0].split()
        return not MANY_VALUED.isdisjoint({words[-1], "-".join(words[-2:])})

    @property
    def has_other_time(self) -> bool:
        """Whether both a date and a figure differ: two values of a series, `2023: 5`, `2024: 7`."""
        return {"date", "number"} <= {conflict.kind for conflict in self.conflicts}

    @property
    def has_other_key(self) -> bool:
        return self.keys is not None and self.keys[0] != self.keys[1]

    @cached_property
    def has_equal_values(self) -> bool:
        """Whether the texts only differ in the format of values and the spelling of words."""
        ours, theirs = claims_of(self.left), claims_of(self.right)
        if [(time.part, time.value) for time in ours.times] != [
            (time.part, time.value) for time in theirs.times
        ]:
            return False
        if len(ours.quantities) != len(theirs.quantities) or not all(
            map(is_same_quantity, ours.quantities, theirs.quantities)
        ):
            return False
        if _currency(self.left) != _currency(self.right):
            return False
        return _is_spelt_alike(_plain_words(self.left), _plain_words(self.right))

    @property
    def plausible(self) -> NDArray[np.float32]:
        """Factors of the probabilities, shape (4,): what the words leave of each relation."""
        factors = np.ones(4, np.float32)
        if self.conflicts:
            factors[:2] = UNLIKELY
        if self.has_several_values or self.has_other_time:
            factors[2] = 0.0
        elif self.has_other_key:
            factors[2] = UNLIKELY
        return factors

    @cached_property
    def runs(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The words that both begin with, and the runs of words that differ, all verbatim."""
        ours, theirs = _words(self.left), _words(self.right)
        matcher = SequenceMatcher(
            None, [fold(m[0]) for m in ours], [fold(m[0]) for m in theirs], autojunk=False
        )
        start, runs = "", []
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag == "equal":
                start = self.left[: ours[b - 1].end()] if a == 0 else start
                continue
            runs.append((_span(self.left, ours[a:b]), _span(self.right, theirs[c:d])))
        return start, tuple(runs)

    @property
    def is_reordered(self) -> bool:
        ours, theirs = (sorted(fold(m[0]) for m in _words(t)) for t in (self.left, self.right))
        return ours == theirs

    def judgement(self, relation: JudgedRelation, certainty: float) -> Judgement:
        start, runs = self.runs
        left, right = ([words for words in side if words] for side in _columns(runs))
        if relation != "conflict":
            return Judgement(relation, certainty, self._why(relation, left, right))
        conflicts = self.conflicts
        if not conflicts:
            kind: ConflictKind = "order" if self.is_reordered else "value"
            conflicts = (Conflict(kind, ", ".join(left), ", ".join(right)),)
        return Judgement(relation, certainty, _why_conflict(conflicts[0], start), conflicts)

    def _why(self, relation: JudgedRelation, left: Sequence[str], right: Sequence[str]) -> str:
        if relation == "same":
            return "the same in other words"
        if relation == "refines":
            if left and right:
                return f"one is more exact: {_quoted(right)} / {_quoted(left)}"
            return f"only one says {_quoted(left or right)}"
        both = f"{', '.join(right)} and {', '.join(left)}"
        if self.keys and self.has_several_values:
            return f"{self.keys[0]} may have several values: {both}"
        if self.keys and self.has_other_key:
            return f"other attributes: {self.keys[1]} and {self.keys[0]}"
        times = [conflict for conflict in self.conflicts if conflict.kind == "date"]
        if times:
            return f"both can be true: {times[0].right} and {times[0].left}"
        return "both can be true"


def _columns(runs: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [ours for ours, _ in runs], [theirs for _, theirs in runs]


def _why_conflict(conflict: Conflict, start: str) -> str:
    if conflict.kind == "order":
        return "the order is reversed"
    change = f"{conflict.right or 'nothing'} → {conflict.left or 'nothing'}"
    what = {
        "negation": "one denies the other", "opposite": "opposites", "number": "other number",
        "unit": "other unit", "date": "other date", "name": "other name", "value": "other value",
    }[conflict.kind]  # fmt: skip
    attribute = start.strip(" :-–—")
    return f"same *{attribute}*, {what}: {change}" if attribute else f"{what}: {change}"


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _words(text: str) -> list[re.Match[str]]:
    return list(islice(_WORD.finditer(text), MAX_WORDS))


def _span(text: str, words: Sequence[re.Match[str]]) -> str:
    return text[words[0].start() : words[-1].end()] if words else ""


def _currency(text: str) -> set[str]:
    words = (*map(fold, text.split()), *text)
    return {_CURRENCIES[word] for word in words if word in _CURRENCIES}


def _plain_words(text: str) -> list[tuple[str, bool]]:
    """Return the words besides values, light words and currencies; and which are acronyms."""
    claims = claims_of(text)
    spans = [(time.start, time.end) for time in claims.times]
    spans += [(quantity.start, quantity.end) for quantity in claims.quantities]
    starts = {start for start, _ in spans}
    found: list[tuple[str, bool]] = []
    for match in _words(text):
        if any(start < match.end() and match.start() < end for start, end in spans):
            continue
        word = fold(match[0])
        is_before_value = word in _BEFORE_VALUE and _next_start(text, match.end()) in starts
        if word in _LIGHT or word in _CURRENCIES or is_before_value:
            continue
        is_acronym = match[0].isupper() and len(match[0]) > 1
        parts = ABBREVIATIONS.get(word.removesuffix("'s").removesuffix("’s"), word).split()
        found += [(part, is_acronym) for part in parts]
    return found


def _next_start(text: str, position: int) -> int:
    return position + len(text[position:]) - len(text[position:].lstrip())


def _is_spelt_alike(left: list[tuple[str, bool]], right: list[tuple[str, bool]]) -> bool:
    """Return whether words are equal, apart from joints (Red Hat, RedHat) and one acronym."""
    ours, theirs = [word for word, _ in left], [word for word, _ in right]
    joined = ["".join(words).replace("-", "") for words in (ours, theirs)]
    if joined[0] == joined[1]:
        return True
    start = 0
    while start < min(len(ours), len(theirs)) and ours[start] == theirs[start]:
        start += 1
    end = 0
    while end < min(len(ours), len(theirs)) - start and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    one, other = left[start : len(left) - end], right[start : len(right) - end]
    short, full = sorted((one, other), key=len)
    if len(short) != 1 or len(full) < 2 or not short[0][1]:
        return False
    return short[0][0] == "".join(word[0] for word, _ in full)

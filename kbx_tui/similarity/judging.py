"""What two texts say of each other: the same, more, a contradiction or something else. Pure.

The pair model gives probabilities, which are weighed with what the words and the vectors say. The
relation is the one with the lowest expected cost. Without the model, the score decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher
from functools import cached_property
from itertools import dropwhile, islice
from typing import NamedTuple
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding.cross_encoder import LABELS, JudgedRelation
from kbx_tui.knowledge.folding import fold, tokens
from kbx_tui.similarity.compared_words import (
    FUNCTION_WORDS,
    PLACES,
    SYNONYMS,
    Signals,
    analyse_words,
    are_derived,
    exchanged_words,
    is_exchanged,
    prefer_the_same,
    word_set,
)
from kbx_tui.similarity.conflict_guard import (
    KEY,
    NEGATION,
    RETURN,
    RETURNED,
    Claims,
    Conflict,
    ConflictKind,
    claims_of,
    covers_more,
    ends_before_return,
    find_conflicts,
    is_part_of,
)
from kbx_tui.similarity.numbers_and_dates import is_same_quantity

Probabilities = NDArray[np.float32]
"""Shape (4,), in the order of `LABELS`."""

COSTS = np.array(
    [
        # true: same, refines, conflict, different
        [0.0, 0.5, 2.0, 1.5],  # judged the same: an update or a new fact is lost
        [0.5, 0.0, 2.0, 1.5],  # judged to refine: likewise
        [1.0, 1.0, 0.0, 1.0],  # judged a conflict: a needless question
        [1.0, 1.0, 1.2, 0.0],  # judged different: a repetition, or a second fact that contradicts
    ]
)
"""Cost of each judgement for each truth, in questions; docs/similarity.md has what follows."""

DUPLICATE, SAME_TOPIC = 0.85, 0.6
"""Lowest scores of duplicates (the calibrated point of best F1), and of texts that speak of the
same thing: without the model, a contradiction counts from there."""

CERTAIN = 0.6
"""Certainty from which texts judged different are so whatever their score; docs/similarity.md has
the share of conflicts among them."""

ALIKE = 0.5
"""Lowest likeness, by meaning, words or letters, of texts that may say the same: the model takes a
word that both begin with for more than it is (`Left the union`, `is left-handed`)."""

SAME_MATTER = 0.2
"""Lowest cosine of texts without a common word that may contradict each other, unless a rule finds
what contradicts or one is `key: value`: the model finds that in any two (`Eats cheese again`,
`Lives in Ledbury`)."""

UNLIKELY = 0.05
"""Factor of a probability that rules speak against: they, too, are sometimes wrong."""

WEIGHTS = np.array(
    [
        # to: same, refines, conflict, different
        [0.95, -0.07, 0.08, 0.05],  # logarithm of the probability of the same
        [0.01, 0.78, 0.22, -0.02],  # of refines
        [0.42, -0.13, 0.78, -0.08],  # of conflict
        [0.44, 0.30, -0.18, 0.43],  # of different
        [-0.27, 0.49, -0.04, -0.15],  # these, times the share of words not in common
        [0.22, 0.09, -0.20, -0.11],
        [-0.18, -0.05, -0.01, 0.24],
        [-0.43, -0.19, 0.48, 0.15],
        [1.06, -0.57, -0.18, -0.30],  # of any pair
        [2.30, 0.43, 0.25, -2.98],  # cosine of the vectors
        [0.10, -0.32, 0.27, -0.05],  # share of words in common
        [-1.31, -0.90, 1.08, 1.13],  # something in the words contradicts
        [-0.46, -0.52, 0.68, 0.29],  # the newer text tells of a change
    ]
)
"""What speaks for each relation, and how much; `scripts/calibrate_judge.py` fits them on labelled
pairs. The model alone takes what says one thing in other words for a contradiction or for something
else, the more so the fewer words are shared; vectors know better."""


CHANGE = re.compile(
    r"(?i)\b(?:now|no longer|not any ?more|any ?more|instead|from (?:today|now|tomorrow)|as of"
    r"|changed|changes|moved|moves|becomes|became|replaced|replaces|switched|again|another)\b"
)
"""Words of a text that says what is otherwise than before."""


LIMITED = re.compile(NEGATION.pattern + r"|\b(?:until|till|unless|except|but|only|former(?:ly)?)\b")
"""Words of a text that takes back a part of what it says."""


ADDS = re.compile(
    r"(?i)^(?:(?:he|she|they|is|has|also) )*(speaks|plays|sings|collects|learn(?:s|ing)|knows"
    r"|allergic to|wrote|written|won|visited)\b"
)
"""Begins a text about what one may have many of: languages, instruments, skills, works."""


class KeyUse(NamedTuple):
    """How the pages of a base use a key in `key: value`."""

    several: int = 0
    """Pages with several values at a time."""
    replaced: int = 0
    """Pages with one value and a superseded one."""

    @property
    def has_several_values(self) -> bool:
        return self.several >= LEARNED and self.several > self.replaced

    @property
    def has_one_value(self) -> bool:
        return self.replaced >= LEARNED and not self.several


LEARNED = 2
"""Pages that have to use a key in one way before a base is taken to: one alone may be a mistake."""

ONE_VALUED = word_set(
    """manager boss employer company home residence role title owner spouse birthday age born budget
    price salary status deadline venue"""
)
"""Last words of keys that have one value at a time, however a base uses them."""

_VALUES: frozenset[ConflictKind] = frozenset({"number", "unit", "date", "order", "value"})
"""Kinds of conflicts with which texts hardly ever say the same."""
_SOLE = re.compile(r"(?i)\b(?:single|sole|only|exclusive(?:ly)?|alone)\b")
"""Words that leave no room for another."""
_IS = re.compile(r"(?i)\b(?:are|ha(?:s|ve) been)\b")
"""`The API has been deprecated`, `The API is deprecated`."""
_LEGAL_FORMS = word_set("inc ltd llc llp lp l.p gmbh corp corporation plc")
_AT_TIME = word_set("at on in")
"""Words that may be left out before a time; `by`, `from`, `to` and `until` change the meaning."""
_BEFORE_RANGE = word_set("from is are hours times :")
"""Words that may be left out before two times: `visiting hours: 2 to 8 pm`."""
_WORD = re.compile(r"[^\W_]+(?:[.'’&@#-]+[^\W_]+)*")
_TOKEN = re.compile(r"[^\W_]+(?:[.'’&@#]+[^\W_]+)*|\S")
_TIME, _QUANTITY = "\x01", "\x02"
"""Stand for a value where texts are compared without its format."""
_MEANINGFUL, _SYMBOLS = frozenset("?/\\#%‰&@*^§"), frozenset({"Sm", "Sc", "So"})
"""Signs that change what a text says, and the Unicode categories of others: `<`, `+`, emoji."""
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


def judge(
    left: str,
    right: str,
    probabilities: Probabilities,
    signals: Signals,
    use_of: Callable[[str], KeyUse] = lambda key: KeyUse(),
) -> Judgement:
    """Return the judgement of two texts that are not equal, given what the model says of them.

    The left text is the newer one. `use_of` returns how the base uses a folded key that both have.
    """
    pair = _Pair(left, right, use_of)
    if pair.has_equal_values:
        return Judgement("same", 0.99, "the same in another spelling or format")
    is_less_exact = is_more_exact(right, left) and not covers_more(left, right)
    if is_less_exact or is_more_exact(left, right):
        ours, theirs = claims_of(left), claims_of(right)
        is_same = _time_values(ours) == _time_values(theirs) and _amounts(ours) == _amounts(theirs)
        return pair.judgement("same" if is_same else "refines", 0.99)
    sums = _weighed(pair, probabilities, signals) @ WEIGHTS
    likely = np.exp(sums - sums.max())
    if pair.are_both_true:
        likely[3], likely[2] = likely[3] + likely[2], 0.0
    elif pair.excludes_another:
        likely[3] *= UNLIKELY
    elif ends_before_return(left, right):
        likely[[0, 2]] *= UNLIKELY
    elif pair.says_converse or pair.only_adds or pair.agree:
        likely[2] *= UNLIKELY
    if pair.kinds & _VALUES or pair.returns:
        likely[:2] *= UNLIKELY
    elif pair.adds:
        likely[0] *= UNLIKELY
    likely /= likely.sum()
    chosen = int((COSTS @ likely).argmin())
    likeness = max(signals.tokens, signals.spelling) if pair.shares_more_than_values else 0.0
    if chosen < 2 and max(signals.cosine, likeness) < ALIKE:
        chosen = 3
    is_apart = not signals.shares_word and signals.cosine < SAME_MATTER
    if chosen == 2 and is_apart and not (pair.contradicts or any(map(folded_key, (left, right)))):
        chosen = 3
    return pair.judgement(LABELS[chosen], round(float(likely[chosen]), 3))


def weighed(
    left: str, right: str, probabilities: Probabilities, signals: Signals
) -> NDArray[np.float64]:
    """Return what `WEIGHTS` weigh, shape (13,)."""
    return _weighed(_Pair(left, right), probabilities, signals)


def _weighed(pair: _Pair, probabilities: Probabilities, signals: Signals) -> NDArray[np.float64]:
    logs = np.log(np.maximum(probabilities, 1e-3))
    return np.array(
        [
            *logs,
            *(logs * (1.0 - signals.tokens)),
            1.0,
            signals.cosine,
            signals.tokens,
            pair.contradicts,
            CHANGE.search(pair.left) is not None,
        ]
    )


def judge_by_rules(left: str, right: str, score: float) -> Judgement:
    """Return the judgement of two texts that are not equal, without the model."""
    pair = _Pair(left, right)
    if score >= SAME_TOPIC and pair.conflicts:
        return pair.judgement("different" if pair.are_both_true else "conflict", CERTAIN)
    return pair.judgement("same" if score >= DUPLICATE else "different", 0.5)


def folded_key(text: str) -> str:
    """Return the folded key of `key: value`, empty for other texts."""
    found = KEY.match(text)
    return " ".join(fold(found[1]).split()) if found else ""


@dataclass(frozen=True)
class _Pair:
    left: str
    right: str
    use_of: Callable[[str], KeyUse] = lambda key: KeyUse()

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        return find_conflicts(self.left, self.right)

    @property
    def kinds(self) -> set[ConflictKind]:
        return {conflict.kind for conflict in self.conflicts}

    @cached_property
    def keys(self) -> tuple[str, str] | None:
        """The folded keys of `key: value` on both sides."""
        left, right = folded_key(self.left), folded_key(self.right)
        return (left, right) if left and right else None

    @cached_property
    def has_several_values(self) -> bool:
        """Whether both texts give the same key, which has many values at a time in the base."""
        if self.keys is None or not self.use.has_several_values:
            return False
        return self.keys[0].split()[-1] not in ONE_VALUED

    @cached_property
    def use(self) -> KeyUse:
        """How the base uses the key that both texts have."""
        is_shared = self.keys is not None and self.keys[0] == self.keys[1]
        return self.use_of(self.keys[0]) if self.keys and is_shared else KeyUse()

    @property
    def is_sole(self) -> bool:
        """Whether each text names another as the only one."""
        return "name" in self.kinds and all(_SOLE.search(text) for text in (self.left, self.right))

    @property
    def has_other_time(self) -> bool:
        """Whether both a date and a figure differ: two values of a series, `2023: 5`, `2024: 7`."""
        return self.kinds >= {"date", "number"}

    @property
    def has_other_value(self) -> bool:
        """Whether the texts give one key values without a common word."""
        if self.keys is None or self.has_other_key:
            return False
        values = (KEY.sub("", text, count=1) for text in (self.left, self.right))
        ours, theirs = (analyse_words(value).content for value in values)
        return ours.isdisjoint(theirs)

    @property
    def are_both_true(self) -> bool:
        """Whether what looks like a conflict is a difference."""
        return self.has_several_values or self.has_other_time or self.adds

    @property
    def adds(self) -> bool:
        """Whether each names another of what one may have many of: `Speaks Polish`."""
        ours, theirs = ADDS.match(self.left), ADDS.match(self.right)
        if not (ours and theirs) or fold(ours[1]) != fold(theirs[1]) or self.kinds - {"name"}:
            return False
        rest = [analyse_words(match.string[match.end() :]).content for match in (ours, theirs)]
        is_limited = any(_SOLE.search(text) for text in (self.left, self.right))
        return rest[0].isdisjoint(rest[1]) and not is_limited

    @property
    def shares_more_than_values(self) -> bool:
        """Whether words in common say something, unlike the values in `onboarding takes 2 weeks`
        and `notice period is 2 weeks`."""
        claims = claims_of(self.left)
        values = " ".join(
            [*(one.written for one in claims.quantities), *(one.written for one in claims.times)]
        )
        ours, theirs = (analyse_words(text).content for text in (self.left, self.right))
        return ours.isdisjoint(theirs) or not ours & theirs <= analyse_words(values).content

    @property
    def excludes_another(self) -> bool:
        """Whether what is said leaves no room for another value."""
        return self.use.has_one_value or self.is_sole

    @property
    def contradicts(self) -> bool:
        """Whether the words speak against the same and against more of the same."""
        return bool(self.conflicts) or self.has_other_value or is_exchanged(*self.words)

    @property
    def says_converse(self) -> bool:
        """Whether two turns cancel out: `A is paid by B`, `B pays A`."""
        if self.conflicts:
            return False
        return exchanged_words(self.left, self.right, by_sense=False) is not None

    @property
    def agree(self) -> bool:
        """Whether both prefer one thing to another, `tea to milk`, `tea over milk`, or deny the
        same, `no meetings`, `free of meetings`."""
        return not self.conflicts and (
            _deny_the_same(self.left, self.right) or prefer_the_same(self.left, self.right)
        )

    @property
    def returns(self) -> bool:
        """Whether only the newer text tells of a return to what was before."""
        return bool(RETURNED.search(self.left)) and not RETURN.search(self.right)

    @property
    def only_adds(self) -> bool:
        """Whether one text is a place or state after a word that leaves it: `Away on leave`."""
        short, long = sorted(self.words, key=len)
        if long[1:] != short or short[0] not in PLACES or self.conflicts:
            return False
        return not (LIMITED.search(long[0]) or CHANGE.search(long[0]))

    @property
    def has_other_key(self) -> bool:
        return self.keys is not None and self.keys[0] != self.keys[1]

    @cached_property
    def has_equal_values(self) -> bool:
        """Whether the texts only differ in the format of values, in abbreviations and in words that
        are derived from each other."""
        return _have_equal_values(self.left, self.right)

    @cached_property
    def runs(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The words that both begin with, and the runs of words that differ, all verbatim."""
        ours, theirs = _words(self.left), _words(self.right)
        matcher = SequenceMatcher(None, *self.words, autojunk=False)
        start, runs = "", []
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag == "equal":
                start = self.left[: ours[b - 1].end()] if a == c == 0 else start
                continue
            runs.append((_span(self.left, ours[a:b]), _span(self.right, theirs[c:d])))
        return start, tuple(runs)

    @cached_property
    def words(self) -> tuple[list[str], list[str]]:
        ours, theirs = ([fold(match[0]) for match in _words(t)] for t in (self.left, self.right))
        return ours, theirs

    @property
    def differ_in_one_place(self) -> bool:
        """Whether the texts have all words in common except for one run on each side."""
        if analyse_words(self.left).content.isdisjoint(analyse_words(self.right).content):
            return False
        sizes = [[len(_words(span)) for span in run] for run in self.runs[1]]
        ours, theirs = sizes[0] if len(sizes) == 1 else (0, 0)
        return 0 < ours < len(self.words[0]) and 0 < theirs < len(self.words[1])

    @property
    def is_reordered(self) -> bool:
        ours, theirs = map(sorted, self.words)
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
        is_told = bool(self.conflicts) or self.is_reordered or self.differ_in_one_place
        reason = _why_conflict(conflicts[0], start) if is_told else "both cannot be true, it seems"
        if self.use.has_one_value:
            reason += f" (one value at a time on {self.use.replaced} pages)"
        return Judgement(relation, certainty, reason, conflicts)

    def _why(self, relation: JudgedRelation, left: Sequence[str], right: Sequence[str]) -> str:
        if relation == "same":
            return "the same in other words"
        if relation == "refines":
            if left and right:
                return f"one is more exact: {_quoted(right)} / {_quoted(left)}"
            return f"only one says {_quoted(left or right)}"
        both = f"{', '.join(right)} and {', '.join(left)}"
        if self.keys and self.has_several_values:
            return f"{self.keys[0]} may have several values, as on {self.use.several} pages: {both}"
        if self.keys and self.has_other_key:
            return f"other attributes: {self.keys[1]} and {self.keys[0]}"
        times = [conflict for conflict in self.conflicts if conflict.kind == "date"]
        if times:
            return f"both can be true: {times[0].right} and {times[0].left}"
        return "both can be true"


def is_more_exact(left: str, right: str) -> bool:
    """Return whether texts only differ in that the left one has a date or numbers as exact or more.

    `On 3 May`, `in May`; `48`, `about 50`. Figures of a month and of its year are not the same.
    """
    ours, theirs = claims_of(left), claims_of(right)
    if ours.quantities and theirs.quantities:
        return _have_equal_values(left, right, nearly=True)
    if not (ours.period and theirs.period and is_part_of(ours, theirs)):
        return False
    date = right[theirs.period.start : theirs.period.end]
    dated = left[: ours.period.start] + date + left[ours.period.end :]
    return _have_equal_values(dated, right)


def _have_equal_values(left: str, right: str, *, nearly: bool = False) -> bool:
    """Return whether texts only differ in format, or `nearly`: in the bounds that only numbers of
    the right one have."""
    ours, theirs = claims_of(left), claims_of(right)
    if _time_values(ours) != _time_values(theirs):
        return False
    if _amounts(ours) != _amounts(theirs) and not (nearly and _agree(ours, theirs)):
        return False
    words = _without_formats(ours), _without_formats(theirs)
    return _are_equal_words(*words) or are_derived(*words)


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
    attribute = "" if FUNCTION_WORDS.issuperset(tokens(start)) else start.strip(" :-–—")
    return f"same “{attribute}”, {what}: {change}" if attribute else f"{what}: {change}"


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _words(text: str) -> list[re.Match[str]]:
    return list(islice(_WORD.finditer(text), MAX_WORDS))


def _span(text: str, words: Sequence[re.Match[str]]) -> str:
    return text[words[0].start() : words[-1].end()] if words else ""


def _deny_the_same(left: str, right: str) -> bool:
    """Return whether texts deny the same, and at most one says something else beside it."""
    denied = claims_of(left).denied, claims_of(right).denied
    if denied[0].keys().isdisjoint(denied[1]):
        return False
    ours, theirs = (
        analyse_words(text).content - analyse_words(" ".join(words.values())).content
        for text, words in zip((left, right), denied, strict=True)
    )
    return ours <= theirs or theirs <= ours


def _time_values(claims: Claims) -> list[tuple[object, ...]]:
    """Return the values in the order of the text; `Fridays` are not one `Friday`, but several."""
    if claims.period:
        return [(claims.period.year, *claims.period.days(), claims.period.is_vague)]
    times = sorted(claims.times, key=lambda time: (time.start, time.part))
    is_list = sum(time.part == "weekday" for time in times) > 1
    return [
        (time.part, time.value, is_list or time.written.lower().endswith("days")) for time in times
    ]


def _amounts(claims: Claims) -> list[tuple[str, Decimal, str]]:
    return [(number.measure, number.value, number.bound) for number in claims.quantities]


def _agree(left: Claims, right: Claims) -> bool:
    numbers = left.quantities, right.quantities
    return len(numbers[0]) == len(numbers[1]) and all(
        other.bound == "about" and not one.bound and is_same_quantity(one, other)
        for one, other in zip(*numbers, strict=True)
    )


def _without_formats(claims: Claims) -> list[str]:
    """Return words, meaningful signs and marks of values in order.

    Without other punctuation and a word before a time that may be left out.
    """
    tokens = _TOKEN.findall(_IS.sub("is", _with_marks(claims)))
    found: list[str] = []
    for row, (before, token) in enumerate(zip(["", *tokens], tokens, strict=False)):
        word, after, rest = fold(token), "".join(tokens[row + 1 : row + 2]), tokens[row + 1 :]
        is_left_out = (
            (word in _AT_TIME and after == _TIME)
            or (word == "is" and after in (_TIME, _QUANTITY))
            or (word == "and" and before == after == _TIME)
            or (word in _BEFORE_RANGE and _begins_with_range(rest))
        )
        is_range = word in ("-", "to") and {before, after} <= {_TIME, _QUANTITY}
        word = "-" if is_range else word
        is_sign = not (word[:1].isalnum() or word in (_TIME, _QUANTITY) or is_range)
        if is_left_out:
            continue
        if is_sign and not (word in _MEANINGFUL or category(token[0]) in _SYMBOLS):
            continue
        found += SYNONYMS.get(word.removesuffix("'s"), word).split()
    return found


def _begins_with_range(tokens: Sequence[str]) -> bool:
    times = list(dropwhile(_BEFORE_RANGE.__contains__, tokens))
    return times[:1] == [_TIME] and times[1:2] in (["-"], ["to"])


def _with_marks(claims: Claims) -> str:
    """Return the text with a mark in the place of each value."""
    spans = {(time.start, time.end): _TIME for time in claims.times}
    spans |= {(number.start, number.end): _QUANTITY for number in claims.quantities}
    pieces, end = [], 0
    for span, mark in sorted(spans.items()):
        pieces += [claims.text[end : span[0]], f" {mark} "]
        end = span[1]
    return "".join((*pieces, claims.text[end:]))


def _are_equal_words(left: list[str], right: list[str]) -> bool:
    """Return whether words are equal; one text may leave out the legal form of a company."""
    if _LEGAL_FORMS.isdisjoint(left) or _LEGAL_FORMS.isdisjoint(right):
        left, right = (
            [word for word in side if word not in _LEGAL_FORMS] for side in (left, right)
        )
    return left == right

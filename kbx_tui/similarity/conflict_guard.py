"""The conflict guard: finds contradictions between two similar texts by rules. Pure, no model.

Numbers, units, frequencies, dates, names, negation, opposites and words that change places. Both
texts must mention the aspect: `3 killed` and `killed` is an omission, `3 killed` and `5 killed` a
conflict. What one text negates, the other must affirm: `not eating grass` and `eating grass`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Literal

from rapidfuzz import fuzz

from kbx_tui.knowledge.entity_names import is_common_word
from kbx_tui.knowledge.folding import fold, stem
from kbx_tui.similarity import numbers_and_dates
from kbx_tui.similarity.compared_words import FUNCTION_WORDS, analyse_words, exchanged_words
from kbx_tui.similarity.numbers_and_dates import Period, Quantity, TemporalExpression

ConflictKind = Literal["number", "unit", "date", "name", "negation", "opposite", "order", "value"]
"""The guard finds `value` only of frequencies and exceptions; a judgement of anything."""

COMMON_GROUND = 0.6
"""Share, 0..1, of the other words of the shorter text that the longer one must have for names to
count as exchanged: `Lives in Kyoto`, `Lives in Osaka, nine hours ahead of us`."""

SHORTEST_NEGATED = 4
"""Letters of a word that may be negated by a prefix: `intend` is not the opposite of `tend`,
but such pairs hardly ever differ in nothing else."""

LONG_NUMBER = 7
"""Fewest digits of a number that is written in groups: `070-555 01 44`."""

MAX_EXCHANGED_NAMES = 2
"""If more names differ, the texts are about different events."""

MAX_READ = 2_000
"""Characters of a text that are searched for contradictions, as each part is compared with all of
the other text. The pair model reads fewer."""

NEGATION = re.compile(
    r"(?i)\b(?:no longer|no one|not|no(?!\.? ?\d)|never|none|nobody|nothing|nowhere|neither|nor"
    r"|cannot|without|[a-z]+n['’]t)\b"
)
_EXCEPTIONS = (
    r"\b(?:except|excluding|other than|apart from|außer|(?:all|every\w*|any\w*) but(?! also))\b"
)
_EXCEPT = re.compile(f"(?i){_EXCEPTIONS}")
_ONLY = re.compile(r"(?i)\b(?:only|solely|exclusively|nur|ausschließlich)\b")
_DENIAL = re.compile(
    NEGATION.pattern + r"|\b(?:unable to|(?:fail|refuse)(?:s|d|ed)? to|no longer able to"
    r"|lack(?:s|ed|ing)?(?: of)?|absence of|free (?:of|from)"
    r"|(?:stop(?:s|ped)?|quits?|ceased?|(?:gave|gives?|given) up)(?= \w+ing\b)"
    rf"|(?:kein(?:e[mnrs]?)?|nicht|niemals|ohne|geen|niet)\b)|{_EXCEPTIONS}"
)
"""Negation, also by the meaning of words: `unable to attend`, `stopped smoking`, `except Fridays`;
in German and Dutch too."""
_BOUND = re.compile(
    r"(?i)\b(?:(?P<end>until|till|through|bis)|from|since|starting|as of|ab|seit)(?: on| the)*\s+\Z"
)
"""What is before a time that ends or begins something."""
RETURN = re.compile(r"(?i)\b(?:back|again|re(?:turn|open|sum|start)\w*)\b")
"""Words of most returns, and of much else: `back pain`, `once again`."""
RETURNED = re.compile(
    r"(?i)(?:\A|\b(?:is|are|has|have|now) )(?:back|returned) (?:from|(?:at|to) work)\b"
    r"|\bworks? again\b(?! \w)|\breopen(?:s|ed)\b"
)
"""What tells of a return to what was before, whatever is known."""
_STRICT = ({"more", "than"}, {"less", "than"}, {"fewer", "than"})
"""Words that alone make a number another: `100 users`, `more than 100 users`."""
_EVENT = re.compile(
    r"(?i)\b(?:born|join|start|beg[aiu]n|end(?:s|ed)\b|founded|launch|went live|releas|ship|publish"
    r"|announc|deliver|hired|appoint|promot|retir|graduat|resign|left|mov(?:es|ed)\b|arriv|marri"
    r"|met\b|died|signed|bought|sold|won|due|deadline|birthday|kick-?off)"
)
"""A word for what happens once, and lasts no time."""
_STATE = re.compile(r"(?i)\b(on|in|off) (hold|progress|track|time|call|office|person)\b")
_SWITCHED = re.compile(r"(?i)(?<!day )(?<!days )\b(?:on|off)\b(?! \w)")
"""A state at the end of a clause, unlike in `on Mondays` and `her day off`."""
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Conflict:
    kind: ConflictKind
    left: str
    """Verbatim; several are joined by commas."""
    right: str


@dataclass(frozen=True)
class Claims:
    """The parts of a text that can be contradicted, each extracted on first use."""

    text: str

    @cached_property
    def times(self) -> tuple[TemporalExpression, ...]:
        return numbers_and_dates.find_temporal_expressions(self.text)

    @cached_property
    def bounds(self) -> dict[bool, str]:
        """The times at which something ends (True) or begins, with the word before them."""
        if len(self.times) > 1 and self.period and self.period.is_span:
            return dict.fromkeys((True, False), self.text[self.period.start : self.period.end])
        befores = ((time, _BOUND.search(self.text, 0, time.start)) for time in self.times)
        return {
            bool(before["end"]): self.text[before.start() : time.end]
            for time, before in befores
            if before
        }

    @cached_property
    def period(self) -> Period | None:
        return numbers_and_dates.find_period(self.text, self.times)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        return numbers_and_dates.find_quantities(
            self.text, lambda: [(time.start, time.end) for time in self.times]
        )

    @cached_property
    def frequencies(self) -> dict[Decimal, str]:
        return numbers_and_dates.find_frequencies(self.text)

    @cached_property
    def names(self) -> tuple[ProperName, ...]:
        return find_proper_names(self.text)

    @cached_property
    def denied(self) -> dict[str, str]:
        return _words_after(_DENIAL, self.text)

    @cached_property
    def excepted(self) -> dict[str, str]:
        return _words_after(_EXCEPT, self.text)

    @cached_property
    def sole(self) -> dict[str, str]:
        return _words_after(_ONLY, self.text)

    @cached_property
    def words(self) -> dict[str, str]:
        joined = _STATE.sub(r"\1-\2", self.text)
        return {fold(word): word for word in _WORD.findall(joined)}

    @cached_property
    def opposable(self) -> tuple[str, ...]:
        words = opposites().keys() & self.words.keys()
        return tuple(sorted(words if _SWITCHED.search(self.text) else words - {"on", "off"}))

    @cached_property
    def word_by_stem(self) -> dict[str, str]:
        return {stem(folded): word for folded, word in self.words.items()}


def find_conflicts(left: str, right: str) -> tuple[Conflict, ...]:
    """Return the conflicts between two texts.

    Swapping the texts only swaps `left` and `right` of each conflict.
    """
    ours, theirs = claims_of(left[:MAX_READ]), claims_of(right[:MAX_READ])
    return tuple(conflict for differ in _GUARDS for conflict in differ(ours, theirs))


def contradict(left: str, right: str) -> bool:
    """Return whether there is any conflict between two texts."""
    ours, theirs = claims_of(left[:MAX_READ]), claims_of(right[:MAX_READ])
    return any(differ(ours, theirs) for differ in _GUARDS)


def adds_values(left: str, right: str) -> bool:
    """Return whether the left text has a number, date or name beside all those of the right one."""
    ours, theirs = claims_of(left[:MAX_READ]), claims_of(right[:MAX_READ])
    numbers = numbers_and_dates.unmatched_quantities(ours.quantities, theirs.quantities)
    names = unmatched_names(ours.names, theirs.names, left, right)
    parts = [{time.part for time in side.times} - {"season"} for side in (ours, theirs)]
    return any(added and not missing for added, missing in (numbers, names)) or parts[0] > parts[1]


claims_of = lru_cache(maxsize=4096)(Claims)  # 5 kB each, in servers that run for weeks


def is_part_of(one: Claims, other: Claims) -> bool:
    """Return whether the period of a text is part of that of another."""
    narrow, wide = one.times and one.period, other.times and other.period
    return bool(narrow and wide and numbers_and_dates.is_part_of(narrow, wide))


def covers_more(left: str, right: str) -> bool:
    """Return whether the period of the left text is longer and includes that of the right one.

    A longer time of an event is no more: `Joined in 2023` says less than `Joined in May 2023`.
    """
    if _EVENT.search(left) and _EVENT.search(right):
        return False
    one, other = claims_of(left), claims_of(right)
    return is_part_of(other, one) and not is_part_of(one, other)


def ends_before_return(left: str, right: str) -> bool:
    """Return whether one text ends on a day and the other tells of a return on the next."""
    sides = claims_of(left), claims_of(right)
    return any(
        RETURN.search(begins.text)
        and ends.period
        and begins.period
        and True in ends.bounds
        and True not in begins.bounds
        and numbers_and_dates.is_next_to(begins.period, ends.period)
        for ends, begins in (sides, sides[::-1])
    )


def _dates(left: Claims, right: Claims) -> list[Conflict]:
    ours, theirs = numbers_and_dates.differing_times(left.times, left.times and right.times)
    if not ours and left.times and right.times and _are_apart(left, right):
        ours, theirs = list(left.times), list(right.times)
    if ours and theirs:
        is_within = is_part_of(left, right) or is_part_of(right, left)
        if is_within or ends_before_return(left.text, right.text):
            return []
        return [Conflict("date", _listed(ours), _listed(theirs))]
    if left.bounds and right.bounds and left.bounds.keys().isdisjoint(right.bounds):
        return [Conflict("date", *(", ".join(side.bounds.values()) for side in (left, right)))]
    return []


def _are_apart(left: Claims, right: Claims) -> bool:
    """Return whether months, quarters or parts of them exclude each other; which months a season
    has depends on the hemisphere."""
    is_seasonal = any(time.part == "season" for time in (*left.times, *right.times))
    if is_seasonal or not (left.period and right.period):
        return False
    return numbers_and_dates.are_apart(left.period, right.period)


def _numbers(left: Claims, right: Claims) -> list[Conflict]:
    numbers = left.quantities, left.quantities and right.quantities
    ours, theirs = numbers_and_dates.unmatched_quantities(*numbers)
    if numbers[1] and left.words.keys() ^ right.words.keys() in _STRICT:
        ours, theirs = list(left.quantities), list(right.quantities)
    if not (ours and theirs) or _is_one_long_number(left.text, right.text):
        return []
    figures, others = ({(each.figure, each.bound) for each in side} for side in (ours, theirs))
    return [Conflict("unit" if figures & others else "number", _listed(ours), _listed(theirs))]


def _is_one_long_number(left: str, right: str) -> bool:
    """Return whether texts have equal digits, as many as a telephone number, however grouped."""
    ours, theirs = ("".join(filter(str.isdecimal, text)) for text in (left, right))
    return ours == theirs and len(ours) >= LONG_NUMBER


def _frequencies(left: Claims, right: Claims) -> list[Conflict]:
    ours, theirs = left.frequencies, right.frequencies
    is_same = numbers_and_dates.is_same_frequency
    if not (ours and theirs) or any(is_same(one, other) for one in ours for other in theirs):
        return []
    return [Conflict("value", ", ".join(ours.values()), ", ".join(theirs.values()))]


def _names(left: Claims, right: Claims) -> list[Conflict]:
    if not (left.names and right.names):
        return []
    left_only, right_only = unmatched_names(left.names, right.names, left.text, right.text)
    if not 0 < len(left_only) == len(right_only) <= MAX_EXCHANGED_NAMES:
        return []
    one, other = analyse_words(left.text).content, analyse_words(right.text).content
    others = min(len(one) - len(left_only), len(other) - len(right_only))
    if not one & other or len(one & other) < COMMON_GROUND * others:
        return []
    return [Conflict("name", _full(left_only, left.text), _full(right_only, right.text))]


def _full(names: Sequence[ProperName], text: str) -> str:
    """Return names as they follow each other in the text, otherwise joined by commas."""
    joined = " ".join(name.written for name in names)
    return joined if joined in text else _listed(names)


def _negation(left: Claims, right: Claims) -> list[Conflict]:
    denied = [stem for stem in left.denied if _affirms(right, stem)]
    affirmed = [stem for stem in right.denied if _affirms(left, stem)]
    if not denied and not affirmed:
        return []
    ours = [left.denied[stem] for stem in denied] + [left.word_by_stem[stem] for stem in affirmed]
    theirs = [right.word_by_stem[stem] for stem in denied]
    theirs += [right.denied[stem] for stem in affirmed]
    return [Conflict("negation", ", ".join(ours), ", ".join(theirs))]


def _affirms(claims: Claims, stem: str) -> bool:
    return stem in claims.word_by_stem and stem not in claims.denied


def _words_after(marks: re.Pattern[str], text: str) -> dict[str, str]:
    """Return the stems of the words that follow such marks, each with the mark and word."""
    found = {}
    for match in marks.finditer(text):
        for word in _WORD.finditer(text, match.end()):
            if fold(word.group()) not in FUNCTION_WORDS:
                found[stem(fold(word.group()))] = text[match.start() : word.end()]
                break
    return found


def _exceptions(left: Claims, right: Claims) -> list[Conflict]:
    """Return what is the only one in one text, and the only exception in the other."""
    ours = left.sole.keys() & right.excepted.keys() | left.excepted.keys() & right.sole.keys()
    one, other = left.sole | left.excepted, right.sole | right.excepted
    return [Conflict("value", one[word], other[word]) for word in sorted(ours)]


def _opposites(left: Claims, right: Claims) -> list[Conflict]:
    found = [
        (word, other)
        for word in left.opposable
        if word not in right.words
        for other in right.opposable
        if other in opposites()[word] and other not in left.words
    ]
    ours, theirs = left.words.keys() - right.words.keys(), right.words.keys() - left.words.keys()
    found += _negated(ours, theirs)
    found += [(word, other) for other, word in _negated(theirs, ours)]
    opposed = [
        Conflict("opposite", left.words[word], right.words[other])
        for word, other in dict.fromkeys(found)
        if (stem(word) in left.denied) == (stem(other) in right.denied)  # `not open` is `closed`
    ]
    shared = left.words.keys() & right.words.keys()
    orders = [[word for word in side.words if word in shared] for side in (left, right)]
    has_order = orders[0] != orders[1] or "by" in left.words or "by" in right.words
    exchanged = exchanged_words(left.text, right.text) if has_order else None
    if not exchanged:
        return opposed
    return [] if opposed else [Conflict("order", *exchanged)]  # `A is before B`, `B is after A`


_NEGATING = ("un", "in", "im", "il", "ir", "dis", "non", "non-")


def _negated(plain: Iterable[str], others: Iterable[str]) -> list[tuple[str, str]]:
    """Return words with a form of theirs that has a negating affix, as in `unencrypted`."""
    negated = [word for word in sorted(others) if word.startswith(_NEGATING) or "less" in word]
    by_stem, found = {stem(word): word for word in negated}, []
    for word in sorted(plain) if negated else ():
        if len(word) >= SHORTEST_NEGATED:
            root = stem(word)
            opposed = [prefix + root for prefix in _NEGATING]
            opposed += [stem(word.removesuffix("ful") + "less")] * word.endswith("ful")
            found += [(word, by_stem[each]) for each in opposed if each in by_stem]
    return found


_GUARDS = (_dates, _numbers, _frequencies, _exceptions, _names, _negation, _opposites)


def _listed(parts: Iterable[ProperName | Quantity | TemporalExpression]) -> str:
    return ", ".join(dict.fromkeys(part.written for part in parts))


SAME_NAME, SPELLED = 75.0, 7
"""Lowest ratio, 0..100, of two spellings of one name (Hezbollah, Hizbullah), and their fewest
letters: shorter names as alike as that are names of different people (Marta, Maria)."""
SAME_START = 3
"""Letters shared at the start of forms of one name: Spain, Spanish; Dan, Daniel."""
_OF_A_PLACE = ("ish", "ese", "ian", "ians", "ean", "eans", "an", "ans", "ch", "i", "is")
"""Ends of words for what comes from a place."""

KEY = re.compile(r"\s*([^:\n]{1,60}?)\s*(?::|\s[-–—])\s+(?=\S)")
"""The key of `key: value`, with its colon or dash."""
_NAME_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
_QUARTER = re.compile(r"[qQ][1-4]")
_CODE = re.compile(r"[^\W\d_]+\d[^\W_]*|[^\W\d_]+-\d+")
_VERB_ENDS = ("s", "ed")
_VERBS = frozenset(
    ("is", "was", "has", "had", "will", "would", "can", "could", "should", "may", "might", "must")
)
_NEVER_NAMES = """
    someone somebody anyone anybody everyone everybody nobody several many most other others
    another both each few more one once only mr mrs ms dr prof
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december ok ceo cto cfo"""
_NOT_NAMES = frozenset(_NEVER_NAMES.split())


_ALIASES = {
    spelling: group[0]
    for group in (
        ("us", "u.s", "u.s.a", "usa", "america", "american", "americans"),
        ("uk", "u.k", "britain", "british", "briton", "britons"),
        ("eu", "e.u"),
        ("un", "u.n"),
    )
    for spelling in group
}


@dataclass(frozen=True, slots=True)
class ProperName:
    """A name or code in a text.

    `Alice`, `Berlin`, `Team A`, `v2`, `KBX-12`. A word is a name when it is capitalised for no
    other reason. At the start of a sentence it is one when it is not a common verb or adverb, and a
    third-person verb or another name follows (`Alice prefers tea`); in a headline, where every
    word is capitalised, none is. The value of a key does not count: `manager: Bruno Brandt`.
    """

    written: str
    key: str
    is_code: bool
    """Whether it is a single letter or mixes letters and digits: similar codes are not the same."""


def find_proper_names(text: str) -> tuple[ProperName, ...]:
    matches = list(_NAME_WORD.finditer(text))
    words = [match.group() for match in matches]
    capitals = [word[0].isupper() for word in words]
    key = KEY.match(text)
    value = next((i for i, m in enumerate(matches) if key and m.start() >= key.end()), 0)
    is_name = value > 0 and _are_all_capital(words[value:], capitals[value:])
    if not is_name and _is_headline(words, capitals):
        capitals = [False] * len(words)
    names = []
    for position, word in enumerate(words):
        if word.islower() and word.isalpha():  # like most words, neither a name nor a code
            continue
        before = text[: matches[position].start()].rstrip(" \"'([")
        starts = not before or before[-1] in ".!?:;…-–"
        starts &= not (is_name and position == value)
        following = words[position + 1] if position + 1 < len(words) else ""
        if _QUARTER.fullmatch(word):  # a date
            continue
        if _is_code(word, starts):
            names.append(ProperName(word, fold(word), is_code=True))
            continue
        if not capitals[position] or len(word) < 2:
            continue
        if not _NOT_NAMES.isdisjoint((fold(word), fold(word).removesuffix("s"))):  # Thursdays
            continue
        is_confirmed = not starts or (_confirms_name(following) and not _is_ordinary(word))
        if fold(word) not in FUNCTION_WORDS and is_confirmed:
            name = fold(word).removesuffix("'s").removesuffix("’s")
            names.append(ProperName(word, _ALIASES.get(name, name), is_code=False))
    return tuple(names)


def _is_headline(words: Sequence[str], capitals: Sequence[bool]) -> bool:
    if len(words) < 2 or not _are_all_capital(words, capitals):
        return False
    first, second = fold(words[0]), words[1]
    is_verb = first.endswith(_VERB_ENDS) and not first.endswith("ss")
    return not (is_verb and second.islower())  # `Lives in Berlin`, but `Operations Manager`


def _are_all_capital(words: Sequence[str], capitals: Sequence[bool]) -> bool:
    """Return whether at least one word and all besides numbers and function words are capital."""
    counted = (
        is_capital
        for word, is_capital in zip(words, capitals, strict=True)
        if word[0].isalpha() and fold(word) not in FUNCTION_WORDS
    )
    return next(counted, False) and all(counted)


def unmatched_names(
    left: Sequence[ProperName], right: Sequence[ProperName], left_text: str, right_text: str
) -> tuple[list[ProperName], list[ProperName]]:
    """Return the names of each side that the other text does not contain in any spelling."""
    return _missing(left, right, right_text), _missing(right, left, left_text)


def _missing(
    names: Sequence[ProperName], others: Sequence[ProperName], text: str
) -> list[ProperName]:
    words, initials = _words_in(text)
    return [
        name
        for name in names
        if name.key not in words
        and not any(_same(name, other) for other in others)
        and (name.is_code or not _is_acronym(name, initials))
        and (name.is_code or not any(_forms_of_one(name.key, word) for word in words))
    ]


@lru_cache(maxsize=4096)
def _words_in(text: str) -> tuple[frozenset[str], str]:
    """Return the folded words of a text, with the parts of compounds, and its capital initials."""
    matches = _NAME_WORD.findall(text)
    words = {fold(word) for word in matches}
    words |= {_ALIASES[word] for word in words & _ALIASES.keys()}
    compounds = [word for word in words if not word.isalnum()]
    words.update(part for word in compounds for part in re.split(r"[.'’&-]", word))
    return frozenset(words), "".join(word[0] for word in matches if word[0].isupper()).lower()


def _same(one: ProperName, other: ProperName) -> bool:
    if one.is_code or other.is_code:
        return one.key == other.key
    if _forms_of_one(one.key, other.key):
        return True
    is_long = min(len(one.key), len(other.key)) >= SPELLED
    return is_long and fuzz.ratio(one.key, other.key) >= SAME_NAME


def _forms_of_one(one: str, other: str) -> bool:
    """Return whether words are a name and its short form, or a place and what comes from it."""
    short, long = sorted((one, other), key=len)
    if len(short) < SAME_START:
        return False
    if long.startswith(short):
        return True
    start = max(SAME_START, len(short) - 2)
    return long.endswith(_OF_A_PLACE) and long[:start] == short[:start]


def _is_acronym(name: ProperName, initials: str) -> bool:
    letters = name.key.replace(".", "")
    return name.written.isupper() and len(letters) > 1 and letters in initials


def _is_code(word: str, starts: bool) -> bool:
    if len(word) == 1:
        return word.isupper() and not starts and word != "I"
    return _CODE.fullmatch(word) is not None


def _is_ordinary(word: str) -> bool:
    """Return whether a word is capital only where a text starts: `Never`, `Likes`, `Usually`.

    Not every common word: `Hope leads Search`.
    """
    folded = fold(word)
    is_form = folded.endswith(("s", "ly")) and (
        is_common_word(folded) or is_common_word(folded.removesuffix("s"))
    )
    return is_form or NEGATION.fullmatch(word) is not None


def _confirms_name(following: str) -> bool:
    folded = fold(following)
    if following[:1].isupper():
        return len(following) > 1
    return folded in _VERBS or (
        len(folded) > 3 and folded.endswith(_VERB_ENDS) and not folded.endswith("ss")
    )


@cache
def opposites() -> Mapping[str, frozenset[str]]:
    """Return the opposites of each folded word in ``opposites.txt``.

    Each line has two lists separated by a slash; every word of one excludes every word of the
    other.
    """
    table = defaultdict[str, set[str]](set)
    for line in Path(__file__).with_name("opposites.txt").read_text("utf-8").splitlines():
        one, other = ([word.strip() for word in side.split(",")] for side in line.split("/"))
        for word in one:
            table[word].update(other)
        for word in other:
            table[word].update(one)
    return {word: frozenset(others) for word, others in table.items()}

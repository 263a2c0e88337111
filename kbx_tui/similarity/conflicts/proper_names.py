"""Proper names and codes in a text, recognised by their spelling. Pure.

`Alice`, `Berlin`, `Team A`, `v2`, `KBX-12`. A word is a name when it is capitalised for no other
reason. At the start of a sentence it is one when a third-person verb or another name follows
(`Alice prefers tea`); in a headline, where every word is capitalised, none is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from kbx_tui.knowledge.folding import fold
from kbx_tui.similarity.scoring.compared_words import FUNCTION_WORDS

HEADLINE_SHARE = 0.6
"""Share of capitalised words from which capitals carry no information."""
SAME_NAME = 75.0
"""Lowest ratio, 0..100, of two spellings of one name: Hezbollah, Hizbullah."""
SAME_START = 3
"""Letters shared at the start of forms of one name: Spain, Spanish."""

_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
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
"""Countries with dissimilar names, mapped to one of them."""


@dataclass(frozen=True, slots=True)
class ProperName:
    """A name or code in a text."""

    written: str
    key: str
    """Folded."""
    is_code: bool
    """Whether it is a single letter or mixes letters and digits: similar codes are not the same."""


def find_proper_names(text: str) -> tuple[ProperName, ...]:
    """Return the names and codes of a text in order."""
    matches = list(_WORD.finditer(text))
    words = [match.group() for match in matches]
    capitals = [word[0].isupper() for word in words]
    if _is_headline(words, capitals):
        capitals = [False] * len(words)
    names = []
    for position, word in enumerate(words):
        if word.islower() and word.isalpha():  # like most words, neither a name nor a code
            continue
        before = text[: matches[position].start()].rstrip(" \"'([")
        starts = not before or before[-1] in ".!?:;…-–"
        following = words[position + 1] if position + 1 < len(words) else ""
        if _QUARTER.fullmatch(word):  # a date
            continue
        if _is_code(word, starts):
            names.append(ProperName(word, fold(word), is_code=True))
            continue
        if not capitals[position] or len(word) < 2 or fold(word) in _NOT_NAMES:
            continue
        if fold(word) not in FUNCTION_WORDS and (not starts or _confirms_name(following)):
            key = fold(word).removesuffix("'s").removesuffix("’s")
            key = _ALIASES.get(key, key)
            names.append(ProperName(word, key, is_code=False))
    return tuple(names)


def _is_headline(words: Sequence[str], capitals: Sequence[bool]) -> bool:
    """Return whether capitals carry no information: in a headline, a title, a job title."""
    if sum(capitals) < 2:
        return False
    counted = [i for i, word in enumerate(words) if fold(word) not in FUNCTION_WORDS]
    if len(counted) < 2 or not all(capitals[i] for i in counted):
        return len(counted) >= 3 and (
            sum(capitals[i] for i in counted) >= HEADLINE_SHARE * len(counted)
        )
    first, second = fold(words[0]), words[1]
    is_verb = first.endswith(_VERB_ENDS) and not first.endswith("ss")
    return not (is_verb and second.islower())  # `Lives in Berlin`, but `Operations Manager`


def unmatched(
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


@lru_cache(maxsize=65536)
def _words_in(text: str) -> tuple[frozenset[str], str]:
    """Return the folded words of a text, with the parts of compounds, and its capital initials."""
    matches = _WORD.findall(text)
    words = {fold(word) for word in matches}
    words |= {_ALIASES[word] for word in words & _ALIASES.keys()}
    compounds = [word for word in words if not word.isalnum()]
    words.update(part for word in compounds for part in re.split(r"[.'’&-]", word))
    return frozenset(words), "".join(word[0] for word in matches if word[0].isupper()).lower()


def _same(one: ProperName, other: ProperName) -> bool:
    if one.is_code or other.is_code:
        return one.key == other.key
    return _forms_of_one(one.key, other.key) or fuzz.ratio(one.key, other.key) >= SAME_NAME


def _forms_of_one(one: str, other: str) -> bool:
    start = min(len(one), len(other), SAME_START)
    return start >= SAME_START and one[:start] == other[:start]


def _is_acronym(name: ProperName, initials: str) -> bool:
    letters = name.key.replace(".", "")
    return name.written.isupper() and len(letters) > 1 and letters in initials


def _is_code(word: str, starts: bool) -> bool:
    if len(word) == 1:
        return word.isupper() and not starts and word != "I"
    return _CODE.fullmatch(word) is not None


def _confirms_name(following: str) -> bool:
    """Return whether the next word shows that the first word of a sentence is a name."""
    folded = fold(following)
    if following[:1].isupper():
        return len(following) > 1
    return folded in _VERBS or (
        len(folded) > 3 and folded.endswith(_VERB_ENDS) and not folded.endswith("ss")
    )

"""Proper names and codes in a text, told by how they are written. Pure.

`Alice`, `Berlin`, `Team A`, `v2`, `KBX-12`. A word is a name when it is capitalised where nothing
asks for it. At the start of a text it is one when a verb in the third person or another name
follows (`Alice prefers tea`); in a headline, where every word is capitalised, nothing is.
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
"""Share of capitalised words from which on capitals tell nothing."""
SAME_NAME = 75.0
"""Likeness, 0..100, from which on two spellings are one name: Hezbollah, Hizbullah."""
SAME_START = 3
"""Letters that forms of one name begin with: Spain, Spanish."""

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
"""Countries that go by names unlike each other."""


@dataclass(frozen=True, slots=True)
class ProperName:
    """A name or code of a text."""

    written: str
    key: str
    """Folded."""
    is_code: bool
    """True for single letters and what mixes letters and figures: alike is not the same."""


def proper_names(text: str) -> tuple[ProperName, ...]:
    """Return the names and codes of a text in order."""
    found = list(_WORD.finditer(text))
    written = [match.group() for match in found]
    capitals = [word[0].isupper() for word in written]
    if _is_headline(written, capitals):
        capitals = [False] * len(written)
    names = []
    for at, word in enumerate(written):
        if word.islower() and word.isalpha():  # neither a name nor a code, as most words
            continue
        before = text[: found[at].start()].rstrip(" \"'([")
        starts = not before or before[-1] in ".!?:;…-–"
        following = written[at + 1] if at + 1 < len(written) else ""
        if _QUARTER.fullmatch(word):  # a date
            continue
        if _is_code(word, starts):
            names.append(ProperName(word, fold(word), is_code=True))
            continue
        if not capitals[at] or len(word) < 2 or fold(word) in _NOT_NAMES:
            continue
        if fold(word) not in FUNCTION_WORDS and (not starts or _acts(following)):
            key = fold(word).removesuffix("'s").removesuffix("’s")
            key = _ALIASES.get(key, key)
            names.append(ProperName(word, key, is_code=False))
    return tuple(names)


def _is_headline(written: Sequence[str], capitals: Sequence[bool]) -> bool:
    """Tell whether capitals mean nothing: in a headline, a title, a job title."""
    if sum(capitals) < 2:
        return False
    counted = [i for i, word in enumerate(written) if fold(word) not in FUNCTION_WORDS]
    if len(counted) < 2 or not all(capitals[i] for i in counted):
        return len(counted) >= 3 and (
            sum(capitals[i] for i in counted) >= HEADLINE_SHARE * len(counted)
        )
    first, second = fold(written[0]), written[1]
    speaks = first.endswith(_VERB_ENDS) and not first.endswith("ss")
    return not (speaks and second.islower())  # `Lives in Berlin`, but `Operations Manager`


def unmatched(
    left: Sequence[ProperName], right: Sequence[ProperName], left_text: str, right_text: str
) -> tuple[list[ProperName], list[ProperName]]:
    """Return the names of each side that the other text does not hold in any spelling."""
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
    """Return the folded words of a text, joined ones apart too, and its capital initials."""
    found = _WORD.findall(text)
    words = {fold(word) for word in found}
    words |= {_ALIASES[word] for word in words & _ALIASES.keys()}
    joined = [word for word in words if not word.isalnum()]
    words.update(part for word in joined for part in re.split(r"[.'’&-]", word))
    return frozenset(words), "".join(word[0] for word in found if word[0].isupper()).lower()


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


def _acts(following: str) -> bool:
    """Tell whether the next word makes the first one a name."""
    folded = fold(following)
    if following[:1].isupper():
        return len(following) > 1
    return folded in _VERBS or (
        len(folded) > 3 and folded.endswith(_VERB_ENDS) and not folded.endswith("ss")
    )

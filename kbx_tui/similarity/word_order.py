"""The order of words: parts that change places, and relations stated from both sides. Pure.

A score over words cannot see order: `A pays B` has all words of `B pays A`. Words are folded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from kbx_tui.similarity.compared_words import FUNCTION_WORDS, word_set

Item = TypeVar("Item")

CONVERSES = [
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        line.split("/")
        for line in """uncle aunt / nephew niece
        parent father mother dad mum mom / child son daughter
        grandparent grandfather grandmother / grandchild grandson granddaughter
        husband / wife
        teacher tutor coach trainer teaches / pupil student
        mentor mentors / mentee
        manager boss supervisor manages supervises / report reports
        doctor / patient
        landlord landlady / tenant
        host / guest
        employer employs / employee works
        owner owns / belongs
        supplier supplies / customer
        predecessor / successor
        bought buys purchased acquired / sold sells
        borrowed borrows / lent lends
        received receives got / gave gives sent sends
        above over / below under beneath
        before precedes / after follows
        older / younger
        taller larger bigger higher / shorter smaller lower
        faster / slower
        north / south
        east / west
        left / right
        beats beat defeated / lost""".splitlines()
    )
]
"""Words that say one relation from its two sides."""
_INVERTED = [(other, one) for one, other in CONVERSES]
_AUXILIARIES = word_set("is are was were been be being")
_JOINING = word_set("and or & plus with the a an")
MOST_EXCHANGED = 24
"""Words between those that both texts begin and end with, in which parts may change places."""


def is_exchanged(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether two parts change places around what relates them: `A pays B`, `B pays A`."""
    ours, theirs = without_common_ends(ours, theirs)
    size = len(ours)
    if size > MOST_EXCHANGED or sorted(ours) != sorted(theirs):
        return False
    return any(
        ours[:one] == theirs[size - one :]
        and ours[size - other :] == theirs[:other]
        and ours[one : size - other] == theirs[other : size - one]
        and not _JOINING.issuperset(ours[one : size - other])
        for one in range(1, size - 1)
        for other in range(1, size - one)
    )


def is_converse(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether one relation is stated from both sides: `A is above B`, `B is below A`.

    Two common words change places, and either the relation is named by its converse or one text is
    in the passive; both together (`A bought B`, `B was sold by A`) are another relation.
    """
    ours, theirs = ([word.removesuffix("'s") for word in side] for side in (ours, theirs))
    common = [word for word in ours if word in theirs and word not in FUNCTION_WORDS]
    places = [theirs.index(word) for word in common]
    if len(places) < 2 or places == sorted(places):
        return False
    one, other = set(ours) - set(theirs), set(theirs) - set(ours)
    has_converse = any(
        not (a.isdisjoint(one) or b.isdisjoint(other)) for a, b in (*CONVERSES, *_INVERTED)
    )
    return has_converse is not (_is_passive(ours) is not _is_passive(theirs))


def _is_passive(words: Sequence[str]) -> bool:
    return any(
        first in _AUXILIARIES and last == "by"
        for first, last in zip(words, words[2:], strict=False)
    )


def without_common_ends(
    left: Sequence[Item], right: Sequence[Item], key: Callable[[Item], object] = str
) -> tuple[Sequence[Item], Sequence[Item]]:
    shortest = min(len(left), len(right))
    start = end = 0
    while start < shortest and key(left[start]) == key(right[start]):
        start += 1
    while end < shortest - start and key(left[-1 - end]) == key(right[-1 - end]):
        end += 1
    return left[start : len(left) - end], right[start : len(right) - end]

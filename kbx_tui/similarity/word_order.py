"""The order of words: parts that change places. Pure.

A score over words cannot see order: `A pays B` has all words of `B pays A`. Words are folded.
"""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.similarity.compared_words import word_set

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


def without_common_ends(
    left: Sequence[str], right: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    shortest = min(len(left), len(right))
    start = end = 0
    while start < shortest and left[start] == right[start]:
        start += 1
    while end < shortest - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return left[start : len(left) - end], right[start : len(right) - end]

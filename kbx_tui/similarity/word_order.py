"""The order of words: parts that change places. Pure.

A score over words cannot see order: `A pays B` has all words of `B pays A`. Words are folded.
"""

from __future__ import annotations

from kbx_tui.similarity.compared_words import word_set

_JOINING = word_set("and or & plus with the a an")
MOST_EXCHANGED = 24
"""Words between those that both texts begin and end with, in which parts may change places."""


def is_exchanged(ours: list[str], theirs: list[str]) -> bool:
    """Return whether two parts change places around what relates them: `A pays B`, `B pays A`."""
    while ours and theirs and ours[0] == theirs[0]:
        ours, theirs = ours[1:], theirs[1:]
    while ours and theirs and ours[-1] == theirs[-1]:
        ours, theirs = ours[:-1], theirs[:-1]
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

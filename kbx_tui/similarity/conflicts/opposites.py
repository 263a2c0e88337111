"""Words that exclude each other: states, directions, amounts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path


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

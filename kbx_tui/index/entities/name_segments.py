"""Pieces of names that a misspelled name still holds, so that few names are compared with a text.

A text and a name are as similar as `SIMILAR` at least if at most d letters are left out or added on
the way from one to the other, where d follows from their lengths. Of d + 1 pieces of the name one
is whole in the text then, near the same place. So names are found by their pieces, and none that is
similar enough is missed. Source: Li, Deng, Wang & Feng 2011, "Pass-Join: A Partition-based Method
for Similarity Joins", here for letters left out or added.

The runs of a text that may be a piece grow with the cube of its length. So long names, of which
there are few, have no pieces: a text is compared with all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

SIMILAR = 88.0
"""Lowest similarity of a misspelling to the name, 0..100: twice the letters they share in order, in
percent of all letters of both."""

LONGEST_IN_PIECES = 64
"""Letters of the longest name that is found by its pieces."""

Hashes = NDArray[np.uint64]
Letters = NDArray[np.uint32]
"""Code points of texts, one after the other."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_OF_LENGTH, _OF_PIECE = 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_ROUNDING = 1e-9


def letters_of(texts: Sequence[str]) -> Letters:
    """Return the letters of texts, concatenated."""
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)


def signatures(letters: Letters, lengths: NDArray[np.int64]) -> Hashes:
    """Return which letters each text has, as bits: of two texts, at most d bits differ."""
    bits = np.uint64(1) << (letters % np.uint32(64)).astype(np.uint64)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
    if not len(lengths):
        return bits[:0]
    of_texts: Hashes = np.bitwise_or.reduceat(bits, starts)
    return of_texts


def most_changes(length: int, other: int) -> int:
    """Return the most letters left out or added between similar texts of two lengths, or -1."""
    most = int((1.0 - SIMILAR / 100.0) * (length + other) + _ROUNDING)
    most -= (most + length + other) % 2  # as many as the lengths differ by, or 2, 4, ... more
    return most if most >= abs(length - other) else -1


@lru_cache(maxsize=256)
def changes_at_most(length: int) -> int:
    """Return the most letters left out or added between a text and any that is similar."""
    return max(most_changes(length, other) for other in range(length // 2, 2 * length + 1))


@lru_cache(maxsize=256)
def partitions(length: int) -> tuple[int, ...]:
    """Return the numbers of changes for which a name of this length is cut into pieces.

    None for one of more than `LONGEST_IN_PIECES` letters.
    """
    if length > LONGEST_IN_PIECES:
        return ()
    others = range(length // 2, 2 * length + 1)
    return tuple(sorted({most_changes(length, other) for other in others} - {-1}))


def pieces(length: int, changes: int) -> Iterator[tuple[int, int]]:
    """Yield start and size of the pieces of a name of this length, for so many changes."""
    size, longer = divmod(length, changes + 1)
    sizes = [size + (number > changes - longer) for number in range(changes + 1)]
    return ((start, end - start) for start, end in pairwise(accumulate(sizes, initial=0)))


def piece_salt(length: int, changes: int, number: int) -> int:
    """Return a 64-bit number by which equal pieces at different places of names differ."""
    return (length * _OF_LENGTH + (changes << 8 | number) * _OF_PIECE) % (1 << 64)


def piece_hashes(
    letters: Letters, starts: NDArray[np.int64], sizes: NDArray[np.int64], salts: Hashes
) -> Hashes:
    """Return a hash of each run of letters. Different runs may have the same."""
    hashes = salts.copy()
    for number in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > number)
        hashes[longer] = hashes[longer] * _BASE + letters[starts[longer] + number]
    return hashes


@lru_cache(maxsize=256)
def runs_to_look_up(length: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Hashes]:
    """Return start, size and salt of each run of a text of this length that may be a piece."""
    runs = []
    for other in range(length // 2, min(2 * length, LONGEST_IN_PIECES) + 1):
        changes, longer = most_changes(length, other), length - other
        if changes < 0:
            continue
        for number, (start, size) in enumerate(pieces(other, changes)):
            salt = piece_salt(other, changes, number)
            first = max(start + -((changes - longer) // 2), 0)
            last = min(start + (changes + longer) // 2, length - size)
            runs += [(place, size, salt) for place in range(first, last + 1)]
    starts, sizes, salts = zip(*runs, strict=True) if runs else ((), (), ())
    return np.array(starts, np.int64), np.array(sizes, np.int64), np.array(salts, np.uint64)

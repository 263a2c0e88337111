"""Which text holds which term, how often and where: arrays, made from texts, kept in one file.

Texts have slots, 0..n-1. Places number all words of all texts in one row, a gap between texts, so
that two words stand side by side where their places differ by one. Terms of a text are those of
`index/lexical/terms.py`; words that are left out still take a place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.lexical.terms import term_of, words_in
from kbx_tui.index.mmap_arrays import read_arrays, write_arrays

FORMAT = "kbx words 1"
"""First line of the file; another analysis of words or another layout raises the number."""

Slots = NDArray[np.int32]
Counts = NDArray[np.int32]
Places = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Postings:
    """The texts by term, as a sparse matrix in rows of terms. Read-only."""

    names: NDArray[np.bytes_]
    """What each text is known by, shape (texts,)."""
    lengths: NDArray[np.int32]
    """Terms in each text, shape (texts,)."""
    begins: NDArray[np.int64]
    """Place of the first word of each text, shape (texts + 1,)."""
    spelling: NDArray[np.uint8]
    """All terms in UTF-8, one after the other, ascending."""
    spelling_starts: NDArray[np.int64]
    """Shape (terms + 1,)."""
    starts: NDArray[np.int64]
    """Where each term begins in `slots` and `counts`, shape (terms + 1,)."""
    slots: Slots
    """The texts that hold a term, ascending."""
    counts: Counts
    """How often they do."""
    place_starts: NDArray[np.int64]
    """Where each term begins in `places`, shape (terms + 1,)."""
    places: Places
    """Where a term stands, ascending."""

    def texts_with(self, term: str) -> tuple[Slots, Counts]:
        """Return the slots of the texts that hold a term, and how often each does."""
        at = self._number_of(term)
        part = slice(0, 0) if at < 0 else slice(self.starts[at], self.starts[at + 1])
        return self.slots[part], self.counts[part]

    def texts_with_pair(self, first: str, second: str) -> tuple[Slots, Counts]:
        """Return the texts where the second term stands right behind the first, and how often."""
        before, after = self.places_of(first), self.places_of(second)
        few, many, step = (before, after, 1) if len(before) <= len(after) else (after, before, -1)
        if not len(few):
            return self.slots[:0], self.counts[:0]
        at = np.minimum(np.searchsorted(many, few + step), len(many) - 1)
        slots, counts = np.unique(self.slots_at(few[many[at] == few + step]), return_counts=True)
        return slots, counts.astype(np.int32)

    def places_of(self, term: str) -> Places:
        """Return where a term stands."""
        at = self._number_of(term)
        part = slice(0, 0) if at < 0 else slice(self.place_starts[at], self.place_starts[at + 1])
        return self.places[part]

    def slots_at(self, places: Places) -> Slots:
        """Return the texts that the places are in."""
        return (np.searchsorted(self.begins, places, side="right") - 1).astype(np.int32)

    def _number_of(self, term: str) -> int:
        """Return the number of a term, -1 for an unknown one; nothing is built to look it up."""
        wanted, low, high = term.encode(), 0, len(self.spelling_starts) - 1
        while low < high:
            middle = (low + high) // 2
            start, end = self.spelling_starts[middle : middle + 2]
            found = self.spelling[start:end].tobytes()
            if found == wanted:
                return middle
            low, high = (middle + 1, high) if found < wanted else (low, middle)
        return -1


def make_postings(texts: Iterable[tuple[str, str]]) -> Postings:
    """Return the postings of texts, each with the name it is known by: at most 2^31 words."""
    number_of: dict[str, int] = defaultdict(count().__next__)
    names, sizes, words = [], [], []
    for name, text in texts:
        found = words_in(text)
        names.append(name.encode())
        sizes.append(len(found))
        words.append(np.fromiter(map(number_of.__getitem__, found), np.int32, len(found)))
    begins = np.concatenate(([0], np.cumsum(np.array(sizes, np.int64) + 1)))
    terms, term_of_word = _terms(number_of)
    term_at = term_of_word[np.concatenate(words)] if words else np.empty(0, np.int64)
    slot_at = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    place_at = np.arange(len(term_at)) + slot_at  # the gap behind each text
    kept = np.flatnonzero(term_at >= 0)
    # Sorted as one number per word, term before place: much faster than by two keys.
    keys = np.sort((term_at[kept] << 32) | place_at[kept])
    places, term_of_place = (keys & 0xFFFFFFFF).astype(np.int32), keys >> 32
    slot_of_place = np.searchsorted(begins, places, side="right") - 1
    first = np.ones(len(keys), np.bool_)
    first[1:] = (term_of_place[1:] != term_of_place[:-1]) | (
        slot_of_place[1:] != slot_of_place[:-1]
    )
    runs = np.flatnonzero(first)
    numbers = np.arange(len(terms) + 1)
    return Postings(
        names=np.array(names or [], dtype=np.bytes_),
        lengths=np.bincount(slot_at[kept], minlength=len(sizes)).astype(np.int32),
        begins=begins,
        spelling=np.frombuffer(b"".join(terms), np.uint8),
        spelling_starts=np.concatenate(([0], np.cumsum([len(t) for t in terms], dtype=np.int64))),
        starts=np.searchsorted(term_of_place[runs], numbers),
        slots=slot_of_place[runs].astype(np.int32),
        counts=np.diff(runs, append=len(keys)).astype(np.int32),
        place_starts=np.searchsorted(term_of_place, numbers),
        places=places,
    )


def _terms(words: Iterable[str]) -> tuple[list[bytes], NDArray[np.int64]]:
    """Return all terms of distinct words, ascending, and the number of each word's term or -1."""
    found = [term_of(word).encode() for word in words]
    terms = sorted({term for term in found if term})
    number_of = {term: number for number, term in enumerate(terms)}
    return terms, np.array([number_of.get(term, -1) for term in found], np.int64)


def write_postings(postings: Postings, file: Path) -> None:
    """Write postings in one step. Raises OSError."""
    arrays = {field.name: getattr(postings, field.name) for field in fields(Postings)}
    write_arrays(file, FORMAT, arrays)


def read_postings(file: Path) -> Postings | None:
    """Map a file of postings into memory; None when there is none, or it is not whole and ours."""
    arrays = read_arrays(file, FORMAT)
    if arrays is None or arrays.keys() != {field.name for field in fields(Postings)}:
        return None
    return Postings(**arrays)

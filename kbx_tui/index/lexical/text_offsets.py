"""Where the words of some texts start. A term is looked up in all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kbx_tui.index.lexical.postings import UNKNOWN, Postings


class TextsWithOffsets:
    """Some texts of one Postings, all of which are added before a term is looked up."""

    def __init__(self, postings: Postings, term_id: Callable[[str], int]) -> None:
        """`term_id` returns the number of a term in `postings`, or -1."""
        self._postings, self._term_id = postings, term_id
        self._doc_ids: list[int] = []
        self._offsets: dict[str, list[list[int]]] = {}

    def add(self, doc_id: int) -> TextOffsets | None:
        """Return the offsets of the words of a text; None if they are unknown."""
        size = self._postings.text_size(doc_id)
        if size == UNKNOWN:
            return None
        self._doc_ids.append(doc_id)
        return TextOffsets(size, self, len(self._doc_ids) - 1)

    def offsets_of(self, term: str) -> Sequence[Sequence[int]]:
        """Return where each word of a term starts in each text, in the order of `add`."""
        if (offsets := self._offsets.get(term)) is None:
            doc_ids = np.array(self._doc_ids, np.int32)
            offsets = self._postings.offsets_in(doc_ids, self._term_id(term))
            self._offsets[term] = offsets
        return offsets


@dataclass(frozen=True, slots=True)
class TextOffsets:
    """Where the words of one text start."""

    size: int
    """Characters of the text."""
    _texts: TextsWithOffsets
    _number: int

    def of(self, term: str) -> Sequence[int]:
        """Return where each word of a term starts, ascending and at most `postings.BEYOND`."""
        return self._texts.offsets_of(term)[self._number]

"""Where the words of a body start, from the full-text index, which spares searching the text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from kbx_tui.index.lexical.postings import BEYOND
from kbx_tui.index.lexical.terms import CJK_CHARACTER, LONGEST_WORD, STOP_WORDS
from kbx_tui.index.lexical.text_offsets import TextOffsets
from kbx_tui.search.results.word_matches import OffsetsOf

_CJK = re.compile(CJK_CHARACTER)

LONGEST_STEM = LONGEST_WORD // 2
"""Letters of a stem up to which none of its words is too long for the index."""


def offsets_in_body(text: TextOffsets | None, body: str, *, read_at_most: int) -> OffsetsOf | None:
    """Return what returns where the words with a stem start in a body, which ends its `text`.

    None unless the first `read_at_most` characters of the body have offsets. `text` must be in
    English: of other languages the index leaves out words, not stems.
    """
    if text is None:
        return None
    begin = text.size - len(body)
    if begin < 0 or begin + min(len(body), read_at_most) > BEYOND:
        return None

    def offsets_of(word_stem: str) -> Sequence[int] | None:
        is_indexed = word_stem.isalnum() and word_stem not in STOP_WORDS
        if not is_indexed or len(word_stem) > LONGEST_STEM or _CJK.search(word_stem):
            return None
        offsets = text.of(word_stem)
        return [offset - begin for offset in offsets[bisect_left(offsets, begin) :]]

    return offsets_of

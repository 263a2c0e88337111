"""Where the words of a text start, as `terms.words_in` counts them."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.lexical.terms import CJK_CHARACTER
from kbx_tui.knowledge.folding import fold

_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_CJK = re.compile(CJK_CHARACTER)
_ASCII_IN_WORD = np.array([chr(code).isalnum() for code in range(128)])


def word_offsets(text: str, count: int) -> NDArray[np.int64] | None:
    """Return where each of the `count` words of a text starts, in characters.

    None where folding makes other words than those written (`½`, decomposed accents), or where CJK
    characters were separated before words were counted.
    """
    if text.isascii():
        in_word = _ASCII_IN_WORD[np.frombuffer(text.encode(), np.uint8)]
    else:
        if not all(map(_keeps_words, set(_NON_ASCII.findall(text)))):
            return None
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        in_word = _ASCII_IN_WORD[np.minimum(codes, 127)]  # 127 is in no word
        others = np.flatnonzero(codes > 127)
        in_word[others] = [text[index].isalnum() for index in others.tolist()]
    is_start = in_word.copy()
    is_start[1:] &= ~in_word[:-1]
    starts: NDArray[np.int64] = np.flatnonzero(is_start)
    return starts if len(starts) == count else None


@lru_cache(maxsize=4096)
def _keeps_words(run: str) -> bool:
    """Return whether folding some characters leaves the words in them and beside them as they are.

    They may change letters and the length of what is between words.
    """
    return not _CJK.search(run) and _pattern(run) == _pattern(fold(run))


def _pattern(text: str) -> list[bool]:
    """Return whether each stretch of a text is in a word."""
    return [in_word for in_word, _ in groupby(text, str.isalnum)]

"""Where the words of a text start, as `terms.words_in` counts them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.lexical.terms import CJK_CHARACTER, words_in
from kbx_tui.knowledge.folding import fold

Offsets = NDArray[np.int64]

_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_CJK = re.compile(CJK_CHARACTER)
_WRITTEN_WORD = re.compile(rf"{CJK_CHARACTER}|(?:(?!{CJK_CHARACTER})[^\W_])+")
_ASCII_IN_WORD = np.array([chr(code).isalnum() for code in range(128)])


def word_offsets(text: str, words: Sequence[str]) -> Offsets | None:
    """Return where each of the words of a text, given as `words_in` returns them, starts.

    In characters. None where folding makes other words of the text than of each word in it, as with
    decomposed accents.
    """
    starts = _starts_of_stretches(text)
    if starts is None:
        return _starts_one_by_one(text, words)
    return starts if len(starts) == len(words) else None


def _starts_of_stretches(text: str) -> Offsets | None:
    """Return where each stretch of letters and digits starts; None unless they are the words."""
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
    starts: Offsets = np.flatnonzero(is_start)
    return starts


def _starts_one_by_one(text: str, words: Sequence[str]) -> Offsets | None:
    """Return where each word starts in a text with CJK characters, or with signs like `½`, which
    are written as one and folded to two."""
    found = [
        (match.start(), word)
        for match in _WRITTEN_WORD.finditer(text)
        for word in words_in(match[0])
    ]
    if [word for _, word in found] != list(words):
        return None
    return np.array([start for start, _ in found], np.int64)


@lru_cache(maxsize=4096)
def _keeps_words(run: str) -> bool:
    """Return whether folding some characters leaves the words in them and beside them as they are.

    They may change letters and the length of what is between words.
    """
    folded = fold(run)
    return not _CJK.search(folded) and _pattern(run) == _pattern(folded)


def _pattern(text: str) -> list[bool]:
    """Return whether each stretch of a text is in a word."""
    return [in_word for in_word, _ in groupby(text, str.isalnum)]

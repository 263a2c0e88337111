"""Search terms of a text: its words, folded and stemmed, without stop words."""

from __future__ import annotations

import re
from pathlib import Path

from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.stemming import stem

LONGEST_WORD = 40
"""Length from which a word is left out: it is a key or a checksum."""

STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text("ascii").split())
"""Stems that are not searched for: the list of NLTK, as in LanceDB's analyzer."""

CJK_CHARACTER = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
"""A Chinese, Japanese or Korean character, as a regular expression."""

_CJK = re.compile(f"({CJK_CHARACTER})")
_WORD = re.compile(r"[^\W_]+")


def separate_cjk(text: str) -> str:
    """Return text with spaces around each Chinese, Japanese or Korean character.

    These scripts do not separate words, so each character is indexed as a word.
    """
    return text if text.isascii() else _CJK.sub(r" \1 ", text)


def words_in(text: str) -> list[str]:
    """Return the folded words of a text, in order."""
    return _WORD.findall(fold(text))


def term_of(word: str) -> str:
    """Return the term of a folded word, empty for a word that is left out."""
    if len(word) >= LONGEST_WORD:
        return ""
    term = stem(word)
    return "" if term in STOP_WORDS else term


def terms_in(text: str) -> list[str]:
    """Return the terms of a text, in order, with repetitions."""
    return [term for word in words_in(text) if (term := term_of(word))]

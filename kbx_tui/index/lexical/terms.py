"""The search terms of a text, and where its words start.

Terms are words without stop words, folded, and stemmed by the language of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np

from kbx_tui.index.arrays import Rows
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.languages import (
    ENGLISH,
    FUNCTION_WORDS,
    language_detector,
    language_of_query,
    make_stem,
)

LONGEST_WORD = 40
"""Words of this length or more are not indexed: they are keys or checksums."""

STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text("ascii").split())
"""English stems that are not searched for: NLTK's list, as in LanceDB's analyzer."""

CJK_CHARACTER = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"

_CJK = re.compile(f"({CJK_CHARACTER})")
OF = ":"
"""Separates language and stem in a term; no word contains it."""

_WORD = re.compile(r"[^\W_]+")

language_of = language_detector(STOP_WORDS)


def separate_cjk(text: str) -> str:
    """Return a text with spaces around each CJK character: those scripts do not separate words."""
    return text if text.isascii() else _CJK.sub(r" \1 ", text)


def words_in(text: str) -> list[str]:
    """Return the folded words of a text, in order; each CJK character is a word."""
    return _WORD.findall(separate_cjk(fold(text)))


def make_term(word: str, language: str = ENGLISH) -> str:
    """Return the term of a folded word in a language, empty for a word that is not indexed."""
    if len(word) >= LONGEST_WORD:
        return ""
    if language == ENGLISH:
        term = make_stem(word)
        return "" if term in STOP_WORDS else term
    if word in FUNCTION_WORDS[language]:
        return ""
    return term_of_stem(make_stem(word, language), language)


term_of = lru_cache(maxsize=4096)(make_term)
"""As `make_term`, for words of queries, which are looked up in all languages."""


def term_of_stem(word_stem: str, language: str) -> str:
    """Return the term of a stem: the stem itself in English, else `language:stem`.

    The prefix separates equal stems of different words in two languages. Numbers and CJK
    characters have none.
    """
    if language == ENGLISH or word_stem.isdigit() or _CJK.fullmatch(word_stem):
        return word_stem
    return f"{language}{OF}{word_stem}"


def stem_of_term(term: str) -> str:
    return term.rpartition(OF)[2]


def terms_in(text: str, language: str = ENGLISH) -> list[str]:
    return [term for word in words_in(text) if (term := term_of(word, language))]


def words_without_topic(words: Sequence[str], main_language: str) -> frozenset[str]:
    """Return the folded words of a query to leave out in all languages of a multilingual base.

    These are the function words of the main language and of the query's language, the one of which
    the query holds the most, and at least two: `die` is an article or a verb depending on its
    neighbours.
    """
    languages = {main_language, language_of_query(words, STOP_WORDS)} - {""}
    return frozenset(
        word for word in words for language in languages if not term_of(word, language)
    )


_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_ANY_CJK = re.compile(CJK_CHARACTER)
_WRITTEN_WORD = re.compile(rf"{CJK_CHARACTER}|(?:(?!{CJK_CHARACTER})[^\W_])+")
_ASCII_IN_WORD = np.array([chr(code).isalnum() for code in range(128)])


def word_offsets(text: str, words: Sequence[str]) -> Rows | None:
    """Return the character offset of each word of a text; `words` are those of `words_in`.

    None if folding the whole text gives other words than folding each word alone, as with
    decomposed accents.
    """
    starts = _starts_of_stretches(text)
    if starts is None:
        return _starts_one_by_one(text, words)
    return starts if len(starts) == len(words) else None


def _starts_of_stretches(text: str) -> Rows | None:
    """Return where each run of letters and digits starts; None if folding would change the runs."""
    if text.isascii():
        in_word = _ASCII_IN_WORD[np.frombuffer(text.encode(), np.uint8)]
    else:
        if not all(map(_keeps_words, set(_NON_ASCII.findall(text)))):
            return None
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        in_word = _ASCII_IN_WORD[np.minimum(codes, 127)]  # 127 (delete) is never in a word
        others = np.flatnonzero(codes > 127)
        in_word[others] = [text[index].isalnum() for index in others.tolist()]
    is_start = in_word.copy()
    is_start[1:] &= ~in_word[:-1]
    starts: Rows = np.flatnonzero(is_start)
    return starts


def _starts_one_by_one(text: str, words: Sequence[str]) -> Rows | None:
    """Return where each word starts in a text with CJK characters, or with characters like `½`,
    which fold to several."""
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
    """Return whether folding a run of characters moves no word boundary in or beside it."""
    folded = fold(run)
    return not _ANY_CJK.search(folded) and _pattern(run) == _pattern(folded)


def _pattern(text: str) -> list[bool]:
    return [in_word for in_word, _ in groupby(text, str.isalnum)]

"""Search terms of a text: its words, folded and stemmed by its language, without stop words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.languages import (
    ENGLISH,
    FUNCTION_WORDS,
    language_detector,
    language_of_query,
)
from kbx_tui.knowledge.stemming import stem

LONGEST_WORD = 40
"""Length from which a word is left out: it is a key or a checksum."""

STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text("ascii").split())
"""English stems that are not searched for: the list of NLTK, as in LanceDB's analyzer."""

CJK_CHARACTER = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
"""A Chinese, Japanese or Korean character, as a regular expression."""

_CJK = re.compile(f"({CJK_CHARACTER})")
OF = ":"
"""Separates language and stem in a term; no word contains it."""

_WORD = re.compile(r"[^\W_]+")

language_of = language_detector(STOP_WORDS)
"""Return the language of a text, given as its folded words in order."""


def separate_cjk(text: str) -> str:
    """Return text with spaces around each Chinese, Japanese or Korean character.

    These scripts do not separate words, so each character is indexed as a word.
    """
    return text if text.isascii() else _CJK.sub(r" \1 ", text)


def words_in(text: str) -> list[str]:
    """Return the folded words of a text, in order; each CJK character is one (`separate_cjk`)."""
    return _WORD.findall(separate_cjk(fold(text)))


@lru_cache(maxsize=4096)  # a query looks its words up in every language of the base
def term_of(word: str, language: str = ENGLISH) -> str:
    """Return the term of a folded word in a language, empty for a word that is left out."""
    if len(word) >= LONGEST_WORD:
        return ""
    if language != ENGLISH:
        return (
            "" if word in FUNCTION_WORDS[language] else term_of_stem(stem(word, language), language)
        )
    term = stem(word)
    return "" if term in STOP_WORDS else term


def term_of_stem(word_stem: str, language: str) -> str:
    """Return the term of a stem: the stem itself in English, else `language:stem`.

    Otherwise the stem of a word would be that of another word in another language. Numbers and CJK
    characters are the same in all.
    """
    if language == ENGLISH or word_stem.isdigit() or _CJK.fullmatch(word_stem):
        return word_stem
    return f"{language}{OF}{word_stem}"


def stem_of_term(term: str) -> str:
    """Return the stem that a term stands for."""
    return term.rpartition(OF)[2]


def terms_in(text: str, language: str = ENGLISH) -> list[str]:
    """Return the terms of a text in a language, in order, with repetitions."""
    return [term for word in words_in(text) if (term := term_of(word, language))]


def words_without_topic(words: Sequence[str], main_language: str) -> frozenset[str]:
    """Return the folded words of a query to leave out in every language of a base with several.

    These are the function words of its main language, and those of the language that the query is
    in, if it holds two of these and fewer of any other: `die` is an article or a verb depending on
    its neighbours.
    """
    languages = {main_language, language_of_query(words, STOP_WORDS)} - {""}
    return frozenset(
        word for word in words for language in languages if not term_of(word, language)
    )

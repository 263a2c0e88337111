"""Stems of words, and English singulars and plurals."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from kbx_tui.knowledge.languages import ENGLISH


@lru_cache(maxsize=65536)
def stem(word: str, language: str = ENGLISH) -> str:
    """Return the Snowball stem of a folded word of one of `languages.LANGUAGES`."""
    return str(_stemmer(language).stem_word(word))


def beginning_of(word_stem: str, language: str = ENGLISH) -> str:
    """Return what the words with a stem begin with, to find them without stemming every word.

    It is the stem without what stemming may have replaced: a final `i` (`study` has the stem
    `studi`), `e` (`pricing`: `price`) or the `l` of a final `bl` (`visibility`: `visibl`). Words
    that the stemmer knows by heart (`dying`: `die`) may begin differently. In other languages it is
    the stem without its last letter.
    """
    if language != ENGLISH:
        return word_stem[:-1] or word_stem
    beginning = word_stem[:-1] if word_stem.endswith(("i", "e", "bl")) else word_stem
    return beginning or word_stem


_INVARIANT = ("series", "species", "news")
_SIBILANTS = ("s", "x", "z", "ch", "sh")


def singular(word: str) -> str:
    """Return the singular of an English word, or the word itself if it seems to be singular.

    Source: the S-stemmer of Harman 1991, "How effective is suffixing?", extended by the ending
    `-es` after a sibilant (`classes`, `boxes`).
    """
    lower = word.lower()
    if len(word) <= 3 or lower in _INVARIANT or not lower.endswith("s"):
        return word
    if lower.endswith("ies"):
        return f"{word[:-3]}y"
    if lower.endswith(tuple(f"{end}es" for end in ("ss", *_SIBILANTS[1:]))):
        return word[:-2]
    return word if lower.endswith(("ss", "us", "sis", "xis", "oes")) else word[:-1]


def plural(word: str) -> str:
    """Return the regular plural of an English word, or the word itself if it seems to be plural."""
    lower = word.lower()
    is_word = word.isascii() and word[-1:].isalpha() and len(word) > 2
    if not is_word or lower in _INVARIANT or singular(word) != word:
        return word
    if lower.endswith("y") and lower[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if lower.endswith(_SIBILANTS) else f"{word}s"


@cache
def _stemmer(language: str) -> Any:
    from py_rust_stemmers import SnowballStemmer

    return SnowballStemmer(language)

"""Stems of English words: what `migrate`, `migrated` and `migrating` have in common."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of a folded word."""
    return str(_stemmer().stem_word(word))


def singular(word: str) -> str:
    """Return a folded word without the ending of the plural, nearly always.

    Source: the S-stemmer of Harman 1991, "How effective is suffixing?".
    """
    if len(word) <= 3:
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return f"{word[:-3]}y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith(("us", "ss", "es")) else word


def plural(word: str) -> str:
    """Return an English word in the plural, itself where it seems to be one; irregular ones not."""
    if singular(word.lower()) != word.lower() or not word[-1:].isalpha():
        return word
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from py_rust_stemmers import SnowballStemmer

    return SnowballStemmer("english")

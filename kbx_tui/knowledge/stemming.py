"""Stems of English words: what `migrate`, `migrated` and `migrating` have in common."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of a folded word."""
    return str(_stemmer().stem_word(word))


_BOTH = ("series", "species", "news")
"""Words that are one in singular and plural."""
_HISSING = ("s", "x", "z", "ch", "sh")


def singular(word: str) -> str:
    """Return an English word in the singular, itself where it seems to be one.

    Source: the S-stemmer of Harman 1991, "How effective is suffixing?", and `classes`, `boxes`.
    """
    lower = word.lower()
    if len(word) <= 3 or lower in _BOTH or not lower.endswith("s"):
        return word
    if lower.endswith("ies"):
        return f"{word[:-3]}y"
    if lower.endswith(tuple(f"{end}es" for end in ("ss", *_HISSING[1:]))):
        return word[:-2]
    return word if lower.endswith(("ss", "us", "sis", "xis", "oes")) else word[:-1]


def plural(word: str) -> str:
    """Return an English word in the plural, itself where it seems to be one; irregular ones not."""
    lower = word.lower()
    is_word = word.isascii() and word[-1:].isalpha() and len(word) > 2
    if not is_word or lower in _BOTH or singular(word) != word:
        return word
    if lower.endswith("y") and lower[-2] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if lower.endswith(_HISSING) else f"{word}s"


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from py_rust_stemmers import SnowballStemmer

    return SnowballStemmer("english")

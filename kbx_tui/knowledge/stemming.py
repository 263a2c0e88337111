"""Stems of English words: what `migrate`, `migrated` and `migrating` have in common."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the stem of a folded word."""
    return str(_stemmer().stem_word(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from py_rust_stemmers import SnowballStemmer

    return SnowballStemmer("english")

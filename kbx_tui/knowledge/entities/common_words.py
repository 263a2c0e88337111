"""Ordinary words that are also used as names of teams, projects or people."""

from functools import cache
from pathlib import Path

_SHORT_NAME = 3

HONORIFICS = frozenset(
    {
        "dame", "dr", "fr", "hon", "miss", "mr", "mrs", "ms", "mx", "prof", "professor",
        "rev", "rt", "sir", "sr", "the",
    }
)  # fmt: skip

PARTICLES = frozenset(
    {
        "da", "dal", "de", "del", "della", "der", "des", "di", "do", "dos", "du", "la", "las",
        "le", "los", "ter", "van", "von",
    }
)  # fmt: skip
"""Words that begin surnames (`van Dam`) and are none alone, although pages may cut one there."""


def is_ambiguous(key: str) -> bool:
    """Return whether a name, given as its `name_key`, is short or also an ordinary word."""
    return len(key) <= _SHORT_NAME or is_common_word(key)


def is_common_word(word: str) -> bool:
    """Return whether a folded word is listed in ``common_words.txt``.

    These are words of at least four letters that are frequent in at least four of six collections
    on different subjects, and words that teams are often named after. Chosen by the experiment
    "common words" in docs/quality.md.
    """
    return word in _common_words()


@cache
def _common_words() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("common_words.txt").read_text("utf-8").split())

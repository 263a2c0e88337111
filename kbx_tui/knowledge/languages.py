"""Languages of documents: which one a text is in, and its function words.

Those with a Snowball stemmer are recognised. English is the language of texts that show no other.
Chinese, Japanese and Korean need no stemmer: their characters are words of their own in any text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from kbx_tui.knowledge.folding import fold

ENGLISH = "english"

WORDS_READ = 400
"""Words at the start of a text by which its language is recognised."""

ENGLISH_SHARE = 0.25
"""Share of English function words from which a text is English without a further look: prose has 30
to 50 %, prose of other languages that share some of these words below 15 %."""

LEAST_WORDS, LEAST_SHARE = 3, 0.12
"""Different function words of another language that a text holds at least, without those that are
English or parts of names, and the share of its words that all of them make up."""

NAME_PARTICLES = frozenset(
    [
        "al",
        "bin",
        "da",
        "de",
        "del",
        "den",
        "der",
        "di",
        "dos",
        "du",
        "el",
        "la",
        "le",
        "van",
        "von",
    ]
)
"""Function words that surnames begin with: `van der Berg` does not make a text Dutch."""

AGAINST_ENGLISH = 1.5
"""How many function words of another language must stand against one of English: lists, code and
tables hold few of either."""

_SCRIPTS = {
    "russian": re.compile("[\u0400-\u04ff]"),
    "greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "tamil": re.compile("[\u0b80-\u0bff]"),
}
"""A letter of each script that stands for one language here. Other languages written in Cyrillic or
Arabic letters have no stemmer, and share more endings with these than with English."""


def _function_words() -> dict[str, frozenset[str]]:
    _, *lists = Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n\n")
    return {language: frozenset(map(fold, words)) for language, *words in map(str.split, lists)}


FUNCTION_WORDS = _function_words()
"""Folded function words of each language but English."""


def _languages_by_word() -> dict[str, list[str]]:
    by_word: dict[str, list[str]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in words:
            by_word.setdefault(word, []).append(language)
    return by_word


_LANGUAGES_OF = _languages_by_word()
"""Languages of each function word, without English."""

LANGUAGES = (ENGLISH, *FUNCTION_WORDS)
"""All languages that are recognised. A stored index refers to them by number: append only."""


def language_detector(english_words: frozenset[str]) -> Callable[[Sequence[str]], str]:
    """Return a function from the folded words of a text, in order, to its language.

    `english_words` are folded function words of English. Single letters do not count as English:
    they are words of many languages.
    """
    english_words = frozenset(word for word in english_words if len(word) > 1)
    letters = {word for word in _LANGUAGES_OF if len(word) == 1}  # initials
    common = english_words | NAME_PARTICLES | letters

    def detect(words: Sequence[str]) -> str:
        sample = words[:WORDS_READ]
        english = sum(map(english_words.__contains__, sample))
        if english >= ENGLISH_SHARE * len(sample):
            return ENGLISH
        if (language := _by_script(sample)) != ENGLISH:
            return language
        held = [word for word in sample if word in _LANGUAGES_OF]
        counts = Counter(language for word in held for language in _LANGUAGES_OF[word])
        if not counts:
            return ENGLISH
        (language, count), *_ = counts.most_common(1)
        different = {word for word in held if language in _LANGUAGES_OF[word]} - common
        is_sure = len(different) >= LEAST_WORDS and count >= LEAST_SHARE * len(sample)
        return language if is_sure and count > AGAINST_ENGLISH * english else ENGLISH

    return detect


def language_of_query(words: Sequence[str], english_words: frozenset[str]) -> str:
    """Return the language of most function words of a query, empty unless it holds two of them."""
    counts = Counter(language for word in words for language in _LANGUAGES_OF.get(word, ()))
    counts[ENGLISH] = sum(map(english_words.__contains__, words))
    best = counts.most_common(2)
    if not best or best[0][1] < 2 or (len(best) > 1 and best[0][1] == best[1][1]):
        return ""
    return best[0][0]


def _by_script(words: Sequence[str]) -> str:
    """Return the language that most words are written in the letters of, else English."""
    if all(map(str.isascii, words)):
        return ENGLISH
    for language, letter in _SCRIPTS.items():
        if 2 * sum(letter.match(word) is not None for word in words) > len(words):
            return language
    return ENGLISH

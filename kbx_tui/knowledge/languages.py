"""Languages of documents: which one a text is in, its function words, and stems of words.

Those with a Snowball stemmer are recognised. English is the language of texts that show no other.
Chinese, Japanese and Korean need no stemmer: their characters are words of their own in any text.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from kbx_tui.knowledge.folding import fold

ENGLISH = "english"

WORDS_READ = 400

ENGLISH_SHARE = 0.25
"""Share of English function words from which a text is English without a further look: prose has 30
to 50 %, prose of other languages that share some of these words below 15 %."""

LEAST_WORDS, LEAST_SHARE = 3, 0.12
"""How many distinct function words of another language a text must hold, apart from those that are
also English or parts of names, and the share of its words that they must make up."""

NAME_PARTICLES = frozenset(
    {
        "al", "bin", "da", "de", "del", "den", "der", "di", "dos", "du", "el", "la", "le", "van",
        "von",
    }
)  # fmt: skip
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


_, *_lists = Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n\n")
FUNCTION_WORDS = {
    language: frozenset(map(fold, words)) for language, *words in map(str.split, _lists)
}

_LANGUAGES_OF = defaultdict[str, list[str]](list)
"""Languages of each function word, without English."""
for _language, _words in FUNCTION_WORDS.items():
    for _word in _words:
        _LANGUAGES_OF[_word].append(_language)

LANGUAGES = (ENGLISH, *FUNCTION_WORDS)
"""All languages that are recognised. A stored index refers to them by number: append only."""


def language_detector(english_words: frozenset[str]) -> Callable[[Sequence[str]], str]:
    """Return a function from the folded words of a text, in order, to its language.

    Single letters do not count as English: they are words of many languages.
    """
    english_words = frozenset(word for word in english_words if len(word) > 1)
    letters = {word for word in _LANGUAGES_OF if len(word) == 1}  # one letter may be an initial
    common = english_words | NAME_PARTICLES | letters

    def detect(words: Sequence[str]) -> str:
        sample = words[:WORDS_READ]
        english = sum(map(english_words.__contains__, sample))
        if english >= ENGLISH_SHARE * len(sample):
            return ENGLISH
        if (language := language_by_script(sample)) != ENGLISH:
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
    counts = Counter(language for word in words for language in _LANGUAGES_OF.get(word, ()))
    counts[ENGLISH] = sum(map(english_words.__contains__, words))
    best = counts.most_common(2)
    if not best or best[0][1] < 2 or (len(best) > 1 and best[0][1] == best[1][1]):
        return ""
    return best[0][0]


def language_by_script(words: Sequence[str]) -> str:
    """Return the language whose letters most words have, English for those of several languages."""
    if all(map(str.isascii, words)):
        return ENGLISH
    for language, letter in _SCRIPTS.items():
        if 2 * sum(letter.match(word) is not None for word in words) > len(words):
            return language
    return ENGLISH


def make_stem(word: str, language: str = ENGLISH) -> str:
    return str(_stemmer(language).stem_word(word))


stem = lru_cache(maxsize=4096)(make_stem)
"""As `make_stem`, for words that are likely to come again."""


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

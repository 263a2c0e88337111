"""Words made comparable: folding, tokens, slugs, and stems in the language of a text.

Languages with a Snowball stemmer are recognised, with their function words. English is the language
of texts that show no other. Chinese, Japanese and Korean need no stemmer: their characters are
words of their own in any text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import groupby, islice, product
from pathlib import Path
from typing import Any, Literal

# Unicode does not decompose ligatures and letters with a stroke, but users type plain letters.
_PLAIN_LETTERS = str.maketrans(
    {
        "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D",
        "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T", "þ": "th", "Þ": "Th", "ı": "i",
        "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ß": "ss", "ẞ": "Ss",
        "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-", "–": "-", "\u00ad": None,
    }
)  # fmt: skip
WORD = re.compile(r"\w+")
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_ACCENTS = re.compile(
    "(?:(?<![\u0418\u0438])\u0306"
    "|[\u0300-\u0305\u0307-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f])+"
)
"""Combining marks, except the breve of the Cyrillic short i: a letter that is common in endings."""
_MANY_MARKS = re.compile(r"[^\w\s\x00-\x7f]{31,}")
"""May be marks on one letter; Unicode's stream-safe format allows 30."""
_NO_SPACES = (
    "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)


def normalized(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Return `unicodedata.normalize` of a text, with at most 30 marks on each letter.

    Sorting them takes time that is quadratic in their number.
    """
    if text.isascii():
        return text
    return unicodedata.normalize(form, _MANY_MARKS.sub(_with_fewer_marks, text))


def _with_fewer_marks(match: re.Match[str]) -> str:
    by_letter = groupby(match[0], lambda character: unicodedata.combining(character) > 0)
    return "".join(
        "".join(islice(group, 30) if are_marks else group) for are_marks, group in by_letter
    )


def strip_accents(text: str) -> str:
    """Remove the marks of European scripts only: in Hindi, a mark makes another word."""
    if text.isascii():
        return text
    return _NON_ASCII.sub(lambda match: _strip_run(match[0]), text)


def fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return strip_accents(text).casefold()


_CARONS = str.maketrans("ŠšŽžŻżČčĆć", "ШшЖжЖжЧчЧч")
_LETTERS = zip("абвгґдезийіјыклмнопрстуўфћэє", "abvggdeziiiiiklmnoprstuufчee", strict=True)
_LATIN = str.maketrans(
    {**dict(_LETTERS), "х": "kh", "щ": "шч", "ъ": "", "ь": "", "ю": "iu", "я": "ia"}
)
_SPELLINGS = tuple(
    (re.compile(spelling), letters)
    for spelling, letters in (
        ("tsch|tch|cz", "ч"), ("sch|sh|sz", "ш"), ("ch", "ч"), ("kh", "h"), ("zh", "ж"), ("w", "v"),
        ("x", "ks"), ("ph", "f"), ("th", "t"), ("ct", "kt"), ("ts|c", "ц"), ("[jy]", "i"),
        ("i[eo]", "e"), ("(?<=[dt])er$", "r"), ("(?<=[шч])ov(?=a?$)", "ev"), (r"(.)\1+", r"\1"),
    )
)  # fmt: skip
"""What schemes of transliteration write differently: `Dmitrij`, `Dmitriy`; `Zhukov`, `Žukov`."""


def romanized(word: str) -> str:
    """Return a key of a word, with its accents, that is the same for most spellings of a Cyrillic
    name. Sibilants stay Cyrillic, as they tell names apart: Шитов is `Shitov` or `Šitov`, and
    `Sitov` is another.
    """
    word = fold(word.translate(_CARONS)).replace("ьо", "йо").translate(_LATIN)
    for spelling, letters in _SPELLINGS:
        word = spelling.sub(letters, word)
    return word


_UKRAINIAN = re.compile("[ґєії]")
_OF_GERMAN, _OF_FRENCH = re.compile("w|sch|[iy]j$"), re.compile("ou|tch|ine$")
_GERMAN = {"tsch": "ч", "sch": "ш", "ch": "h", "z": "ц", "cz": "ч", "sz": "ш"}
_MAY_BE_VOICED = re.compile("((?<![^aeiou])s(?=[aeiou])|ш)")
_VOICED = {"s": "z", "ш": "ж"}
"""In German, `s` before a vowel and `sch` may be either of two letters: `Sacharow` is Сахаров or
Захаров, `Schukow` Шуков or Жуков."""
_MOST_VOICED = 3
_FRENCH = {"tch": "ч", "ch": "ш", "ou": "u", "j": "ж", "ine": "in"}


def romanizations(word: str) -> frozenset[str]:
    """Return the keys of a word: that of `romanized`, and one for each other way to read it.

    A word may be Ukrainian, or Cyrillic as Germans or the French spell it, where its letters look
    so: `Serhiy`, `Zwetajewa`, `Joukov`.
    """
    folded = fold(word)
    readings = [word]
    if _UKRAINIAN.search(folded):
        readings.append(folded.replace("г", "h"))
    if _OF_GERMAN.search(folded):
        german = re.sub("tsch|sch|ch|[cs]?z", lambda found: _GERMAN[found[0]], folded)
        first, *rest = _MAY_BE_VOICED.split(german, _MOST_VOICED)
        pairs = zip(rest[::2], rest[1::2], strict=True)
        either = ((letter + part, _VOICED[letter] + part) for letter, part in pairs)
        readings += map("".join, product((first,), *either))
    if _OF_FRENCH.search(folded):
        readings.append(re.sub("tch|ch|ou|j|ine$", lambda found: _FRENCH[found[0]], folded))
    return frozenset(map(romanized, readings))


def folded_words(text: str) -> tuple[str, ...]:
    return tuple(map(fold, WORD.findall(text)))


def tokens(text: str) -> list[str]:
    """Return the folded words of ``text``; in scripts without spaces, each character is a word."""
    return _token_pattern().findall(fold(text))


@cache
def _token_pattern() -> re.Pattern[str]:
    return re.compile(rf"[{_NO_SPACES}]|[^\W_{_NO_SPACES}]+")


def name_key(name: str) -> str:
    return " ".join(tokens(name))


def slug(name: str) -> str:
    """Return the slug of a name.

    As in kbx, characters without an ASCII form are dropped, unless nothing else would be left.
    """
    ascii_name = normalized("NFKD", strip_accents(name)).encode("ascii", "ignore")
    return _hyphenate(ascii_name.decode().lower()) or _hyphenate(fold(name))


def is_word_edge(text: str, start: int, end: int) -> bool:
    """Return whether a span begins and ends at word boundaries.

    An underscore is a boundary; in scripts without spaces, every position is one.
    """
    return (start == 0 or not _joined(text[start - 1], text[start])) and (
        end == len(text) or not _joined(text[end - 1], text[end])
    )


def _joined(left: str, right: str) -> bool:
    if not (left.isalnum() and right.isalnum()):
        return False
    return max(left, right) < "\u0e00" or not _SPACELESS.search(left + right)


_SPACELESS = re.compile(f"[{_NO_SPACES}]")


def _hyphenate(name: str) -> str:
    words = re.sub(r"[^\w\s-]", "", name)
    return re.sub(r"[-\s]+", "-", words).strip("-")


@lru_cache(maxsize=65536)
def _strip_run(run: str) -> str:
    decomposed = normalized("NFKD", run.translate(_PLAIN_LETTERS))
    plain = _ACCENTS.sub("", decomposed)
    return normalized("NFKC", plain).translate(_PLAIN_LETTERS)


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


_, *_lists = Path(__file__).with_name("languages.txt").read_text("utf-8").split("\n\n")
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

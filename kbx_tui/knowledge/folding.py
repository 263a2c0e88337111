"""Text normalization for comparing names and words: folding, tokens, slugs, word boundaries."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import groupby, islice
from typing import Literal

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


_SIBILANTS = str.maketrans("ŠšŽžČčĆć", "ШшЖжЧчЧч")
_LETTERS = zip("абвгґдезийіјыклмнопрстуўфћэє", "abvggdeziiiiiklmnoprstuufчee", strict=True)
_LATIN = str.maketrans(
    {**dict(_LETTERS), "х": "kh", "щ": "шч", "ъ": "", "ь": "", "ю": "iu", "я": "ia"}
)
_SPELLINGS = tuple(
    (re.compile(spelling), letters)
    for spelling, letters in (
        ("tsch|tch", "ч"), ("sch|sh|sz", "ш"), ("ch", "ч"), ("kh", "h"), ("zh", "ж"), ("w", "v"),
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
    word = fold(word.translate(_SIBILANTS)).translate(_LATIN)
    for spelling, letters in _SPELLINGS:
        word = spelling.sub(letters, word)
    return word


_UKRAINIAN = re.compile("[ґєії]")
_OF_GERMAN, _OF_FRENCH = re.compile("w|sch"), re.compile("ou|tch|ine$")
_VOICED = re.compile("(?<![^aeiou])s(?=[aeiou])")
"""In German, `s` before a vowel may be either of two letters: `Sacharow` is Сахаров or Захаров."""
_GERMAN = {"tsch": "ч", "sch": "ш", "ch": "h", "z": "ц"}
_FRENCH = {"tch": "ч", "ch": "ш", "ou": "u", "j": "ж", "ine": "in"}


def romanizations(word: str) -> frozenset[str]:
    """Return the keys of a word: that of `romanized`, and those of how Ukrainian is written and of
    German and French spellings, where letters tell of one: `Serhiy`, `Zwetajewa`, `Joukov`.
    """
    folded = fold(word)
    readings = [word]
    if _UKRAINIAN.search(folded):
        readings.append(folded.replace("г", "h"))
    if _OF_GERMAN.search(folded):
        german = re.sub("tsch|sch|ch|z", lambda found: _GERMAN[found[0]], folded)
        readings += [german, _VOICED.sub("z", german)]
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

"""Finds the words of a text that have the same stem as a wanted word. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from string import punctuation, whitespace

from kbx_tui.index.lexical.terms import CJK_CHARACTER
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.languages import ENGLISH
from kbx_tui.knowledge.stemming import beginning_of, stem

Match = tuple[int, int, str]
"""Start and end of a word, and its stem."""

_SIGN, _SIGNS = re.compile(CJK_CHARACTER), re.compile(f"{CJK_CHARACTER}+")
_WORD_WITHOUT_SIGNS = re.compile(rf"(?:(?!{CJK_CHARACTER})\w)*")
_WORD, _ASCII_WORD = re.compile(r"\w*"), re.compile(r"\w*", re.ASCII)
_BEFORE_WORDS = frozenset(whitespace + punctuation) - {"_"}
"""What most words follow. Other characters are looked at more closely."""
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff\u0370-\u03ff\u0451]")
"""Letters that folding writes without accent, and the Greek final sigma."""
_ASCII = bytes(range(0x80))
_FEW_CAPITALS = 8
"""Above this number of different non-ASCII capitals, `str.lower` is faster than replacing each."""


def find_words(
    text: str,
    lowered: str,
    stems: Iterable[str],
    spans: Sequence[tuple[int, int]] | None = None,
    *,
    language: str = ENGLISH,
) -> list[Match]:
    """Return every word of `text` with one of these stems in a language, by stem, then in order.

    `lowered` is the text by `lower_in_place` with the letters of the stems. With `spans`, words are
    found that begin within one of these. Searching for what such words begin with is much faster
    than stemming every word. A stem of CJK characters is found as it is, within any text.
    """
    spans = [(0, len(text))] if spans is None else spans
    word_at = (_ASCII_WORD if text.isascii() else _WORD).match
    find, matches = lowered.find, []
    for wanted_stem in stems:
        is_sign = _SIGNS.fullmatch(wanted_stem) is not None
        beginning = wanted_stem if is_sign else beginning_of(wanted_stem, language)
        for begin, stop in spans:
            start = find(beginning, begin, stop)
            while start >= 0:
                end = start + 1
                if is_sign:
                    end = start + len(wanted_stem)
                    matches.append((start, end, wanted_stem))
                elif not start or lowered[start - 1] in _BEFORE_WORDS or _begins(lowered, start):
                    end = word_at(lowered, start).end()  # type: ignore[union-attr]
                    word = text[start:end]
                    if not word.isascii():  # others hold no sign, and looking for one is slow
                        end = _WORD_WITHOUT_SIGNS.match(lowered, start).end()  # type: ignore[union-attr]
                        word = text[start:end]
                    if _stem_of(word, language) == wanted_stem:
                        matches.append((start, end, wanted_stem))
                start = find(beginning, end, stop)
    return matches


@lru_cache(maxsize=4096)
def _stem_of(word: str, language: str) -> str:
    return stem(fold(word), language)


def _begins(text: str, start: int) -> bool:
    before = text[start - 1]
    return not (before.isalnum() or before == "_") or _SIGN.match(before) is not None


def lower_in_place(text: str, letters: Collection[str]) -> str:
    """Return `text` in lower case and of the same length.

    ASCII is converted as bytes, which is faster, and then other capitals, of which most texts have
    few. An accent is removed only if the letter without it is one of `letters`, as each accented
    letter takes a pass.
    """
    if text.isascii():
        return text.lower()
    encoded = text.encode("utf-8", "surrogatepass")
    others = set(encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    lower = {letter: letter.lower()[:1] for letter in others}
    capitals = [letter for letter in others if lower[letter] != letter]
    if len(capitals) <= _FEW_CAPITALS:
        lowered = encoded.lower().decode("utf-8", "surrogatepass")
        for letter in capitals:
            lowered = lowered.replace(letter, lower[letter])
    else:
        # Two exceptions: \u0130 becomes two letters in lower case, \u03a3 depends on its position.
        lowered = text.replace("\u0130", "I").replace("\u03a3", "\u03c3").lower()
    for letter in filter(_ACCENTED.match, {*lower.values()}):
        if (folded := fold(letter)) in letters:
            lowered = lowered.replace(letter, folded)
    return lowered

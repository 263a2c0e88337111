"""Finds the words of a text that have the same stem as a wanted word. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from string import punctuation, whitespace

from kbx_tui.index.lexical.terms import CJK_CHARACTER
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.languages import ENGLISH
from kbx_tui.knowledge.stemming import beginning_of, stem

Match = tuple[int, int, str]
"""Start and end of a word, and its stem."""
OffsetsOf = Callable[[str], Sequence[int] | None]
"""Returns where the words with a stem start in a text, ascending, those past its end included. None
if unknown."""

_SIGN, _SIGNS = re.compile(CJK_CHARACTER), re.compile(f"{CJK_CHARACTER}+")
_WORD_WITHOUT_SIGNS = re.compile(rf"(?:(?!{CJK_CHARACTER})\w)*")
_WORD, _ASCII_WORD = re.compile(r"\w*"), re.compile(r"\w*", re.ASCII)
_BEFORE_WORDS = frozenset(whitespace + punctuation) - {"_"}
"""What most words follow. Other characters are looked at more closely."""
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff\u0370-\u03ff\u0451]")
"""Letters that folding writes without accent, and the Greek final sigma."""
_ASCII = bytes(range(0x80))
FORMS_KEPT = 256
"""Words with one stem whose forms are known at a time."""

_FEW_CAPITALS = 8
"""Above this number of different non-ASCII capitals, `str.lower` is faster than replacing each."""


class TextWords:
    """The words of one text by stem, from their offsets where these are known."""

    def __init__(
        self, text: str, letters: Iterable[str], language: str, offsets_of: OffsetsOf | None = None
    ) -> None:
        """`letters` are those of all stems that are looked for."""
        self._text, self._letters, self._language = text, letters, language
        self._offsets_of = offsets_of

    @cached_property
    def _lowered(self) -> str:
        return lower_in_place(self._text, frozenset(self._letters))

    def find(
        self, stems: Iterable[str], spans: Sequence[tuple[int, int]] | None = None
    ) -> list[Match]:
        """Return every word with one of these stems; with `spans`, of those that begin in one.

        Spans ascend and do not overlap.
        """
        matches: list[Match] = []
        for each in stems:
            offsets = None if self._offsets_of is None else self._offsets_of(each)
            if offsets is None:
                lowered = self._lowered
                matches += find_words(self._text, lowered, [each], spans, language=self._language)
            elif offsets:
                matches += words_at(self._text, _within(offsets, spans), each, self._language)
        return matches


def _within(offsets: Sequence[int], spans: Sequence[tuple[int, int]] | None) -> Sequence[int]:
    """Return the offsets in one of some ascending spans; None stands for all of the text."""
    if spans is None:
        return offsets
    within: list[int] = []
    place = 0
    for start, end in spans:
        place = bisect_left(offsets, start, place)
        if place == len(offsets):
            break
        following = bisect_left(offsets, end, place)
        within += offsets[place:following]
        place = following
    return within


def words_at(text: str, offsets: Sequence[int], word_stem: str, language: str) -> list[Match]:
    """Return the words that start at ascending offsets, if `find_words` finds them too."""
    word_at = (_ASCII_WORD if text.isascii() else _WORD).match
    inside, is_found = offsets[: bisect_left(offsets, len(text))], _forms(word_stem, language)
    matches = []
    for start in inside:
        word = word_at(text, start)[0]  # type: ignore[index]
        if not word.isascii():  # a sign may follow directly
            word = _WORD_WITHOUT_SIGNS.match(text, start)[0]  # type: ignore[index]
        if is_found[word] and (not start or text[start - 1] != "_"):
            matches.append((start, start + len(word), word_stem))
    return matches


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


class _Forms(dict[str, bool]):
    """Whether `find_words` finds words, as written, by one stem."""

    def __init__(self, word_stem: str, language: str) -> None:
        self._stem, self._language = word_stem, language
        self._beginning = beginning_of(word_stem, language)

    def __missing__(self, word: str) -> bool:
        if len(self) >= FORMS_KEPT:
            self.clear()
        begins_alike = fold(word).startswith(self._beginning)
        self[word] = found = begins_alike and _stem_of(word, self._language) == self._stem
        return found


_forms = lru_cache(maxsize=256)(_Forms)


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

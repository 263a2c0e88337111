"""The passage of a document that fits the query best. Pure: text in, snippet out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

from kbx_tui.index.lexical.terms import CJK_CHARACTER
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.stemming import stem
from kbx_tui.search.query.english_words import FUNCTION_WORDS
from kbx_tui.search.query.query_terms import query_terms
from kbx_tui.search.results.response import Snippet

SNIPPET_LENGTH = 200
READ_AT_MOST = 60_000
"""Characters of a document that are searched, to bound the time of a snippet."""

_SIGN, _WORD_END = re.compile(CJK_CHARACTER), re.compile(rf"(?:(?!{CJK_CHARACTER})\w)*")
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff\u03c2]")
"""Letters that folding writes without accent, and the Greek final sigma."""
_ASCII = bytes(range(0x80))
_FEW_CAPITALS = 8
"""Above this number of different non-ASCII capitals, `str.lower` is faster than replacing each."""
_MARKUP = re.compile(
    r"^\s*\#{1,6}\s | ^\s*>\s | ^\s*\|?[-:|\ ]{3,}$ | ^\s*\| | \|\s*$ | \*\* | \[\[ | \]\]",
    re.MULTILINE | re.VERBOSE,
)
"""Markup that a snippet leaves out."""
_RUN = re.compile(r"\S+(?:[ ]\S+)*|\s+")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t]*#*$", re.MULTILINE)

Match = tuple[int, int, str]
"""Start and end of a word, and its stem."""


def make_snippet(
    body: str, body_line: int, query: str, *, fallback_line: Callable[[], int] = lambda: 0
) -> Snippet:
    """Return the best passage of `body` for `query`.

    `body_line` is the line of the file where the body starts. If no word matches, the snippet is
    the text at the line of the file that `fallback_line` returns or, if that is 0, the first text
    below the headings.
    """
    text = body[:READ_AT_MOST]
    wanted = topic_stems(query)
    matches = _matches(text, wanted)
    below = _outside_headings(text, matches) or matches  # the title is shown beside the snippet
    start = _densest(below) if below else _line_offset(text, fallback_line() - body_line)
    counts = Counter(word_stem for _, _, word_stem in matches)
    shown, spans, end = _cut(text, start, matches)
    return Snippet(
        text=shown,
        matches=tuple(spans),
        heading=_heading_above(text, start),
        line_start=body_line + text.count("\n", 0, start),
        line_end=body_line + text.count("\n", 0, end),
        terms=tuple(
            (word, counts[word_stem]) for word_stem, word in wanted.items() if counts[word_stem]
        ),
    )


def topic_stems(query: str) -> dict[str, str]:
    """Return the stems of the query's topic words, with the words as typed."""
    return {
        stem(fold(word)): word for word in query_terms(query) if fold(word) not in FUNCTION_WORDS
    }


def match_spans(text: str, query: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of all words of `text` that a snippet would mark for `query`, in order."""
    return tuple((start, end) for start, end, _ in _matches(text, topic_stems(query)))


def _matches(text: str, wanted: Collection[str]) -> list[Match]:
    """Return every word of `text` whose stem is wanted, in order.

    A word begins with its stem, except that a final `y` may have become `i`. Searching for the
    beginnings is much faster than stemming every word. Signs are words of their own, as in the
    index.
    """
    lowered, matches = lower_in_place(text, frozenset("".join(wanted))), []
    for wanted_stem in wanted:
        if _SIGN.fullmatch(wanted_stem):
            signs = re.finditer(wanted_stem, lowered)
            matches += [(sign.start(), sign.end(), wanted_stem) for sign in signs]
            continue
        beginning = wanted_stem.removesuffix("i") or wanted_stem
        start = lowered.find(beginning)
        while start >= 0:
            end = start + 1
            if _begins_word(lowered, start):
                end = _WORD_END.match(lowered, start).end()  # type: ignore[union-attr]
                if _stem_of(text[start:end]) == wanted_stem:
                    matches.append((start, end, wanted_stem))
            start = lowered.find(beginning, end)
    return sorted(matches)


@lru_cache(maxsize=4096)
def _stem_of(word: str) -> str:
    return stem(fold(word))


def _begins_word(text: str, start: int) -> bool:
    before = text[start - 1 : start]
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


def _outside_headings(text: str, matches: list[Match]) -> list[Match]:
    outside, line_end, in_heading = [], -1, False
    for match in matches:
        if match[0] > line_end:
            line = text.rfind("\n", 0, match[0]) + 1
            line_end = text.find("\n", match[0]) % (len(text) + 1)
            in_heading = text.startswith("#", line) and _HEADING.match(text, line) is not None
        if not in_heading:
            outside.append(match)
    return outside


def _densest(matches: list[Match]) -> int:
    """Return the offset of the first passage that holds the most distinct words."""
    best, best_start, left = 0, matches[0][0], 0
    inside: dict[str, int] = {}  # index of the last match of each word in the passage
    for index, (_, end, word_stem) in enumerate(matches):
        inside[word_stem] = index
        while end - matches[left][0] > SNIPPET_LENGTH:
            if inside[matches[left][2]] == left:
                del inside[matches[left][2]]
            left += 1
        if len(inside) > best:
            best, best_start = len(inside), matches[left][0]
    return best_start


def _cut(text: str, start: int, matches: list[Match]) -> tuple[str, list[tuple[int, int]], int]:
    """Return one line of at most 200 characters around `start`, its matches, and where it ends."""
    begin = _sentence_start(text, start)
    raw = text[begin : begin + 2 * SNIPPET_LENGTH]
    shown, place = "", []  # place[i]: where character i of `raw` is in `shown`
    for start, stop, is_markup in _runs(raw):
        if len(shown) >= SNIPPET_LENGTH:
            break
        if raw[start].isspace():
            place.append(len(shown))
            shown += " " if shown and shown[-1] != " " else ""
            if len(shown) < SNIPPET_LENGTH:
                place += [len(shown)] * (stop - start - 1)
        elif is_markup:
            place += [len(shown)] * (stop - start)
        else:
            piece = raw[start : min(stop, start + SNIPPET_LENGTH - len(shown))]
            place += range(len(shown), len(shown) + len(piece))
            shown += piece
    end = begin + len(place)
    if end < len(text) and not text[end].isspace():  # end with a complete word
        shown = shown[: shown.rfind(" ") + 1 or None]
    shown = shown.rstrip()
    spans = [
        (place[a - begin], place[b - 1 - begin] + 1)
        for a, b, _ in matches[bisect_left(matches, (begin,)) : bisect_left(matches, (end,))]
        if b <= end and place[b - 1 - begin] < len(shown)
    ]
    return shown, spans, max(begin, end - 1)


def _runs(raw: str) -> Iterator[tuple[int, int, bool]]:
    """Yield consecutive spans of blanks and of text, and whether each is markup."""
    end = 0
    for start, stop in [*(mark.span() for mark in _MARKUP.finditer(raw)), (len(raw), len(raw))]:
        for run in _RUN.finditer(raw, end, start):
            yield *run.span(), False
        for run in _RUN.finditer(raw, start, stop):
            yield *run.span(), True
        end = stop


def _sentence_start(text: str, start: int) -> int:
    """Return the start of the line or sentence around `start` if near, else of a word nearby."""
    near = max(0, start - SNIPPET_LENGTH // 2)
    line = text.rfind("\n", near, start) + 1
    sentence = max(text.rfind(mark, near, start) for mark in (". ", "? ", "! "))
    begin = max(line, sentence + 2 if sentence >= 0 else 0)
    if begin or near == 0:
        return begin
    return text.find(" ", near, start) + 1 or near


def _line_offset(text: str, line: int) -> int:
    """Return the offset of a 0-based line, or of the first text that is not a heading."""
    starts = [0, *(newline.end() for newline in re.finditer("\n", text))]
    if 0 < line < len(starts):
        return starts[line]
    for start in starts:
        rest = text[start : start + SNIPPET_LENGTH].split("\n", 1)[0].strip()
        if rest and not rest.startswith("#"):
            return start
    return 0


def _heading_above(text: str, start: int) -> str:
    line = text.rfind("\n#", 0, start + 1) + 1
    while (heading := _HEADING.match(text, line)) is None and line:
        line = text.rfind("\n#", 0, line - 1) + 1
    return heading.group(1) if heading else ""

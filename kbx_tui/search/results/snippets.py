"""The place in a document that fits the query best. Pure: text in, snippet out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

from kbx_tui.index.rows import SIGNS
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.query.english_words import FUNCTION_WORDS, stem
from kbx_tui.search.query.query_terms import query_terms
from kbx_tui.search.results.response import Snippet

SNIPPET_LENGTH = 200
READ_AT_MOST = 60_000
"""Characters of a document that are looked through: a snippet is wanted in milliseconds."""

_SIGN, _WORD_END = re.compile(SIGNS), re.compile(rf"(?:(?!{SIGNS})\w)*")
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff\u03c2]")
"""Letters that are written without their accents, and the Greek s that ends a word."""
_ASCII = bytes(range(0x80))
_FEW_CAPITALS = 8
"""So many capitals beyond ASCII are replaced one by one; with more, `str.lower` is as quick."""
_MARKUP = re.compile(
    r"^\s*\#{1,6}\s | ^\s*>\s | ^\s*\|?[-:|\ ]{3,}$ | ^\s*\| | \|\s*$ | \*\* | \[\[ | \]\]",
    re.MULTILINE | re.VERBOSE,
)
"""What only says how text looks: a snippet is shown without it."""
_RUN = re.compile(r"\S+(?:[ ]\S+)*|\s+")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t]*#*$", re.MULTILINE)


def make_snippet(
    body: str, body_line: int, query: str, *, fallback_line: Callable[[], int] = lambda: 0
) -> Snippet:
    """Return the best place of `body` for `query`.

    `body_line` is the line of the file where the body starts. Where no word matches, the snippet
    is the text at the line of the file that `fallback_line` tells, or, where that is 0, the first
    text below the headings.
    """
    text = body[:READ_AT_MOST]
    wanted = topic_stems(query)
    found = _matches(text, wanted)
    below = _outside_headings(text, found) or found  # the title is shown beside the snippet
    start = _densest(below) if below else _line_offset(text, fallback_line() - body_line)
    counts = Counter(one for _, _, one in found)
    shown, spans, end = _cut(text, start, found)
    return Snippet(
        text=shown,
        matches=tuple(spans),
        heading=_heading_above(text, start),
        line_start=body_line + text.count("\n", 0, start),
        line_end=body_line + text.count("\n", 0, end),
        terms=tuple((word, counts[one]) for one, word in wanted.items() if counts[one]),
    )


def topic_stems(query: str) -> dict[str, str]:
    """Return stems of the query's words that carry a topic, with the words as typed."""
    return {
        stem(fold(word)): word for word in query_terms(query) if fold(word) not in FUNCTION_WORDS
    }


def match_spans(text: str, query: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of all words of `text` that a snippet would mark for `query`, in order."""
    return tuple((start, end) for start, end, _ in _matches(text, topic_stems(query)))


def _matches(text: str, wanted: Collection[str]) -> list[tuple[int, int, str]]:
    """Return (start, end, stem) of every word of `text` whose stem is wanted, in order.

    A word begins as its stem does, but for a last `y` that became `i`: looking for beginnings is
    a hundred times faster than stemming every word. Signs are words of their own, as in the index.
    """
    plain, found = _plain(text, frozenset("".join(wanted))), []
    for one in wanted:
        if _SIGN.fullmatch(one):
            found += [(at.start(), at.end(), one) for at in re.finditer(one, plain)]
            continue
        start = one.removesuffix("i") or one
        at = plain.find(start)
        while at >= 0:
            end = at + 1
            if _begins_word(plain, at):
                end = _WORD_END.match(plain, at).end()  # type: ignore[union-attr]
                if _stem_of(text[at:end]) == one:
                    found.append((at, end, one))
            at = plain.find(start, end)
    return sorted(found)


@lru_cache(maxsize=4096)
def _stem_of(word: str) -> str:
    return stem(fold(word))


def _begins_word(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    return not (before.isalnum() or before == "_") or _SIGN.match(before) is not None


def _plain(text: str, letters: Collection[str]) -> str:
    """Return `text` in small letters, every character in its place.

    ASCII is written small as bytes, a fifth of the time; the few other letters of most texts are
    replaced after that. Accents go where one of `letters` stands below: each takes a pass.
    """
    if text.isascii():
        return text.lower()
    encoded = text.encode("utf-8", "surrogatepass")
    others = set(encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    small = {one: one.lower()[:1] for one in others}
    capitals = [one for one in others if small[one] != one]
    if len(capitals) <= _FEW_CAPITALS:
        plain = encoded.lower().decode("utf-8", "surrogatepass")
        for one in capitals:
            plain = plain.replace(one, small[one])
    else:
        # Two that depend on more than themselves: one becomes two letters, one ends a word.
        plain = text.replace("\u0130", "I").replace("\u03a3", "\u03c3").lower()
    for letter in filter(_ACCENTED.match, {*small.values()}):
        if (folded := fold(letter)) in letters:
            plain = plain.replace(letter, folded)
    return plain


def _outside_headings(text: str, found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    outside, line_end, in_heading = [], -1, False
    for match in found:
        if match[0] > line_end:
            line = text.rfind("\n", 0, match[0]) + 1
            line_end = text.find("\n", match[0]) % (len(text) + 1)
            in_heading = text.startswith("#", line) and _HEADING.match(text, line) is not None
        if not in_heading:
            outside.append(match)
    return outside


def _densest(found: list[tuple[int, int, str]]) -> int:
    """Return where the most distinct words stand within a snippet's length, the earliest."""
    best, best_start, left = 0, found[0][0], 0
    inside: dict[str, int] = {}
    for _, end, one in found:
        inside[one] = inside.get(one, 0) + 1
        while end - found[left][0] > SNIPPET_LENGTH:
            passed = found[left][2]
            inside[passed] -= 1
            if not inside[passed]:
                del inside[passed]
            left += 1
        if len(inside) > best:
            best, best_start = len(inside), found[left][0]
    return best_start


def _cut(
    text: str, start: int, found: list[tuple[int, int, str]]
) -> tuple[str, list[tuple[int, int]], int]:
    """Return one line of at most 200 characters around `start`, its matches, and where it ends."""
    begin = _sentence_start(text, start)
    raw = text[begin : begin + 2 * SNIPPET_LENGTH]
    shown, place = "", []
    for start, stop, is_silent in _runs(raw):
        if len(shown) >= SNIPPET_LENGTH:
            break
        if raw[start].isspace():
            place.append(len(shown))
            shown += " " if shown and shown[-1] != " " else ""
            if len(shown) < SNIPPET_LENGTH:
                place += [len(shown)] * (stop - start - 1)
        elif is_silent:
            place += [len(shown)] * (stop - start)
        else:
            piece = raw[start : min(stop, start + SNIPPET_LENGTH - len(shown))]
            place += range(len(shown), len(shown) + len(piece))
            shown += piece
    end = begin + len(place)
    if end < len(text) and not text[end].isspace():  # no half word at the end
        shown = shown[: shown.rfind(" ") + 1 or None]
    shown = shown.rstrip()
    spans = [
        (place[a - begin], place[b - 1 - begin] + 1)
        for a, b, _ in found[bisect_left(found, (begin,)) : bisect_left(found, (end,))]
        if b <= end and place[b - 1 - begin] < len(shown)
    ]
    return shown, spans, max(begin, end - 1)


def _runs(raw: str) -> Iterator[tuple[int, int, bool]]:
    """Yield spans of blanks and of what is none, and whether that is markup, without a gap."""
    at = 0
    for start, stop, is_silent in [
        *((mark.start(), mark.end(), True) for mark in _MARKUP.finditer(raw)),
        (len(raw), len(raw), False),
    ]:
        for run in _RUN.finditer(raw, at, start):
            yield *run.span(), False
        for run in _RUN.finditer(raw, start, stop):
            yield *run.span(), is_silent
        at = stop


def _sentence_start(text: str, start: int) -> int:
    """Return the start of the line or sentence that holds `start`, if it is near."""
    near = max(0, start - SNIPPET_LENGTH // 2)
    line = text.rfind("\n", near, start) + 1
    sentence = max(text.rfind(mark, near, start) for mark in (". ", "? ", "! "))
    begin = max(line, sentence + 2 if sentence >= 0 else 0)
    if begin or near == 0:
        return begin
    word = text.find(" ", near, start) + 1
    return word or near


def _line_offset(text: str, line: int) -> int:
    """Return where the given 0-based line starts, or where the first plain text does."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    if 0 < line < len(starts):
        return starts[line]
    for at in starts:
        rest = text[at : at + SNIPPET_LENGTH].split("\n", 1)[0].strip()
        if rest and not rest.startswith("#"):
            return at
    return 0


def _heading_above(text: str, start: int) -> str:
    at = text.rfind("\n#", 0, start + 1)
    while at >= 0:
        if found := _HEADING.match(text, at + 1):
            return found.group(1)
        at = text.rfind("\n#", 0, at)
    first = _HEADING.match(text)
    return first.group(1) if first else ""

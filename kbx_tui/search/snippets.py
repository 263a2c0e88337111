"""The place in a document that fits the query best. Pure: text in, snippet out."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection

from kbx_tui.index.rows import SIGNS
from kbx_tui.knowledge.names import fold
from kbx_tui.search.lexical import query_terms
from kbx_tui.search.response import Snippet
from kbx_tui.search.words import FUNCTION_WORDS, stem

SNIPPET_LENGTH = 200
READ_AT_MOST = 60_000
"""Characters of a document that are looked through: a snippet is wanted in milliseconds."""

_SIGN, _WORD_END = re.compile(SIGNS), re.compile(r"\w*")
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_MARKUP = re.compile(
    r"^\s*\#{1,6}\s | ^\s*>\s | ^\s*\|?[-:|\ ]{3,}$ | ^\s*\| | \|\s*$ | \*\* | \[\[ | \]\]",
    re.MULTILINE | re.VERBOSE,
)
"""What only says how text looks: a snippet is shown without it."""
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)


def make_snippet(body: str, body_line: int, query: str, *, fallback_line: int = 0) -> Snippet:
    """Return the best place of `body` for `query`.

    `body_line` is the line of the file where the body starts. Where no word matches, the snippet
    is the text at `fallback_line` (of the file), else the first text below the headings.
    """
    text = body[:READ_AT_MOST]
    wanted = topic_stems(query)
    found = _matches(text, wanted)
    below = _outside_headings(text, found) or found  # the title is shown beside the snippet
    start = _densest(below) if below else _line_offset(text, fallback_line - body_line)
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


def _matches(text: str, wanted: Collection[str]) -> list[tuple[int, int, str]]:
    """Return (start, end, stem) of every word of `text` whose stem is wanted, in order.

    A word begins as its stem does, but for a last `y` that became `i`: looking for beginnings is
    a hundred times faster than stemming every word. Signs are words of their own, as in the index.
    """
    plain, found = _plain(text), []
    for one in wanted:
        start, is_sign = one.removesuffix("i"), bool(_SIGN.fullmatch(one))
        at = plain.find(start)
        while at >= 0:
            end = at + 1 if is_sign else _WORD_END.match(plain, at).end()  # type: ignore[union-attr]
            begins = is_sign or not at or not (plain[at - 1].isalnum() or plain[at - 1] == "_")
            if begins and stem(fold(text[at:end])) == one:
                found.append((at, end, one))
            at = plain.find(start, end)
    return sorted(found)


def _plain(text: str) -> str:
    """Return `text` in small letters without accents, every character in its place."""
    if text.isascii():
        return text.lower()
    plain = text.replace("\u0130", "I").lower()
    for letter in set(_ACCENTED.findall(plain)):
        if len(folded := fold(letter)) == 1:
            plain = plain.replace(letter, folded)
    return plain


def _outside_headings(text: str, found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    spans = [heading.span() for heading in _HEADING.finditer(text)]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    return [
        match
        for match in found
        if not (at := bisect_right(starts, match[0])) or ends[at - 1] < match[0]
    ]


def _densest(found: list[tuple[int, int, str]]) -> int:
    """Return where the most distinct words stand within a snippet's length, the earliest."""
    best, best_start, left = 0, found[0][0], 0
    inside: Counter[str] = Counter()
    for _, end, one in found:
        inside[one] += 1
        while end - found[left][0] > SNIPPET_LENGTH:
            inside[found[left][2]] -= 1
            inside += Counter()  # drops the zeros
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
    silent = {at for mark in _MARKUP.finditer(raw) for at in range(*mark.span())}
    shown, place = "", []
    for at, char in enumerate(raw):
        if len(shown) >= SNIPPET_LENGTH:
            break
        place.append(len(shown))
        if char.isspace():
            shown += " " if shown and shown[-1] != " " else ""
        elif at not in silent:
            shown += char
    end = begin + len(place)
    if end < len(text) and not text[end].isspace():  # no half word at the end
        shown = shown[: shown.rfind(" ") + 1 or None]
    shown = shown.rstrip()
    spans = [
        (place[a - begin], place[b - 1 - begin] + 1)
        for a, b, _ in found
        if a >= begin and b <= end and place[b - 1 - begin] < len(shown)
    ]
    return shown, spans, max(begin, end - 1)


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
    heading = ""
    for found in _HEADING.finditer(text):
        if found.start() > start:
            break
        heading = found.group(1)
    return heading

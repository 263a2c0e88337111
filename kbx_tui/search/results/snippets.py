"""The passage of a document that fits the query best. Pure: text in, snippet out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

import numpy as np

from kbx_tui.index.lexical.terms import CJK_CHARACTER
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.stemming import beginning_of, stem
from kbx_tui.search.query.english_words import FUNCTION_WORDS
from kbx_tui.search.query.query_terms import query_terms
from kbx_tui.search.results.best_passage import (
    PASSAGE_LENGTH,
    Match,
    WantedWords,
    best_passage,
)
from kbx_tui.search.results.response import Snippet

SNIPPET_LENGTH = PASSAGE_LENGTH
RERANKED_LENGTH = 1_000
"""Characters of a passage that a reranker reads: some 250 tokens, what such models learned from."""
READ_AT_MOST = 60_000
"""Characters of a document that are searched, to bound the time of a snippet."""

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*#*$", re.MULTILINE)
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
_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)


def make_snippet(
    body: str,
    body_line: int,
    query: str,
    *,
    wanted: WantedWords | None = None,
    cosines: Sequence[tuple[int, float]] = (),
) -> Snippet:
    """Return the best passage of `body` for `query`, with the words of `query` marked.

    `body_line` is the line of the file where the body starts. The passage is chosen by `wanted`, by
    default the words of `query`, and by `cosines`: the line of the file where each chunk starts,
    and its cosine. If no word matches, it begins with the best chunk or, without cosines, with the
    first text below the headings.
    """
    text, stems = body[:READ_AT_MOST], topic_stems(query)
    wanted = wanted or WantedWords(dict.fromkeys(stems, 1.0))
    start, matches = _find_passage(text, body_line, stems, wanted, cosines)
    matches = [match for match in matches if match[2] in stems]
    counts = Counter(word_stem for _, _, word_stem in matches)
    shown, spans, line_breaks, end = _cut(text, start, matches)
    return Snippet(
        text=shown,
        matches=tuple(spans),
        heading=_heading_above(text, start),
        line_start=body_line + text.count("\n", 0, start),
        line_end=body_line + text.count("\n", 0, end),
        terms=tuple(
            (word, counts[word_stem]) for word_stem, word in stems.items() if counts[word_stem]
        ),
        is_cut=bool(text[end + 1 : end + 1 + SNIPPET_LENGTH].strip()) and not _ends(shown),
        line_breaks=line_breaks,
    )


def passage_to_rerank(
    title: str,
    body: str,
    body_line: int,
    query: str,
    wanted: WantedWords,
    cosines: Sequence[tuple[int, float]] = (),
) -> str:
    """Return what a reranker reads of a document: title, heading and text of the best passage.

    Parameters as of `make_snippet`, which begins at the same place; the text is longer, at most
    `RERANKED_LENGTH` characters.
    """
    text = body[:READ_AT_MOST]
    start, _ = _find_passage(text, body_line, topic_stems(query), wanted, cosines)
    begin = _sentence_start(text, start)
    passage = text[begin : begin + RERANKED_LENGTH]
    return "\n".join(filter(None, (title, _heading_above(text, begin), passage.strip())))


def _find_passage(
    text: str,
    body_line: int,
    stems: Mapping[str, str],
    wanted: WantedWords,
    cosines: Sequence[tuple[int, float]],
) -> tuple[int, list[Match]]:
    """Return where the best passage of a text begins, and the words that match."""
    matches = _matches(text, {**stems, **wanted.words, **wanted.names})
    chunks = _with_offsets(text, cosines, body_line)
    start = best_passage(text, matches, wanted, chunks)
    if start is None:
        start = max(chunks, key=itemgetter(1))[0] if chunks else _first_text(text)
    return start, matches


def wanted_words(query: str, typed: str, idf: Callable[[str], float]) -> WantedWords:
    """Return the words by which the passage for a search is chosen, weighted by their rarity.

    `query` is the query of pass 2. The other words of `typed` are names, which count in headings.
    """
    words, names = topic_stems(query), topic_stems(typed)
    return WantedWords(
        {word: idf(word) for word in words}, {name: idf(name) for name in names.keys() - words}
    )


@lru_cache(maxsize=16)  # the same for every result of a search
def topic_stems(query: str) -> Mapping[str, str]:
    """Return the stems of the query's topic words, with the words as typed."""
    return {
        stem(fold(word)): word for word in query_terms(query) if fold(word) not in FUNCTION_WORDS
    }


def match_spans(text: str, query: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of all words of `text` that a snippet would mark for `query`, in order."""
    return tuple((start, end) for start, end, _ in _matches(text, topic_stems(query)))


def _matches(text: str, wanted: Collection[str]) -> list[Match]:
    """Return every word of `text` whose stem is wanted, in order.

    Searching for what such words begin with is much faster than stemming every word. Signs are
    words of their own, as in the index.
    """
    lowered, matches = lower_in_place(text, frozenset("".join(wanted))), []
    for wanted_stem in wanted:
        if _SIGN.fullmatch(wanted_stem):
            signs = re.finditer(wanted_stem, lowered)
            matches += [(sign.start(), sign.end(), wanted_stem) for sign in signs]
            continue
        beginning = beginning_of(wanted_stem)
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


def _cut(
    text: str, start: int, matches: list[Match]
) -> tuple[str, list[tuple[int, int]], tuple[int, ...], int]:
    """Return one line of at most 200 characters around `start`: its text, its matches, where in it
    a line of `text` begins, and where it ends in `text`."""
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
    breaks = [place[line.start()] for line in re.finditer("\n", raw[: len(place)])]
    return shown, spans, tuple(breaks), max(begin, end - 1)


def _ends(text: str) -> bool:
    """Return whether a text ends with a sentence, which a quote or bracket may close."""
    return text.rstrip("\"'”’)]*_").endswith((".", "?", "!", "…", "。", "！", "？"))


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


def _with_offsets(
    text: str, cosines: Sequence[tuple[int, float]], body_line: int
) -> list[tuple[int, float]]:
    """Return the offset and cosine of the chunks that start within `text`."""
    if not cosines:
        return []
    letters = np.array([text]).view(np.uint32)
    starts = [0, *(np.flatnonzero(letters == ord("\n")) + 1).tolist()]
    lines = ((line - body_line, cosine) for line, cosine in cosines)
    return [(starts[line], cosine) for line, cosine in lines if 0 <= line < len(starts)]


def _first_text(text: str) -> int:
    """Return the offset of the first line of text that is not a heading."""
    for line in _LINE.finditer(text):
        if not line[0].lstrip().startswith("#"):
            return line.start()
    return 0


def _heading_above(text: str, start: int) -> str:
    line = text.rfind("\n#", 0, start + 1) + 1
    while (heading := _HEADING.match(text, line)) is None and line:
        line = text.rfind("\n#", 0, line - 1) + 1
    return heading.group(2) if heading else ""

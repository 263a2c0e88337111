"""The passage of a document that fits the query best. Pure: text in, snippet out."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter

from kbx_tui.index.lexical.terms import CJK_CHARACTER, language_of, words_in
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.languages import ENGLISH
from kbx_tui.knowledge.languages import FUNCTION_WORDS as LISTED_WORDS
from kbx_tui.knowledge.stemming import stem
from kbx_tui.search.query.english_words import FUNCTION_WORDS
from kbx_tui.search.query.query_terms import query_terms
from kbx_tui.search.results.best_passage import (
    NO_CHUNKS,
    PASSAGE_LENGTH,
    ChunkCosines,
    LinesAndCosines,
    WantedWords,
    best_passage,
)
from kbx_tui.search.results.response import Snippet
from kbx_tui.search.results.tag_lines import kind_of_line, outside, text_near
from kbx_tui.search.results.text_sections import Heading, find_headings
from kbx_tui.search.results.word_matches import Match, OffsetsOf, TextWords

SNIPPET_LENGTH = PASSAGE_LENGTH
LEAST_LENGTH = 40
"""Characters of a snippet below which it begins with an earlier sentence of its line."""
RERANKED_LENGTH = 1_000
"""Characters of a passage that a reranker reads: some 250 tokens, what such models learned from."""
READ_AT_MOST = 60_000
"""Characters of a document that are searched, to bound the time of a snippet."""

LANGUAGE_READ = 3_000
"""Characters of a text by which its language is recognised."""

_CJK_PIECE = re.compile(f"[\u30a1-\u30ff]+|[\u3041-\u309f]+|{CJK_CHARACTER}")
_HIRAGANA = re.compile("[\u3041-\u309f]+")
_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)[ \t]*#*")
_LINE_MARKS = r"""\s*(?: (?: \#{1,6} | > ) (?: [^\S\n] | (?=\n)) | \|?[-:|\ ]{3,}$ | \| )"""
_FIRST_MARKUP = re.compile(_LINE_MARKS, re.MULTILINE | re.VERBOSE)
_MARKUP = re.compile(
    rf"\n{_LINE_MARKS} | \|\s*$ | \*\*"
    r" | \[\[ [^\[\]|\n]{1,500} \| (?=[^\[\]\n]{1,500}\]\])"  # of a link, what its label replaces
    r" | !\[\[ [^\[\]|\n]{1,500} \| (?=[^\[\]\n]{1,500}\]\])"
    r" | \# (?<=[^\[\]|\n]\#) \^[\w-]{1,100} (?=\]\])"  # the id of a block
    r" | \[\[ | !\[\[ | \]\]"
    r" | \[ (?=[^\[\]\n]{1,500}\]\([^()\s]{1,1000}\))"
    r" | !\[ (?=[^\[\]\n]{1,500}\]\([^()\s]{1,1000}\))"
    r" | \] (?<=[^\[\]\n]\]) \([^()\s]{1,1000}\)",
    re.MULTILINE | re.VERBOSE,
)
"""Markup that a snippet leaves out: at its beginning as at that of a line, and further on.

Every alternative begins with a fixed character, and takes no line break that another begins with:
so the search skips to these characters instead of trying all alternatives at each.
"""
_RUN = re.compile(r"\S+(?:[ ]\S+)*|\s+")
_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)


def make_snippet(
    body: str,
    body_line: int,
    query: str,
    *,
    wanted: WantedWords | None = None,
    cosines: LinesAndCosines = NO_CHUNKS,
    language: str = ENGLISH,
    offsets_of: OffsetsOf | None = None,
) -> Snippet:
    """Return the best passage of `body` for `query`, with the words of `query` marked.

    `body_line` is the line of the file where the body starts, `language` that of its text, and
    `offsets_of` returns where its words start, which spares searching the text. The passage is
    chosen by `wanted`, by default the words of `query`, and by `cosines`. If no word matches, it
    begins with the best chunk or, without chunks, with the first text below the headings.
    """
    text, stems = body[:READ_AT_MOST], topic_stems(query, language)
    wanted = wanted or WantedWords(dict.fromkeys(stems, 1.0))
    text_words = _text_words(text, stems, wanted, language, offsets_of)
    headings = find_headings(text)
    start, matches = _find_passage(text, headings, body_line, stems, wanted, cosines, text_words)
    found = [word_stem for _, _, word_stem in matches]
    shown, spans, line_breaks, end = _cut(text, start, matches)
    line = body_line + text.count("\n", 0, start)
    return Snippet(
        text=shown,
        matches=tuple(spans),
        heading=_heading_above(text, headings, start),
        line_start=line,
        line_end=line + text.count("\n", start, end),
        terms=tuple(
            [(word, n) for word_stem, word in stems.items() if (n := found.count(word_stem))]
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
    cosines: LinesAndCosines = NO_CHUNKS,
    language: str = ENGLISH,
    offsets_of: OffsetsOf | None = None,
) -> str:
    """Return what a reranker reads of a document: title, heading and text of the best passage.

    Parameters as of `make_snippet`, which begins at the same place; the text is longer, at most
    `RERANKED_LENGTH` characters.
    """
    text = body[:READ_AT_MOST]
    stems = topic_stems(query, language)
    text_words = _text_words(text, stems, wanted, language, offsets_of)
    headings = find_headings(text)
    start, _ = _find_passage(text, headings, body_line, stems, wanted, cosines, text_words)
    begin = _sentence_start(text, start)
    passage = text[begin : begin + RERANKED_LENGTH]
    return "\n".join(filter(None, (title, _heading_above(text, headings, begin), passage.strip())))


def _text_words(
    text: str,
    stems: Iterable[str],
    wanted: WantedWords,
    language: str,
    offsets_of: OffsetsOf | None,
) -> TextWords:
    letters = "".join((*stems, *wanted.words, *wanted.names))
    return TextWords(text, letters, language, offsets_of)


def _find_passage(
    text: str,
    headings: Sequence[Heading],
    body_line: int,
    stems: Mapping[str, str],
    wanted: WantedWords,
    cosines: LinesAndCosines,
    text_words: TextWords,
) -> tuple[int, list[Match]]:
    """Return where the best passage of a text begins, and the words with one of `stems`, in order.

    A line of tags counts only without any text, a property only if no other line has a word.
    Names are looked for in headings only, as they count nowhere else.
    """
    chunks = ChunkCosines(text, cosines, body_line)
    matches = sorted(text_words.find(stems.keys() | wanted.words.keys()))
    names = text_words.find(wanted.names, [heading[:2] for heading in headings])
    all_matches = sorted(matches + names) if names else matches
    start = best_passage(text, headings, all_matches, wanted, chunks)
    if start is None:
        start = chunks.best_offset()
    if start is None:
        start = _first_text(text)
    if kind := kind_of_line(text, start):
        others = outside(text, all_matches)
        other = best_passage(text, headings, others, wanted, chunks)
        if other is not None or kind == "tags" or not all_matches:
            place = start if other is None else other
            start = text_near(text, place)
    return start, matches


def wanted_words(
    query: str, typed: str, idf: Callable[[str], float], language: str = ENGLISH
) -> WantedWords:
    """Return the words by which a passage in a language is chosen, weighted by their rarity.

    `query` is the query of pass 2. The other words of `typed` are names, which count in headings.
    """
    words, names = topic_stems(query, language), topic_stems(typed, language)
    return WantedWords(
        {word: idf(word) for word in words}, {name: idf(name) for name in names.keys() - words}
    )


@lru_cache(maxsize=16)  # the same for every result of a search
def topic_stems(query: str, language: str = ENGLISH) -> Mapping[str, str]:
    """Return the stems in a language of the query's topic words, with the words as typed.

    Runs of katakana are words, other Chinese, Japanese and Korean characters stand for themselves,
    and hiragana, which inflects and connects words, counts only alone.
    """
    without_topic = FUNCTION_WORDS if language == ENGLISH else LISTED_WORDS[language]
    signs = _CJK_PIECE.findall(query)
    signs = [piece for piece in signs if not _HIRAGANA.fullmatch(piece)] or signs
    words = query_terms(_CJK_PIECE.sub(" ", query))
    return {
        **{stem(fold(w), language): w for w in words if fold(w) not in without_topic},
        **{fold(piece): piece for piece in signs},
    }


def match_spans(text: str, query: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of all words of `text` that a snippet would mark for `query`, in order."""
    language = language_of(words_in(text[:LANGUAGE_READ]))
    stems = topic_stems(query, language)
    found = TextWords(text, "".join(stems), language).find(stems)
    return tuple((start, end) for start, end, _ in sorted(found))


def _cut(
    text: str, start: int, matches: list[Match]
) -> tuple[str, list[tuple[int, int]], tuple[int, ...], int]:
    """Return one line of at most 200 characters around `start`: its text, its matches, where in it
    a line of `text` begins, and where it ends in `text`."""
    begin = _earlier_start(text, _sentence_start(text, start))
    raw = text[begin : begin + 2 * SNIPPET_LENGTH]
    shown, place = "", []  # place[i]: where character i of `raw` is in `shown`
    left_out = []
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
            left_out.append((begin + start, begin + stop))
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
        if b <= end
        and place[b - 1 - begin] < len(shown)
        and not any(first <= a < last for first, last in left_out)
    ]
    breaks = tuple(place[offset] for offset in _line_breaks(raw, len(place)))
    return shown, spans, breaks, max(begin, end - 1)


def _line_breaks(text: str, end: int) -> Iterator[int]:
    """Yield where lines end before an offset."""
    offset = text.find("\n", 0, end)
    while offset >= 0:
        yield offset
        offset = text.find("\n", offset + 1, end)


def _ends(text: str) -> bool:
    """Return whether a text ends with a sentence, which a quote or bracket may close."""
    return text.rstrip("\"'”’)]*_").endswith((".", "?", "!", "…", "。", "！", "？"))


def _runs(raw: str) -> Iterator[tuple[int, int, bool]]:
    """Yield consecutive spans of blanks and of text, and whether each is markup."""
    end = 0
    first = _FIRST_MARKUP.match(raw)
    marks = _MARKUP.finditer(raw, first.end() if first else 0)
    spans = (mark.span() for mark in chain([first] if first else [], marks))
    for start, stop in chain(spans, [(len(raw), len(raw))]):
        for run in _RUN.finditer(raw, end, start):
            yield *run.span(), False
        for run in _RUN.finditer(raw, start, stop):
            yield *run.span(), True
        end = stop


def _sentence_start(text: str, start: int) -> int:
    """Return the start of the line or sentence around `start` if near, else of a word nearby."""
    near = max(0, start - SNIPPET_LENGTH // 2)
    line = text.rfind("\n", near, start) + 1
    sentence = _last_end_of_sentence(text, near, start)
    begin = max(line, sentence + 2 if sentence >= 0 else 0)
    if begin or near == 0:
        return begin
    return text.find(" ", near, start) + 1 or near


def _earlier_start(text: str, begin: int) -> int:
    """Return `begin`, or the start of an earlier sentence of its line if little text follows: the
    last sentence of a note is often no more than a link.
    """
    if len(text[begin : begin + SNIPPET_LENGTH].rstrip()) >= LEAST_LENGTH:
        return begin  # without a copy of the text
    stop, line = len(text.rstrip()), text.rfind("\n", 0, begin) + 1
    earlier = begin
    while earlier > line and stop - earlier < LEAST_LENGTH:
        earlier = _last_sentence_start(text, line, earlier - 1)
    return earlier if stop - earlier <= SNIPPET_LENGTH else begin


def _last_sentence_start(text: str, start: int, stop: int) -> int:
    """Return where the last sentence of a part of a line begins."""
    end = _last_end_of_sentence(text, start, stop)
    return start if end < 0 else end + 2


def _last_end_of_sentence(text: str, start: int, stop: int) -> int:
    """Return where the last mark is that ends a sentence in a part of a text, or -1."""
    return max(
        text.rfind(". ", start, stop), text.rfind("? ", start, stop), text.rfind("! ", start, stop)
    )


def _first_text(text: str) -> int:
    """Return the offset of the first line of text that is not a heading."""
    for line in _LINE.finditer(text):
        if not line[0].lstrip().startswith("#"):
            return line.start()
    return 0


def _heading_above(text: str, headings: Sequence[Heading], offset: int) -> str:
    """Return the text of the last heading that begins before an offset or at it."""
    index = bisect_right(headings, offset, key=itemgetter(0)) - 1
    heading = _HEADING.fullmatch(text, *headings[index][:2]) if index >= 0 else None
    return heading.group(1) if heading else ""

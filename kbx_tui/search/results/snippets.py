"""The passage of a document that fits a query best, and the snippet made of it. Pure.

A passage is chosen by words, headings and meaning:

    score = sum of the weights of the words in the passage / sum of all weights
          + MEANING_WEIGHT * cosine of its chunk

A word of the passage's own heading counts OWN_HEADING_SHARE of its weight, in the passage or not:
the heading says what its section is about. A word that stands only in a heading further up, or in a
title above all text, counts HEADING_SHARE. Words of the title count no more in another heading, as
they say nothing about one section. The first of equal passages is the best.

Sections are visited by the highest score that any of their passages can have, until none of the
rest can hold a better one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from math import inf
from operator import itemgetter
from typing import NamedTuple

from kbx_tui.index.lexical.postings import CJK_CHARACTER, language_of, words_in
from kbx_tui.knowledge.folding import ENGLISH, fold, stem
from kbx_tui.knowledge.folding import FUNCTION_WORDS as LISTED_WORDS
from kbx_tui.knowledge.markdown import strip_markup
from kbx_tui.knowledge.turns import Turn
from kbx_tui.search.query.query_terms import query_terms, without_request
from kbx_tui.search.query.query_words import FOR_MEETINGS, FUNCTION_WORDS, REQUEST_WORDS, SAYING
from kbx_tui.search.results.response import Snippet
from kbx_tui.search.results.text_words import (
    Heading,
    Match,
    OffsetsOf,
    Section,
    Stems,
    TextWords,
    find_headings,
    kind_of_line,
    sections,
    stems_of,
    text_near,
)

PASSAGE_LENGTH = 200

ROUNDING = 1e-9
"""Difference below which passages are equal: weights are added and subtracted."""

OWN_HEADING_SHARE, HEADING_SHARE, MEANING_WEIGHT = 1.25, 0.75, 1.0
"""Chosen by the experiment "best passage" in docs/quality.md."""

LinesAndCosines = tuple[Sequence[int], Sequence[float]]
"""The line of the file where each chunk of a document starts, in order, and its cosine."""
NO_CHUNKS: LinesAndCosines = (), ()

_TEXT = re.compile(r"\S")
_NOT_SHOWN = REQUEST_WORDS - (FOR_MEETINGS - SAYING)
"""Words that ask: a passage may say what was decided or discussed, but hardly that it was said."""


@dataclass(frozen=True, slots=True)
class WantedWords:
    words: Mapping[str, float]
    names: Mapping[str, float] = field(default_factory=dict)
    """Names that the document query leaves out. They count in headings alone: who took part is
    known from links, and in a transcript everybody's name is everywhere."""


class ChunkCosines:
    def __init__(self, text: str, chunks: LinesAndCosines, first_line: int) -> None:
        self._text, (self._lines, self._cosines) = text, chunks
        self._first_line = self._line = first_line
        self._offset = 0
        self.highest = max(self._cosines, default=0.0)

    def at(self, offset: int) -> float:
        """Return the cosine of the chunk that an offset is in, 0 without chunks.

        Fast if offsets ascend from call to call: only the lines between are counted.
        """
        if not self._lines:
            return 0.0
        if offset < self._offset:
            self._line, self._offset = self._first_line, 0
        self._line += self._text.count("\n", self._offset, offset)
        self._offset = offset
        return self._cosines[max(bisect_right(self._lines, self._line) - 1, 0)]

    def best_offset(self) -> int | None:
        last_line = self._first_line + self._text.count("\n")
        inside = [
            (-cosine, line)
            for line, cosine in zip(self._lines, self._cosines, strict=True)
            if self._first_line <= line <= last_line
        ]
        if not inside:
            return None
        *_, rest = self._text.split("\n", min(inside)[1] - self._first_line)
        return len(self._text) - len(rest)


_Candidate = tuple[float, Section, float, Mapping[str, float]]
"""A section that may hold the best passage: a weight that the words of none of its passages exceed,
the section, the weight of the words in its headings, and what each word in a passage adds."""


def best_passage(
    text: str,
    headings: Sequence[Heading],
    matches: Sequence[Match],
    wanted: WantedWords,
    cosines: ChunkCosines,
) -> int | None:
    """Return the offset where the best passage begins, None if no wanted word is in the text.

    `matches` are in order: the words in the text, and those of names in its headings.
    """
    total, closest = sum(wanted.words.values()) or 1.0, MEANING_WEIGHT * cosines.highest
    best_score, best_start = -inf, None
    candidates = _candidates(sections(text, headings, matches), wanted)
    for at_most, section, from_headings, gains in sorted(
        candidates, key=itemgetter(0), reverse=True
    ):
        if at_most / total + closest < best_score - ROUNDING:
            break
        for start, weight in _passages(section, from_headings, gains, text, wanted.words):
            score = weight / total
            if score + closest < best_score - ROUNDING:
                continue  # spares counting lines for the cosine
            score += MEANING_WEIGHT * cosines.at(start)
            is_first = best_start is None or start < best_start
            if score > best_score + ROUNDING or (is_first and score >= best_score - ROUNDING):
                best_score, best_start = score, start
    return best_start


def _candidates(all_sections: Iterable[Section], wanted: WantedWords) -> Iterator[_Candidate]:
    known: dict[tuple[Stems, Stems], tuple[float, Mapping[str, float]]] = {}
    for section in all_sections:  # most have the same words in their headings
        words = section[3:5]
        if (weights := known.get(words)) is None:
            weights = known[words] = _weights(*words, wanted)
        from_headings, gains = weights
        most = from_headings
        for matched in stems_of(section.matches):
            most += gains.get(matched, 0.0)
        yield most, section, from_headings, gains


def _passages(
    section: Section,
    weight: float,
    gains: Mapping[str, float],
    text: str,
    words: Mapping[str, float],
) -> Iterator[tuple[int, float]]:
    """Yield where each passage of a section begins, in order, and the weight of its words.

    One begins at each wanted word, and at the first text below a heading that holds one, or at such
    a heading without text. Below a title, the first text counts only if it has no such word itself.
    `weight` is that of the words in its headings.
    """
    matches, size = section.matches, len(section.matches)
    places = [(match[0], index) for index, match in enumerate(matches) if match[2] in words]
    if section.headings:
        first_text = _TEXT.search(text, section.start, section.end)
        start = first_text.start() if first_text else section.heading
        if section.own or not matches or matches[0][1] > start + PASSAGE_LENGTH:
            places.insert(0, (start, 0))
    counts = dict.fromkeys(gains, 0)
    first = end = 0  # of the matches in the passage
    for start, index in places:
        while first < index:
            if first < end:
                stem = matches[first][2]
                counts[stem] = left = counts.get(stem, 0) - 1
                if not left:
                    weight -= gains.get(stem, 0.0)
            first += 1
        end = max(index, end)
        limit = start + PASSAGE_LENGTH
        while end < size and matches[end][1] <= limit:
            stem = matches[end][2]
            counts[stem] = held = counts.get(stem, 0) + 1
            if held == 1:
                weight += gains.get(stem, 0.0)
            end += 1
        yield start, weight


def _weights(own: Stems, headings: Stems, wanted: WantedWords) -> tuple[float, Mapping[str, float]]:
    if not headings:
        return 0.0, wanted.words
    from_headings, gains = 0.0, dict(wanted.words)
    for heading in headings:
        weight = wanted.words.get(heading)
        if weight is None:
            from_headings += HEADING_SHARE * wanted.names.get(heading, 0.0)
        elif heading in own:
            from_headings += OWN_HEADING_SHARE * weight
            gains[heading] = 0.0
        else:
            from_headings += HEADING_SHARE * weight
            gains[heading] = (1.0 - HEADING_SHARE) * weight
    return from_headings, gains


LOOKED_BACK = 140
"""Characters before the best place in which a sentence, item or line may begin."""
LEAST_WRAPPED = 40
"""Length of a line from which the next one may continue its sentence."""
LEAST_LENGTH = 40
"""Characters of a snippet below which it begins with an earlier sentence of its line."""
RERANKED_LENGTH = 1_000
"""Characters of a passage that a reranker reads: some 250 tokens, what such models learned from."""
READ_AT_MOST, READ_FOR_A_WORD = 60_000, 2_000_000
"""Characters of a document that are searched, to bound the time of a snippet: more only for a word
that is not among the first, as in a book."""

LANGUAGE_READ = 3_000

_CJK_PIECE = re.compile(f"[\u30a1-\u30ff]+|[\u3041-\u309f]+|{CJK_CHARACTER}")
_HIRAGANA = re.compile("[\u3041-\u309f]+")
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
"""Markup that a snippet leaves out: the first where it begins, as a line may; the second elsewhere.

Every alternative of the second begins with a fixed character, so that a search skips to those.
None ends with a line break, with which the next match may begin.
"""
_BLOCK = re.compile(
    r"[ \t]*(?:[-*+•][ \t]|\d{1,3}[.)][ \t]|[#>|]|$|[\w .'’-]{1,40}:)", re.MULTILINE
)
"""The start of a line that continues no sentence: an item, a heading, a turn, a property."""
_DATED_ITEM = re.compile(r"^[ \t]*[-*+] \[(\d{4}-\d\d-\d\d)\] (?!~~)", re.MULTILINE)
_ITEM = re.compile(r"[ \t]*[-*+] ")
OPEN_ITEM = re.compile(r"^[ \t]*[-*+] \[ \] ", re.MULTILINE)
_RUN = re.compile(r"\S+(?:[ ]\S+)*|\s+")
_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)
_LINE_BREAK = re.compile("\n")


class PassageSource(NamedTuple):
    """A document, and what decides which of its passages fits a query best."""

    body: str
    body_line: int
    """The line of the file where the body starts."""
    query: str
    wanted: WantedWords | None = None
    """The words by which the passage is chosen; None: those of the query."""
    cosines: LinesAndCosines = NO_CHUNKS
    language: str = ENGLISH
    offsets_of: OffsetsOf | None = None
    """Returns where words start in the first `READ_AT_MOST` characters of the body, which spares
    searching them."""
    turn: Turn | None = None
    """The turn whose best passage is wanted."""
    is_for_news: bool = False
    """Whether the newest dated item of a list is wanted, if there is one."""
    is_for_open_items: bool = False
    is_named: bool = False
    """Whether the query is but the name of the page: what the page is about is wanted."""
    property: str = ""
    """The property that is wanted, `key: value`, in place of a passage."""
    as_said: str = ""
    """What a passage may show of the body, of the same length; empty for all of it."""

    def snippet(self) -> Snippet:
        """Return the best passage, with the words of the query marked.

        If no word matches, it begins with the best chunk or, without chunks, with the first text
        below the headings.
        """
        if self.property:
            key, shown = self.property.partition(":")[0], self.property[:PASSAGE_LENGTH]
            return Snippet(shown, ((0, len(key)),), "", 1, max(self.body_line - 1, 1), ())
        turn, stems = self.turn, topic_stems(self.query, self.language)
        text = self._text(self._end_of_search(stems) if turn is None else turn.end)
        headings, wanted = find_headings(text), self._wanted(stems)
        start, matches = self._find(text, headings, stems, wanted)
        if turn is not None:
            start = _start_in_turn(text, turn, matches, wanted)
        start, stop = _below_heading(text, headings, start)
        text = text[:stop]  # a passage ends before the next heading
        shown, spans, line_breaks, (begin, end) = _cut(text, start, self._visible(text, matches))
        line = self.body_line + text.count("\n", 0, begin)
        at = bisect_left(matches, (begin,))
        matches = [*matches[at:], *matches[:at]]
        found = [word_stem for _, _, word_stem in matches]
        firsts = [found.index(word_stem) for word_stem in stems if word_stem in found]
        return Snippet(
            text=shown,
            matches=tuple(spans),
            heading=_heading_above(text, headings, start),
            line_start=line,
            line_end=line + text.count("\n", begin, end),
            terms=tuple(
                [(word, n) for word_stem, word in stems.items() if (n := found.count(word_stem))]
            ),
            is_cut=bool(text[end + 1 : end + 1 + PASSAGE_LENGTH].strip()) and not _ends(shown),
            line_breaks=line_breaks,
            forms=tuple(self.body[slice(*matches[first][:2])] for first in firsts),
            speaker="" if turn is None else turn.speaker,
        )

    def to_rerank(self, title: str) -> str:
        """Return what a reranker reads of a document: title, heading and text of the best passage.

        It begins where the snippet does, but is longer: at most `RERANKED_LENGTH` characters.
        """
        stems = topic_stems(self.query, self.language)
        text = self._text(self._end_of_search(stems))
        headings = find_headings(text)
        start, _ = self._find(text, headings, stems, self._wanted(stems))
        begin = _sentence_start(text, start) if self.turn is None else self.turn.start
        passage = text[begin : begin + RERANKED_LENGTH].strip()
        return "\n".join(filter(None, (title, _heading_above(text, headings, begin), passage)))

    def _end_of_search(self, stems: Collection[str]) -> int:
        """Return up to where the body is searched: as far as some word is first found, if any."""
        if len(self.body) <= READ_AT_MOST:
            return READ_AT_MOST
        near = TextWords(self.body[:READ_AT_MOST], stems, self.language, self.offsets_of)
        missing = [each for each in stems if not near.find([each])]
        far = TextWords(self.body[READ_AT_MOST:READ_FOR_A_WORD], missing, self.language)
        firsts = [found[0] for each in missing if (found := far.find([each]))]
        if not firsts:
            return READ_FOR_A_WORD if len(missing) == len(stems) else READ_AT_MOST
        return READ_AT_MOST + max(end for _, end, _ in firsts) + RERANKED_LENGTH

    def _text(self, stop: int) -> str:
        return (self.as_said or self.body)[:stop]

    def _visible(self, text: str, matches: list[Match]) -> list[Match]:
        """Return the matches that `text` shows, where spaces may replace a part of the body."""
        if not self.as_said:
            return matches
        return [match for match in matches if not text[match[0] : match[0] + 1].isspace()]

    def _wanted(self, stems: Mapping[str, str]) -> WantedWords:
        return self.wanted or WantedWords(dict.fromkeys(stems, 1.0))

    def _find(
        self, text: str, headings: Sequence[Heading], stems: Mapping[str, str], wanted: WantedWords
    ) -> tuple[int, list[Match]]:
        """Return where the best passage begins, and the words with one of `stems`, in order.

        A line of tags counts only without any text, a property only if no other line has a word.
        Names are looked for in headings only, as they count nowhere else.
        """
        looked_for = (*stems, *wanted.words, *wanted.names)
        offsets_of = self.offsets_of if len(text) <= READ_AT_MOST else None
        words = TextWords(self.body[: len(text)], looked_for, self.language, offsets_of)
        chunks = ChunkCosines(text, self.cosines, self.body_line)
        matches = sorted(words.find(stems.keys() | wanted.words.keys()))
        in_headings = [heading[:2] for heading in headings] if wanted.names else ()
        names = words.find(wanted.names, in_headings)
        all_matches = self._visible(text, sorted(matches + names) if names else matches)
        start = _newest_item(self.body, text) if self.is_for_news else None
        start = _first_text(text) if self.is_named else start
        lists = self.is_named and _ITEM.match(text, start or 0)
        if (self.is_for_open_items or lists) and (item := OPEN_ITEM.search(text)):
            start = item.start()
        if start is None:
            start = best_passage(text, headings, all_matches, wanted, chunks)
        if start is None and (offset := chunks.best_offset()) is not None:
            start = found.start() if (found := _TEXT.search(text, offset)) else None
        if start is None:
            start = _first_text(text)
        if kind := kind_of_line(text, start):
            others = [match for match in all_matches if not kind_of_line(text, match[0])]
            other = best_passage(text, headings, others, wanted, chunks)
            if other is not None or kind == "tags" or not all_matches:
                start = text_near(text, start if other is None else other)
        return start, matches


def _below_heading(text: str, headings: Sequence[Heading], start: int) -> tuple[int, int]:
    """Return `start`, or the text below the heading that it is in, and where the section ends.

    A heading without text below it or below its own headings is shown itself.
    """
    ends = [*(heading.start for heading in headings), len(text)]
    index = bisect_right(headings, start, key=itemgetter(0))
    if not index or start >= headings[index - 1].end:
        return start, ends[index]
    level = headings[index - 1].level
    for below in range(index, len(ends)):
        if first_text := _TEXT.search(text, headings[below - 1].end, ends[below]):
            return first_text.start(), ends[below]
        if below < len(headings) and headings[below].level <= level:
            break
    return start, ends[index]


def _start_in_turn(text: str, turn: Turn, matches: Sequence[Match], wanted: WantedWords) -> int:
    """Return where the best passage of a turn begins: with its speaker, if it is near."""
    own = [match for match in matches if match[0] >= turn.start]
    start = best_passage(text, (), own, wanted, ChunkCosines(text, NO_CHUNKS, 0))
    is_near = start is None or start < turn.start + PASSAGE_LENGTH - LEAST_LENGTH
    return turn.start if start is None or is_near else start


def _newest_item(body: str, text: str) -> int | None:
    """Return where the first of the items with the latest date begins, without those struck out in
    the body or not in `text`, what is shown of it."""
    found = _DATED_ITEM.finditer(body, 0, len(text))
    items = [(each[1], -each.start()) for each in found if text[slice(*each.span())].strip()]
    return -max(items)[1] if items else None


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
    words = without_request(query_terms(_CJK_PIECE.sub(" ", query)), _NOT_SHOWN)
    return {
        **{stem(each, language): w for w in words if (each := fold(w)) not in without_topic},
        **{fold(piece): piece for piece in signs},
    }


def match_spans(text: str, query: str) -> tuple[tuple[int, int], ...]:
    language = language_of(words_in(text[:LANGUAGE_READ]))
    stems = topic_stems(query, language)
    found = TextWords(text, stems, language).find(stems)
    return tuple((start, end) for start, end, _ in sorted(found))


def _cut(
    text: str, start: int, matches: list[Match]
) -> tuple[str, list[tuple[int, int]], tuple[int, ...], tuple[int, int]]:
    """Return one line of at most 200 characters around `start`: its text, its matches, where in it
    a line of `text` begins, and where it begins and ends in `text`."""
    begin = _earlier_start(text, _sentence_start(text, start))
    raw = text[begin : begin + 2 * PASSAGE_LENGTH]
    shown, place = "", []  # place[i]: where character i of `raw` is in `shown`
    left_out = set[int]()
    for start, stop, is_markup in _runs(raw):
        size = len(shown)
        if size >= PASSAGE_LENGTH:
            break
        if raw[start].isspace():
            if shown and shown[-1] != " ":
                shown += " "
            count = stop - start if len(shown) < PASSAGE_LENGTH else 1
            place += [max(len(shown) - 1, 0)] * count
        elif is_markup:
            place += [size] * (stop - start)
            left_out.update(range(begin + start, begin + stop))
        else:
            stop = min(stop, start + PASSAGE_LENGTH - size)
            place += range(size, size + stop - start)
            shown += raw[start:stop]
    end = begin + len(place)
    if end < len(text) and not text[end].isspace():  # end with a complete word
        shown = shown[: shown.rfind(" ") + 1 or None]
    shown = shown.rstrip()
    spans = [
        (place[a - begin], place[b - 1 - begin] + 1)
        for a, b, _ in matches[bisect_left(matches, (begin,)) : bisect_left(matches, (end,))]
        if b <= end and place[b - 1 - begin] < len(shown) and a not in left_out
    ]
    breaks = (place[found.start()] for found in _LINE_BREAK.finditer(raw, 0, len(place)))
    inside = tuple(at for at in breaks if at < len(shown))
    return shown, spans, inside, (begin, max(begin, end - 1))


def _ends(text: str) -> bool:
    return text.rstrip("\"'”’)]*_").endswith((".", "?", "!", "…", "。", "！", "？"))


def _runs(raw: str) -> Iterator[tuple[int, int, bool]]:
    end = 0
    first = _FIRST_MARKUP.match(raw)
    marks = _MARKUP.finditer(raw, first.end() if first else 0)
    for mark in chain((first,) if first else (), marks):
        start, stop = mark.span()
        for run in _RUN.finditer(raw, end, start):
            yield run.start(), run.end(), False
        for run in _RUN.finditer(raw, start, stop):
            yield run.start(), run.end(), True
        end = stop
    for run in _RUN.finditer(raw, end):
        yield run.start(), run.end(), False


def _sentence_start(text: str, start: int) -> int:
    near = max(0, start - LOOKED_BACK)
    line = _line_start(text, near, start)
    sentence = _last_end_of_sentence(text, near, start)
    begin = max(line, sentence + 2 if sentence >= 0 else 0)
    if begin or near == 0:
        return begin
    return text.find(" ", near, start) + 1 or near


def _line_start(text: str, near: int, start: int) -> int:
    """Return where the line of `start` begins, or one before whose sentence it continues, or 0."""
    line = text.rfind("\n", near, start) + 1
    while line > near and not _BLOCK.match(text, line):
        earlier = text.rfind("\n", near, line - 1) + 1
        before = text[max(earlier, near) : line].rstrip()
        if len(before) < LEAST_WRAPPED or _ends(before) or before[-1] == ":" or before[0] == "#":
            break
        line = earlier
    return line


def _earlier_start(text: str, begin: int) -> int:
    """Return `begin`, or the start of an earlier sentence of its line if little text follows: the
    last sentence of a note is often no more than a link.
    """
    if len(text[begin : begin + PASSAGE_LENGTH].rstrip()) >= LEAST_LENGTH:
        return begin  # without a copy of the text
    stop, line = len(text.rstrip()), text.rfind("\n", 0, begin) + 1
    earlier = begin
    while earlier > line and stop - earlier < LEAST_LENGTH:
        end = _last_end_of_sentence(text, line, earlier - 1)
        earlier = line if end < 0 else end + 2
    return earlier if stop - earlier <= PASSAGE_LENGTH else begin


def _last_end_of_sentence(text: str, start: int, stop: int) -> int:
    return max(text.rfind(mark, start, stop) for mark in (". ", "? ", "! "))


def _first_text(text: str) -> int:
    for line in _LINE.finditer(text):
        if not line[0].lstrip().startswith("#"):
            return line.start()
    return 0


def _heading_above(text: str, headings: Sequence[Heading], offset: int) -> str:
    index = bisect_right(headings, offset, key=itemgetter(0)) - 1
    if index < 0:
        return ""
    start, end, level = headings[index]
    return strip_markup(text[start + level : end].rstrip("#").strip(" \t"))

"""The response of a search, named as in its JSON, and how it is said in words. Pure.

A passage reads without the signs of Markdown or what is struck out; a list item begins with its
box, or with a dot where it follows other text. `snippets.py` leaves out the markup of links,
tables, headings and bold text, for every reader; the rest is for the screen.

Imports no numpy: the app is painted before that is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from kbx_tui.formatting import (
    answer_words,
    format_count,
    format_percent,
    format_score,
    join_limited,
    kept_words,
    rounded_parts,
    share_words,
)
from kbx_tui.knowledge.markdown import EMPHASIS
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import PreferredDates

MAX_BY_DATE = 50
"""Results listed by date: the newest of many weak results would answer nothing."""

SENTENCE_END = re.compile(
    r"""(?<![.?!…:] \d)(?<![.?!…:] \d\d)[.?!…]["'”’)\]*_]*(?=\s|$)|[。！？]"""
)
"""Not the number of a list item, as in `Call the bridge. 4. Wait.`"""


@dataclass(frozen=True, slots=True)
class Snippet:
    text: str
    """At most 200 characters on one line."""
    matches: tuple[tuple[int, int], ...]
    """Spans of `text` that match a word of the query, in order."""
    heading: str
    line_start: int
    line_end: int
    """1-based lines of the file."""
    terms: tuple[tuple[str, int], ...]
    is_cut: bool = False
    """Whether `text` ends in the middle of a sentence."""
    line_breaks: tuple[int, ...] = ()
    """Where in `text` each further line of the file begins; the first is `line_start`."""
    redacted: tuple[tuple[int, int], ...] = ()
    """Spans of `text` that are redacted, where that was looked up."""
    forms: tuple[str, ...] = ()
    """How the passage, else the document, first writes each word of `terms`; empty where that was
    not looked up."""
    speaker: str = ""
    """Who says it, where the query asks for what they said."""


@dataclass(frozen=True, slots=True)
class PassOneEntity:
    id: str
    name: str
    type: str
    score: float
    path: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    path: str
    title: str
    date: str
    doc_type: str
    score: float
    snippet: str
    line: int
    matches: tuple[tuple[int, int], ...] = ()
    explain: Mapping[str, Any] | None = None
    is_cut: bool = False
    line_breaks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchMeta:
    search_mode: str
    search_mode_reason: str
    pass1_entities: tuple[PassOneEntity, ...]
    path_filter: str | None
    timings: Mapping[str, float]
    total_matched: int
    in_scope: int
    vector_share: float
    total_below_floor: int = 0
    """Documents with a positive cosine that are not results: no term, and a cosine below .3."""
    notes: tuple[str, ...] = ()
    """Sentences for the user: damage to the index, vectors still missing, ambiguous names."""
    candidates: int | None = None
    """Documents that were scored, in a scope too wide to compare every chunk in meaning; None: all
    in scope."""
    recall: float | None = None
    """Where `candidates` is given: the share of the ten best chunks by meaning that such a search
    finds, measured on a sample when the index was built."""
    dates: tuple[PreferredDates, ...] = ()
    typed_filters: tuple[str, ...] = ()
    explain: Mapping[str, Any] | None = None
    """Query of pass 2, filters, knobs, and how many documents were evaluated."""


@dataclass(frozen=True, slots=True)
class SearchResponse:
    query: str
    results: tuple[SearchResult, ...]
    meta: SearchMeta


def mode_details(response: SearchResponse, noun: str = "") -> list[str]:
    meta = response.meta
    details = (mode_reason(meta), dates_words(meta), count_words(response, noun))
    return [detail for detail in details if detail]


def mode_reason(meta: SearchMeta) -> str:
    kept = kept_entities(meta)
    names = [safe_line(entity.name) for entity in meta.pass1_entities if entity.id in kept]
    return kept_words(meta.search_mode, meta.search_mode_reason, names)


def dates_words(meta: SearchMeta) -> str:
    words = " or ".join(dict.fromkeys(read.words for read in meta.dates))
    if not words:
        return ""
    return f"{'only' if (meta.explain or {}).get('dates') == 'filter' else 'prefers'} {words}"


def count_words(response: SearchResponse, noun: str = "") -> str:
    """Return `10 of 42`, or `10 of the best 42, newest first`, with a `noun` after the numbers."""
    meta, shown = response.meta, len(response.results)
    if (meta.explain or {}).get("sort") == "date":
        return f"{shown} of the best {min(meta.total_matched, MAX_BY_DATE)}{noun}, newest first"
    return f"{shown} of {meta.total_matched:,}{noun}"


def candidates_words(candidates: int, recall: float) -> str:
    documents = format_count(candidates, "document")
    return (
        f"the {documents} that words, links or the index of vectors find, which holds "
        f"{format_percent(recall)} of the nearest chunks"
    )


def kept_entities(meta: SearchMeta) -> frozenset[str]:
    return frozenset((meta.explain or {}).get("kept_entities", ()))


@dataclass(frozen=True, slots=True)
class ScoreSum:
    name: str
    total: float
    addends: tuple[tuple[float, str], ...]
    """What is added and by what: `(.36, "words (migration ×4)")`, rounded to two decimals."""
    note: str = ""

    def __str__(self) -> str:
        """Return `document .78 = .36 words + .42 meaning · note`."""
        terms = [f"{format_score(value)} {words}" for value, words in self.addends]
        line = f"{self.name} {format_score(self.total)} = {' + '.join(terms) or '0'}"
        return f"{line} · {self.note}" if self.note else line


@dataclass(frozen=True, slots=True)
class ScoreReasons:
    first: str
    sums: tuple[ScoreSum, ...]
    last: str

    def lines(self) -> list[str]:
        return [line for line in (self.first, *map(str, self.sums), self.last) if line]


GIVEN = frozenset({"date", "id", "name", "path", "role", "title"})
"""What a query may give of a page; else a query asks for it: `its role`."""


def exact_words(known_item: str) -> str:
    """Return by what the query asked for a page: `title asked for`, `its own page`, `its role`."""
    if known_item in GIVEN:
        return f"{known_item} asked for"
    return "its own page" if known_item == "own page" else safe_line(known_item)


def score_reasons(explanation: Mapping[str, Any], *, fast: bool = False) -> ScoreReasons:
    """Return the reasons that the `explain` of a result holds (docs/cli.md)."""
    parts = {
        "document": explanation["document_part"],
        "entity": explanation["entity_part"],
        "hotness": explanation["hotness_part"],
        "reranker": explanation["reranker_part"],
    }
    exact = explanation["exact"]
    first = f"{exact_words(exact)}: ranked first, with score 1.00" if exact else ""
    if exact and not any(parts.values()):
        return ScoreReasons(first, (), "")
    full, note = explanation["full_relevance"], ""
    if full is not None:
        note = answer_words(explanation["doc_relevance"], full)
    note = " · ".join(filter(None, (note, explanation["lowered_reason"])))
    score = [(value, part) for part, value in parts.items() if value]
    document = _document_parts(explanation, fast=fast)
    sums = [
        _sum("otherwise" if exact else "score", sum(parts.values()), score),
        _sum("document", explanation["answered"], document, note),
    ]
    if shares := _shares(explanation["entities"], has_topic=full is not None):
        sums.append(_sum("entity", explanation["parent_entity_score"], shares))
    last = ""
    if (reranked := explanation["reranker_score"]) is not None:
        last = f"reranker {format_score(reranked)} × half of what is missing to a score of 1"
    return ScoreReasons(first, tuple(sums), last)


def _sum(name: str, total: float, parts: Sequence[tuple[float, str]], note: str = "") -> ScoreSum:
    values = rounded_parts(total, [value for value, _ in parts])
    words = [part for _, part in parts]
    return ScoreSum(name, total, tuple(zip(values, words, strict=True)), note)


def _shares(entities: Sequence[Mapping[str, Any]], *, has_topic: bool) -> list[tuple[float, str]]:
    has_weights = len({entity["weight"] for entity in entities}) > 1
    return [
        (
            entity["share"],
            _with_detail(
                safe_line(entity["name"]),
                share_words(
                    safe_line(entity["reason"]),
                    entity["answered"] if has_topic else None,
                    weight=entity["weight"] if has_weights else None,
                ),
            ),
        )
        for entity in entities
        if entity["share"]
    ]


def _document_parts(explanation: Mapping[str, Any], *, fast: bool) -> list[tuple[float, str]]:
    relevance = explanation["doc_relevance"]
    own = explanation["answered"] - explanation["date_part"]
    scale = own / relevance if relevance else 1.0
    words = scale * explanation["lexical_score"] * explanation["lexical_weight"]
    meaning = scale * explanation["vector_score"] * explanation["vector_weight"]
    terms = [
        f"{safe_line(term['term'])} ×{term['body_count']}" for term in explanation["matched_terms"]
    ]
    if words and not terms:
        terms = ["in its title or frontmatter"]
    elif terms and not words:  # `call` without `on call`, or a word that only asks
        terms = ["not counted here"]
    cosine = explanation["cosine"]
    similarity = "not used" if fast else "no vector yet"
    if cosine is not None:
        similarity = f"cosine {format_score(cosine)}"
    parts = [
        (words, _with_detail("words", join_limited(terms, limit=5))),
        (meaning, _with_detail("meaning", similarity)),
    ]
    if explanation["date_reason"]:
        parts.append((explanation["date_part"], f"date ({safe_line(explanation['date_reason'])})"))
    if explanation["lent_by"]:
        parts.append((scale * explanation["lent"], f"propagated from the {explanation['lent_by']}"))
    return parts


def _with_detail(name: str, detail: str) -> str:
    return f"{name} ({detail})" if detail else name


_STRUCK = re.compile(r"~~(?=\S)[^~]+(?<=\S)~~ ?|~~")
_STRUCK_ITEM = re.compile(r"[-*+•]\s+(?:\[[^\]]*\]\s+)*~~(?=\S)[^~]+(?<=\S)~~(?:\s*\([^()]*\))*\s*")
_SIGN = re.compile(r"```\w* ?|`+|\[\^[\w-]+\]|(?<![\w*])\*(?=\w)")
_ITEM = re.compile(r"[-*+•]\s+(?:\[([ xX])\]\s+)?")

Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ReadText:
    text: str
    places: Sequence[int]
    """Where in `text` each character of the source is, and its end."""

    def ranges(self, ranges: Ranges) -> tuple[tuple[int, int], ...]:
        both = ((self.places[start], self.places[end]) for start, end in ranges)
        return tuple((start, end) for start, end in both if start < end)


def as_read(source: str, line_breaks: Sequence[int] = ()) -> ReadText:
    """Return a text as it reads; `line_breaks` are where further lines of the file begin.

    A text that has little else than what is struck out keeps its words.
    """
    starts = 0, *(at + 1 for at in line_breaks)
    ends = {*starts, len(source)}
    items = [found.span() for start in starts if (found := _STRUCK_ITEM.match(source, start))]
    struck = [(start, end) for start, end in items if end in ends]
    inside = {at for start, end in struck for at in range(start, end)}
    struck += [word.span() for word in _STRUCK.finditer(source) if word.start() not in inside]
    if 2 * sum(end - start for start, end in struck) > len(source):
        struck = [found.span() for found in re.finditer("~~", source)]
    edits = {start: (end, "") for start, end in struck}
    edits |= {found.start(): (found.end(), "") for found in _SIGN.finditer(source)}
    for found in chain.from_iterable(each.finditer(source) for each in EMPHASIS):
        edits |= {found.start(): (found.start(1), ""), found.end(1): (found.end(), "")}
    for start in starts:
        if start not in edits and (item := _ITEM.match(source, start)):
            box = "" if item[1] is None else "☐ " if item[1] == " " else "☑ "
            edits[start] = item.end(), box or "· "
    text, places = "", list[int]()
    for start, (end, shown) in [*sorted(edits.items()), (len(source), (len(source) + 1, ""))]:
        if start >= len(places):  # not inside of what is struck out
            kept = source[len(places) : start]
            places += range(len(text), len(text) + len(kept))
            text += kept
            text += shown if text or shown != "· " else ""
            places += [len(text)] * (end - start)
    return ReadText(text, places)

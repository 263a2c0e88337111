"""The page of a search: one HTML file that loads nothing and runs nothing. Pure.

Texts of documents get into it only through `element`, which escapes them. Should one come through
all the same, the policy of the page forbids scripts, requests, forms, and styles other than ours.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from kbx_tui import __version__
from kbx_tui.api.several_bases import OwnedResult, SeveralResponse
from kbx_tui.formatting import FLAT_REASONS, format_count, format_percent, format_score, mode_name
from kbx_tui.safe_text import safe_line
from kbx_tui.search.request import Tuning
from kbx_tui.search.results.response import (
    PassOneEntity,
    ScoreReasons,
    ScoreSum,
    SearchMeta,
    SearchResponse,
    SearchResult,
    as_read,
    candidates_words,
    count_words,
    dates_words,
    kept_entities,
    mode_details,
    mode_reason,
    score_reasons,
)
from kbx_tui.sharing.shared_search import SharedSearch

_OPTION = re.compile(r"(--[a-z-]+)")
ABOUT = "This page runs no script and loads nothing. What documents mark as redacted is left out."


def search_page(shared: SharedSearch) -> str:
    footer = element("footer", element("p", f"Made by kbx_tui {__version__}. {ABOUT}"))
    main = element("main", _entity_section(shared.answer), _result_section(shared), _asked(shared))
    body = element("body", patterns(), _header(shared), main, footer)
    return "<!doctype html>\n" + element("html", _head(shared), body, lang="en")


def _section(title: str, name: str, *parts: str) -> Markup:
    heading = element("h2", title, id=name)
    return element("section", heading, *parts, class_=name, aria_labelledby=name)


def _head(shared: SharedSearch) -> Markup:
    style = files("kbx_tui.sharing").joinpath("page.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex"),
        element("title", f"{shared.answer.query} · {', '.join(shared.bases)}"),
        element("style", Markup(style)),
    )


def _header(shared: SharedSearch) -> Markup:
    answer = shared.answer
    bases = joined((element("bdi", name) for name in shared.bases), ", ")
    words = f"{shared.when.day} {shared.when:%B %Y, %H:%M %Z}"
    when = element("time", words, datetime=shared.when.isoformat(timespec="minutes"))
    summaries = []
    for name, response in answer.responses.items():
        mode = mode_name(response.meta.search_mode, response.meta.search_mode_reason)
        details = element("bdi", " · ".join(mode_details(response, " results")))
        base = f"{name}: " if len(answer.responses) > 1 else ""
        summaries.append(element("p", base, element("b", mode), " · ", details))
    notes = [element("li", "Note: ", element("bdi", note)) for note in answer.notes]
    return element(
        "header",
        element("p", "Search in ", bases, " · ", when, class_="dim"),
        element("h1", answer.query, dir="auto"),
        *summaries,
        element("ul", *notes, class_="notes") if notes else Markup(),
    )


def _asked(shared: SharedSearch) -> Markup:
    parts = []
    for name, response in shared.answer.responses.items():
        if len(shared.bases) > 1:
            parts.append(element("h3", element("bdi", name)))
        facts = [
            element("div", element("dt", name), element("dd", element("bdi", value)))
            for name, value in base_facts(response, shared.hotness)
        ]
        parts.append(element("dl", *facts))
    command = [  # in parts, so that no line ends within an option
        element("span", part, class_="option") if part.startswith("--") else part
        for part in _OPTION.split(shared.command)
    ]
    parts += [element("h3", "The same on the command line")]
    parts += [element("pre", element("code", *command))]
    return _section("How it was searched", "asked", *parts)


def base_facts(response: SearchResponse, hotness: float) -> Iterator[tuple[str, str]]:
    meta = response.meta
    explain = meta.explain or {}
    mode = mode_name(meta.search_mode, meta.search_mode_reason)
    reason = mode_reason(meta)
    yield "mode", f"{mode}: {reason}" if reason else mode
    yield "results", count_words(response)
    yield "searched", f"{meta.in_scope:,} of {format_count(explain['documents'], 'document')}"
    if meta.candidates is not None:
        yield "candidates", candidates_words(meta.candidates, meta.recall or 0.0)
    yield from _filters(meta, explain)
    if meta.search_mode == "two_pass":
        yield from _knobs(explain)
    if explain["reranked"]:
        folder = Path(explain["reranker"])  # or the name of a model
        name = folder.name if folder.is_absolute() else explain["reranker"]
        yield "reranker", f"{name}, on the first {explain['reranked']}"
    if hotness:
        yield "hotness", f"{format_score(hotness)}: documents opened often and recently come first"
    if meta.vector_share < 1.0 and mode != "fast":
        yield "meaning", f"{format_percent(meta.vector_share)} of the texts are found by it so far"


def _filters(meta: SearchMeta, explain: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    names = {entity.id: entity.name for entity in meta.pass1_entities}
    filters = explain["filters"]
    between = [f"{word} {filters[word]}" for word in ("from", "to") if filters[word]]
    values = {
        "path": meta.path_filter,
        "types": ", ".join(filters["types"]),
        "dates": " ".join(between),
        "tags": ", ".join(filters["tags"]),
        "linked to": ", ".join(names.get(id_, id_) for id_ in filters["entities"]),
        "typed filters": " ".join(meta.typed_filters),
        "time asked for": dates_words(meta),
        "pinned": ", ".join(names.get(id_, id_) for id_ in explain["pinned"]),
        "muted": ", ".join(names.get(id_, id_) for id_ in explain["muted"]),
    }
    yield from ((name, value) for name, value in values.items() if value)


def _knobs(explain: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    usual, alpha = Tuning(), explain["hierarchy_alpha"]
    document = round(alpha * 100)
    yield "alpha", f"{format_score(alpha)}: document {document} %, entities {100 - document} %"
    yield "threshold", f"{format_score(explain['hierarchy_threshold'])} for an entity to count"
    if explain["max_entities"] != usual.max_entities:
        yield "entities", f"at most {format_count(explain['max_entities'], 'entity')} count"
    if explain["preset"] != usual.preset:
        yield "ranking", f"that of the {explain['preset']}"
        return  # which stands for the gate and the parent score
    if explain["gate"] != usual.gate:
        yield "gate", explain["gate"]
    if explain["parent"] != usual.parent:
        yield "parent score", explain["parent"]


LOOKS = {
    "document": ("plain", " for what the document says"),
    "entity": ("hatched", " for what it is linked to"),
    "reranker": ("dotted", " for what the reranker adds"),
}
OPEN = 3


def _result_section(shared: SharedSearch) -> Markup:
    results, responses = shared.answer.results, shared.answer.responses.values()
    if not results:
        nothing = element("p", "No document was found.", class_="nothing")
        return _section("Results", "results", nothing)
    is_fast = any(response.meta.search_mode_reason == "fast" for response in responses)
    rows = [
        element("li", _article(rank, own, names_base=len(shared.bases) > 1, is_fast=is_fast))
        for rank, own in enumerate(results, 1)
    ]
    return _section("Results", "results", _legend(results), element("ol", *rows))


def _legend(results: Sequence[OwnedResult]) -> Markup:
    """Return what each part of the bars means that occurs; empty if no document is linked."""
    used = {
        kind for own in results for kind in LOOKS if (own.result.explain or {}).get(f"{kind}_part")
    }
    if used <= {"document"}:
        return Markup()
    words = [
        joined((element("span", look, class_=f"{kind}-word"), meaning))
        for kind, (look, meaning) in LOOKS.items()
        if kind in used
    ]
    return element("p", "The bar of a score: ", joined(words, ", "), ".", class_="dim legend")


def _article(rank: int, own: OwnedResult, *, names_base: bool, is_fast: bool) -> Markup:
    result, explain = own.result, own.result.explain or {}
    parts = {kind: explain.get(f"{kind}_part", 0.0) for kind in LOOKS}
    bar = score_bar(result.score, **{"document": 1.0} if explain.get("exact") else parts)
    title = element("bdi", result.title or result.path)
    reasons = None if result.explain is None else score_reasons(result.explain, fast=is_fast)
    return element(
        "article",
        element("h3", element("span", f"{rank} ", class_="rank"), title),
        _place(own, names_base=names_base),
        element("p", bar, " ", _parts(reasons), class_="sum-line"),
        _passage(result) if result.snippet else Markup(),
        _why(result, reasons, is_open=rank <= OPEN),
    )


def _place(own: OwnedResult, *, names_base: bool) -> Markup:
    result = own.result
    parts = [
        *([element("bdi", own.base)] if names_base else []),
        *(element("span", text) for text in (result.date, result.doc_type) if text),
        element("bdi", f"{result.path}:{result.line}", class_="path"),
    ]
    return element("p", joined(parts, " · "), class_="place dim")


def _parts(reasons: ScoreReasons | None) -> Markup:
    """Return `.43 document + .43 entity`; nothing where that is not how the score is made."""
    if reasons is None or reasons.first:
        return Markup()
    words = " + ".join(f"{format_score(value)} {name}" for value, name in reasons.sums[0].addends)
    return element("span", words, class_="dim")


def _passage(result: SearchResult) -> Markup:
    """Return the passage with the words of the query marked."""
    read = as_read(result.snippet, result.line_breaks)
    text, pieces, position = read.text, list[str](), 0
    for start, end in read.ranges(result.matches):
        pieces += [text[position:start], element("mark", text[start:end])]
        position = end
    pieces.append(text[position:])
    if result.is_cut:
        pieces.append(" …")
    return element("p", *pieces, class_="passage", dir="auto")


def _why(result: SearchResult, reasons: ScoreReasons | None, *, is_open: bool) -> Markup:
    if reasons is None:
        return element("p", "It is linked to an entity, and no more of it is shown.", class_="dim")
    return element(
        "details",
        element("summary", f"Why {format_score(result.score)}"),
        element("p", reasons.first) if reasons.first else Markup(),
        element("div", *map(_sum, reasons.sums), class_="sums"),
        element("p", reasons.last) if reasons.last else Markup(),
        open="" if is_open else None,
    )


def _sum(total: ScoreSum) -> Markup:
    addends = [
        element("li", element("b", format_score(value), class_="score"), " ", element("bdi", words))
        for value, words in total.addends
    ]
    return element(
        "div",
        element("h4", f"{total.name} ", element("b", format_score(total.total), class_="score")),
        element("ul", *addends) if addends else element("p", "0"),
        element("p", total.note, class_="dim") if total.note else Markup(),
    )


MOST_ROWS = 10
"""Further entities are counted: those below the threshold are often many."""


def _entity_section(answer: SeveralResponse) -> Markup:
    parts: list[Markup] = []
    for name, response in answer.responses.items():
        meta = response.meta
        kept = [entity for entity in meta.pass1_entities if entity.id in kept_entities(meta)]
        others = [entity for entity in meta.pass1_entities if entity not in kept]
        if len(answer.responses) > 1 and meta.pass1_entities:
            parts.append(element("h3", element("bdi", name)))
        if kept:
            parts.append(_entity_table(kept, response))
        if others:
            found = format_count(len(others), "entity")
            summary = f"{found} found that {'does' if len(others) == 1 else 'do'} not count"
            table = _entity_table(others, response)
            parts.append(element("details", element("summary", summary), table))
    return _section("Entities", "entities", *parts) if parts else Markup()


def _entity_table(entities: Sequence[PassOneEntity], response: SearchResponse) -> Markup:
    """Return a table with a group of rows for each reason why entities count or do not."""
    counts = Counter(
        entity["id"]
        for result in response.results
        for entity in (result.explain or {}).get("entities", ())
        if entity["share"]
    )
    groups: dict[str, list[Markup]] = {}
    for entity in entities[:MOST_ROWS]:
        group = groups.setdefault(entity_words(entity, response.meta), [])
        group.append(_entity_row(entity, response.meta, counts[entity.id]))
    bodies = [
        element("tbody", element("tr", element("th", words, colspan="2", scope="rowgroup")), *rows)
        for words, rows in groups.items()
    ]
    if len(entities) > MOST_ROWS:
        more = f"and {format_count(len(entities) - MOST_ROWS, 'entity')} more"
        bodies.append(element("tbody", element("tr", element("td", more, colspan="2"))))
    columns = (element("th", column, scope="col") for column in ("Entity", "Score"))
    return element("table", element("thead", element("tr", *columns)), *bodies)


def _entity_row(entity: PassOneEntity, meta: SearchMeta, results: int) -> Markup:
    is_kept = entity.id in kept_entities(meta)
    adds = f"adds to {format_count(results, 'result')}" if is_kept else ""
    details = element("span", " · ".join(filter(None, (entity.type, adds))), class_="dim")
    name = ("● " if is_kept else "○ ", element("bdi", entity.name), " ", details)
    bar = score_bar(entity.score, entity=entity.score, full=NARROW)
    return element("tr", element("th", *name, scope="row"), element("td", bar))


def entity_words(entity: PassOneEntity, meta: SearchMeta) -> str:
    explain = meta.explain or {}
    threshold = format_score(explain["hierarchy_threshold"])
    if entity.id in explain["muted"]:
        return "Muted: ignored"
    if entity.id in kept_entities(meta):
        if entity.id in explain["pinned"]:
            return "Counts: pinned"
        return f"Counts: at or above the threshold of {threshold}"
    if entity.score < explain["hierarchy_threshold"]:
        return f"Below the threshold of {threshold}"
    if meta.search_mode == "two_pass":
        return f"Only the best {explain['max_entities']} count"
    return f"The search is flat: {FLAT_REASONS.get(meta.search_mode_reason, '')}"


class Markup(str):
    """HTML made by `element`. Any other string is text, and is escaped."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | None) -> Markup:
    """Return an element; children that are not `Markup` are its text.

    Control characters are removed from text and values (`safe_line`). An attribute that is None is
    left out; in its name, `_` stands for `-`, and one at the end for nothing: `class_`.
    """
    values = "".join(
        f' {key.removesuffix("_").replace("_", "-")}="{_safe(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name == "meta":  # the only one here without an end tag
        return Markup(f"<{name}{values}>")
    return Markup(f"<{name}{values}>{joined(children)}</{name}>")


def joined(children: Iterable[str], separator: str = "") -> Markup:
    """Return elements and texts, one after the other; texts are escaped."""
    parts = (child if isinstance(child, Markup) else _safe(child) for child in children)
    return Markup(_safe(separator).join(parts))


def _safe(text: str) -> str:
    return escape(safe_line(text), quote=True)


WIDTH, HEIGHT = 160, 10
"""In CSS pixels, of a score of 1."""
NARROW = 90


def score_bar(
    score: float,
    *,
    document: float = 0.0,
    entity: float = 0.0,
    reranker: float = 0.0,
    full: int = WIDTH,
) -> Markup:
    """Return a score in digits, and its parts, each 0..1, as a bar of at most `full` pixels."""
    parts = {"document": document, "entity": entity, "reranker": reranker}
    bars, start = [], 0.0
    for kind, part in parts.items():
        width = min(max(part, 0.0) * full, full - start)
        if width > 0.0:
            bars.append(_rect(start, width, kind))
            start += width
    size = {"width": str(full), "height": str(HEIGHT)}
    drawn = element("svg", _rect(0, full, "track"), *bars, class_="bar", **size, aria_hidden="true")
    digits = element("b", format_score(score), class_="score")
    return element("span", digits, drawn, class_="scored")


def patterns() -> Markup:
    """Return the hatching and the dots that bars refer to; once per page."""
    hatch = element("path", d="M-1 5 5 -1M1 7 7 1", class_="hatch")
    dots = element("circle", cx="2", cy="2", r="1.1", class_="dots")
    return element(
        "svg",
        _pattern("entity-pattern", "6", element("rect", width="6", height="6"), hatch),
        _pattern("reranker-pattern", "4", dots),
        width="0",
        height="0",
        aria_hidden="true",
        class_="patterns",
    )


def _pattern(name: str, size: str, *shapes: Markup) -> Markup:
    return element(
        "pattern", *shapes, id=name, width=size, height=size, patternUnits="userSpaceOnUse"
    )


def _rect(start: float, width: float, kind: str) -> Markup:
    return element("rect", x=f"{start:.1f}", width=f"{width:.1f}", height=str(HEIGHT), class_=kind)

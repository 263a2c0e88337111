"""The page of a search: one HTML file that loads nothing and runs nothing. Pure.

Texts of documents get into it only through `element`, which escapes them. Should one come through
all the same, the policy of the page forbids scripts, requests, forms, and styles other than ours.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from kbx_tui import __version__
from kbx_tui.formatting import format_count, format_percent, format_score, mode_name
from kbx_tui.search.request import Tuning
from kbx_tui.search.results.response import (
    SearchMeta,
    SearchResponse,
    candidates_words,
    count_words,
    dates_words,
    mode_details,
    mode_reason,
)
from kbx_tui.sharing.html_elements import Markup, element, joined, patterns
from kbx_tui.sharing.page_sections import entity_section, result_section
from kbx_tui.sharing.shared_search import SharedSearch

_OPTION = re.compile(r"(--[a-z-]+)")
ABOUT = "This page runs no script and loads nothing. What documents mark as redacted is left out."


def search_page(shared: SharedSearch) -> str:
    answer = shared.answer
    is_several = len(shared.bases) > 1
    is_fast = any(
        response.meta.search_mode_reason == "fast" for response in answer.responses.values()
    )
    return "<!doctype html>\n" + element(
        "html",
        _head(shared),
        element(
            "body",
            patterns(),
            _header(shared),
            element(
                "main",
                entity_section(answer.responses),
                result_section(answer.results, names_base=is_several, is_fast=is_fast),
                _asked(shared),
            ),
            element("footer", element("p", f"Made by kbx_tui {__version__}. {ABOUT}")),
        ),
        lang="en",
    )


def _head(shared: SharedSearch) -> Markup:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex"),
        element("title", f"{shared.answer.query} · {', '.join(shared.bases)}"),
        element("style", Markup(_style())),
    )


def _header(shared: SharedSearch) -> Markup:
    answer = shared.answer
    bases = joined((element("bdi", name) for name in shared.bases), ", ")
    when = f"{shared.when.day} {shared.when:%B %Y, %H:%M %Z}"
    summaries = [
        element("p", f"{name}: " if len(answer.responses) > 1 else "", _summary(response))
        for name, response in answer.responses.items()
    ]
    notes = [element("li", "Note: ", element("bdi", note)) for note in answer.notes]
    return element(
        "header",
        element(
            "p",
            "Search in ",
            bases,
            " · ",
            element("time", when, datetime=shared.when.isoformat(timespec="minutes")),
            class_="dim",
        ),
        element("h1", answer.query, dir="auto"),
        *summaries,
        element("ul", *notes, class_="notes") if notes else Markup(),
    )


def _summary(response: SearchResponse) -> Markup:
    meta = response.meta
    name = mode_name(meta.search_mode, meta.search_mode_reason)
    return joined(
        [element("b", name), " · ", element("bdi", " · ".join(mode_details(response, " results")))]
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
    return element(
        "section",
        element("h2", "How it was searched", id="asked"),
        *parts,
        element("h3", "The same on the command line"),
        element("pre", element("code", *_command(shared.command))),
        class_="asked",
        aria_labelledby="asked",
    )


def _command(line: str) -> list[str]:
    """Return the parts of a command line, such that no line ends within an option."""
    return [
        element("span", part, class_="option") if part.startswith("--") else part
        for part in _OPTION.split(line)
    ]


def _policy() -> str:
    digest = b64encode(sha256(_style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def _style() -> str:
    return files("kbx_tui.sharing").joinpath("page.css").read_text(encoding="utf-8")


Fact = tuple[str, str]
"""A name, and its value in words."""


def base_facts(response: SearchResponse, hotness: float) -> Iterator[Fact]:
    """Yield what to know about the answer of one base; settings only as far as they had effect.

    Alpha and the threshold are always named where entities count, other settings where they differ
    from those that kbx_tui ships.
    """
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
        yield "reranker", f"{_model_name(explain['reranker'])}, on the first {explain['reranked']}"
    if hotness:
        yield "hotness", f"{format_score(hotness)}: documents opened often and recently come first"
    if meta.vector_share < 1.0 and mode != "fast":
        yield "meaning", f"{format_percent(meta.vector_share)} of the texts are found by it so far"


def _model_name(model: str) -> str:
    """Return the name of a model; of one in a folder only its last part."""
    folder = Path(model)
    return folder.name if folder.is_absolute() else model


def _filters(meta: SearchMeta, explain: Mapping[str, Any]) -> Iterator[Fact]:
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


def _knobs(explain: Mapping[str, Any]) -> Iterator[Fact]:
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

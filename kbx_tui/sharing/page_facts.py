"""How a search was asked, as names and values for the top of its page. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kbx_tui.formatting import format_count, format_percent, format_score, mode_name
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.results.meta_words import (
    candidates_words,
    count_words,
    dates_words,
    mode_reason,
)
from kbx_tui.search.results.response import SearchMeta, SearchResponse

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

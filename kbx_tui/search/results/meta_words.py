"""How a search ran, in words. Pure."""

from __future__ import annotations

from kbx_tui.formatting import FLAT_REASONS, format_count, format_percent, join_limited
from kbx_tui.safe_text import safe_line
from kbx_tui.search.results.order import MAX_BY_DATE
from kbx_tui.search.results.response import SearchMeta, SearchResponse


def mode_details(response: SearchResponse, noun: str = "") -> list[str]:
    """Return the reason of the search mode, the time asked for, and the number of results."""
    meta = response.meta
    details = (mode_reason(meta), dates_words(meta), count_words(response, noun))
    return [detail for detail in details if detail]


def mode_reason(meta: SearchMeta) -> str:
    """Return the entities for which the second pass ran, or why it did not."""
    if meta.search_mode == "two_pass":
        kept = kept_entities(meta)
        names = [safe_line(entity.name) for entity in meta.pass1_entities if entity.id in kept]
        return join_limited(names, " + ", limit=2)
    return FLAT_REASONS.get(meta.search_mode_reason, meta.search_mode_reason)


def dates_words(meta: SearchMeta) -> str:
    """Return the time that documents are preferred or filtered by: `prefers March 2026`."""
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
    """Return which documents were scored in a scope too wide to score all."""
    documents = format_count(candidates, "document")
    return (
        f"the {documents} that words, links or the index of vectors find, which holds "
        f"{format_percent(recall)} of the nearest chunks"
    )


def kept_entities(meta: SearchMeta) -> frozenset[str]:
    """Return the ids of the entities that count."""
    return frozenset((meta.explain or {}).get("kept_entities", ()))

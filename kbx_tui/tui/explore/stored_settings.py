"""The settings of a search as they are stored with a query, and in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kbx_tui.errors import KbxError
from kbx_tui.formatting import format_count, format_score
from kbx_tui.safe_text import safe_line
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.tui.explore.search_state import SearchState, knobs_of

USUAL = SearchState(**knobs_of(Tuning()))
"""Settings that equal these are not stored, whatever kbx.toml says."""


def stored_settings(state: SearchState) -> Mapping[str, Any]:
    """Return the settings of a state as JSON values, without its query."""
    values: dict[str, Any] = msgspec.to_builtins(state)
    usual: dict[str, Any] = msgspec.to_builtins(USUAL)
    stored = {name: value for name, value in values.items() if value != usual[name]}
    return {
        name: sorted(value) if name in ("muted", "pinned") else value
        for name, value in stored.items()
        if name != "query"
    }


def state_of(query: str, settings: Mapping[str, Any]) -> SearchState | None:
    """Return the state of a stored query, None if the settings are not valid.

    The file may come from someone else, so no control character of it gets into a field.
    """
    try:
        values = {**msgspec.to_builtins(USUAL), **settings, "query": safe_line(query)}
        state = msgspec.convert(values, SearchState)
        state.request().tuning(Tuning())
    except (msgspec.ValidationError, KbxError):
        return None
    return state if safe_line(state.path) == state.path else None


def settings_words(state: SearchState, usual: SearchState = USUAL) -> str:
    """Return the settings of a stored query in words, without those of `usual`."""
    words = (
        state.mode if state.mode != usual.mode else "",
        f"{state.preset} ranking" if state.preset != usual.preset else "",
        f"in {state.path}" if state.path else "",
        f"alpha {format_score(state.alpha)}" if state.alpha != usual.alpha else "",
        f"threshold {format_score(state.threshold)}" if state.threshold != usual.threshold else "",
        f"{format_count(len(state.muted), 'entity')} muted" if state.muted else "",
        f"{format_count(len(state.pinned), 'entity')} pinned" if state.pinned else "",
        f"dates {state.dates}" if state.dates != usual.dates else "",
        "by date" if state.sort == "date" else "",
        state.extra_words(usual),
    )
    return safe_line(" · ".join(filter(None, words)))

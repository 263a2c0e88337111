"""Settings stored with a query: they come back equal, and invalid ones give no state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from kbx_tui.tui.explore.search_state import (
    USUAL,
    SearchState,
    settings_words,
    state_of,
    stored_settings,
)

CHANGED = replace(
    USUAL,
    query="rollback type:note",
    path="memory/notes",
    mode="flat",
    alpha=0.7,
    muted=frozenset({"person:b", "person:a"}),
    doc_types=("note",),
    since="2026-03",
    sort="date",
)


@pytest.mark.parametrize("state", [replace(USUAL, query="a"), CHANGED])
def test_settings_come_back_from_json(state: SearchState) -> None:
    stored = msgspec.json.decode(msgspec.json.encode(stored_settings(state)))
    assert "query" not in stored
    assert state_of(state.query, stored) == state


def test_usual_settings_are_not_stored() -> None:
    assert stored_settings(replace(USUAL, query="a")) == {}
    assert settings_words(replace(USUAL, query="a")) == ""


@pytest.mark.parametrize(
    "settings", [{"alpha": 7}, {"alpha": "x"}, {"mode": "best"}, {"since": "soon"}, {"muted": 1}]
)
def test_invalid_settings_give_no_state(settings: dict[str, Any]) -> None:
    assert state_of("a", settings) is None


def test_settings_are_shown_in_words() -> None:
    words = "flat · in memory/notes · alpha .70 · 2 entities muted · by date · only note"
    assert settings_words(CHANGED) == f"{words} · from 2026-03"


def test_control_characters_of_a_stored_query_reach_no_field() -> None:
    state = state_of("a\x1b[31mb", {"doc_types": ["x\x1b[2J"]})
    assert state is not None
    assert "\x1b" not in state.query + settings_words(state)
    assert state_of("a", {"path": "memory/\x1b[2J"}) is None

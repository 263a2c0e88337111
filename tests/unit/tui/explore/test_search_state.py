"""The state of a search: its request, undo, and how it is stored."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.request import Tuning
from kbx_tui.tui.explore.search_state import (
    MODES,
    PRESETS,
    USUAL,
    SearchState,
    Undo,
    changed_fields,
    describe_undo,
    is_another_query,
    knobs_of,
    settings_words,
    state_of,
    stored_settings,
)


def undo_after(*states: SearchState) -> Undo:
    undo = Undo()
    for before, after in pairwise(states):
        undo.remember(before, changed_fields(before, after))
    return undo


def test_undo_reverts_one_change_or_one_move_of_a_slider_at_a_time() -> None:
    one, two = SearchState(), SearchState(path="memory")
    three = replace(two, mode="flat")
    undo = undo_after(one, two, three)
    assert undo.back(three) == two
    assert undo.back(two) == one
    assert undo.back(one) is None

    states = [SearchState(alpha=step / 20) for step in range(10, 18)]
    undo = undo_after(*states)
    assert undo.back(states[-1]) == states[0]

    states = [SearchState(alpha=0.5), SearchState(alpha=0.6), SearchState(alpha=0.6, mode="flat")]
    states.append(replace(states[-1], alpha=0.7))
    undo = undo_after(*states)
    assert undo.back(states[-1]) == states[-2]

    states = [SearchState(), SearchState(mode="flat"), SearchState(mode="flat", query="alice")]
    undo = undo_after(*states)
    assert undo.back(states[-1]) == SearchState(query="alice")


def test_undo_is_described_for_every_knob() -> None:
    before = SearchState(alpha=0.7, muted=frozenset({"person:alice-chen"}))
    after = SearchState(alpha=0.5)
    words = describe_undo(before, after, {"person:alice-chen": "Alice Chen"}.__getitem__)
    assert words == "Alice Chen is no longer muted; alpha is .50 again"

    defaults = SearchState(query="a", gate="soft", parent="coverage")
    state = replace(defaults, max_entities=8, gate="hard", parent="max", hotness_weight=0.05)
    assert describe_undo(state, replace(state, gate="soft"), str) == "gate is soft again"


def test_undo_says_who_is_pinned_or_muted_and_who_no_longer() -> None:
    names = {"person:alice-chen": "Alice Chen", "team:platform": "Platform", "tag:ops": "ops"}
    alice, platform, ops = map(frozenset, zip(names))
    without, pinned = SearchState(), SearchState(pinned=platform)
    for before, after, words in (
        (pinned, without, "Platform is no longer pinned"),
        (without, pinned, "Platform is pinned again"),
        (SearchState(muted=platform | ops), without, "Platform, ops are no longer muted"),
        (
            SearchState(pinned=platform),
            SearchState(muted=platform | alice),
            "Alice Chen, Platform are muted again; Platform is no longer pinned",
        ),
    ):
        assert describe_undo(before, after, names.__getitem__) == words


def test_every_knob_of_a_tuning_is_a_field_of_the_state() -> None:
    tuning = Tuning(
        hierarchy=False, alpha=0.3, entity_threshold=0.7, max_entities=8, gate="hard",
        parent="max", hotness_weight=0.1,
    )  # fmt: skip
    state = SearchState(**knobs_of(tuning))
    assert Tuning(**state.tuning_fields) == tuning


@given(
    st.builds(
        SearchState,
        mode=st.sampled_from(MODES),
        preset=st.sampled_from(PRESETS),
        alpha=st.floats(0.0, 1.0),
        threshold=st.floats(0.0, 1.0),
        max_entities=st.integers(1, 20),
        gate=st.sampled_from([None, "soft", "hard"]),
        parent=st.sampled_from([None, "coverage", "max"]),
        hotness_weight=st.floats(0.0, 1.0),
        muted=st.frozensets(st.sampled_from("ab")),
        pinned=st.frozensets(st.sampled_from("bc")),
    )
)
def test_the_request_of_a_state_has_the_same_tuning(state: SearchState) -> None:
    for defaults in (Tuning(), Tuning.seed()):
        if defaults.preset == state.preset:
            fields = {name: knob for name, knob in state.tuning_fields.items() if knob is not None}
            assert state.request().tuning(defaults) == replace(defaults, **fields)


def test_settings_that_no_pane_shows_are_put_in_words() -> None:
    defaults = SearchState(gate="soft", parent="coverage")
    assert replace(defaults, alpha=0.7, path="memory").extra_words(defaults) == ""
    changed = replace(
        defaults, doc_types=("note",), since="2026-03-10", max_entities=1, gate="hard"
    )
    assert (
        changed.extra_words(defaults)
        == "only note · from 2026-03-10 · at most 1 entity · hard gate"
    )


def test_filters_end_with_the_query() -> None:
    state = SearchState(query="a", doc_types=("note",), since="2026", until="2026-03")
    assert state.for_another_query(SearchState()) == SearchState(query="a")
    undone = describe_undo(state, SearchState(query="a", doc_types=("a", "b")), str)
    assert (
        undone
        == "first date is not set any more; last date is not set any more; type is a, b again"
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


def test_settings_are_stored_and_worded_where_they_differ_from_the_usual() -> None:
    assert stored_settings(replace(USUAL, query="a")) == {}
    assert settings_words(replace(USUAL, query="a")) == ""
    words = "flat · in memory/notes · alpha .70 · 2 entities muted · by date · only note"
    assert settings_words(CHANGED) == f"{words} · from 2026-03"


@pytest.mark.parametrize(
    "settings", [{"alpha": 7}, {"alpha": "x"}, {"mode": "best"}, {"since": "soon"}, {"muted": 1}]
)
def test_invalid_settings_give_no_state(settings: dict[str, Any]) -> None:
    assert state_of("a", settings) is None


def test_control_characters_of_a_stored_query_reach_no_field() -> None:
    state = state_of("a\x1b[31mb", {"doc_types": ["x\x1b[2J"]})
    assert state is not None
    assert "\x1b" not in state.query + settings_words(state)
    assert state_of("a", {"path": "memory/\x1b[2J"}) is None


def test_a_replaced_query_is_another_one_and_an_edited_one_is_not() -> None:
    assert is_another_query("pricing in march", "r")  # typed over all of it
    assert is_another_query("pricing in march", "")
    assert is_another_query("pricing in march", "who owns billing")
    assert not is_another_query("pricing in march", "pricing in marc")
    assert not is_another_query("pricing in march", "pricing")
    assert not is_another_query("r", "ro")
    assert not is_another_query("", "r")

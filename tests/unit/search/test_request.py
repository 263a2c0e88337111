"""A search request validates its fields, and applies only the knobs that are set."""

import shlex
from typing import Any

import pytest

from kbx_tui.errors import ConfigError, OutOfRange
from kbx_tui.search.query.typed_filters import without_filter
from kbx_tui.search.request import MAX_QUERY, SearchRequest, Tuning, command_line
from kbx_tui.tui.explore.search_state import SearchState

CONFIGURED = Tuning(alpha=0.3, entity_threshold=0.4, max_entities=7, gate="hard", parent="max")


def test_knobs_that_are_none_keep_the_configured_value() -> None:
    assert SearchRequest("ferry").tuning(CONFIGURED) == CONFIGURED


def test_knobs_that_are_set_replace_the_configured_value() -> None:
    request = SearchRequest(
        "ferry",
        hierarchy=False,
        alpha=0.0,
        threshold=0.9,
        max_entities=1,
        gate="soft",
        parent="coverage",
        hotness=0.2,
        pinned=["person:ada"],
    )
    assert request.tuning(CONFIGURED) == Tuning(
        hierarchy=False,
        alpha=0.0,
        entity_threshold=0.9,
        max_entities=1,
        gate="soft",
        parent="coverage",
        hotness_weight=0.2,
        pinned=frozenset({"person:ada"}),
    )


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("limit", 0, OutOfRange),
        ("feedback", -0.1, OutOfRange),
        ("feedback", float("nan"), OutOfRange),
        ("parts", 1.1, OutOfRange),
        ("since", "soon", ConfigError),
        ("until", "2026-13", ConfigError),
    ],
)
def test_invalid_field_is_rejected(field: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        SearchRequest("ferry", **{field: value})


@pytest.mark.parametrize("knobs", [{"alpha": 1.1}, {"threshold": -1.0}, {"hotness": 2.0}])
def test_knob_out_of_range_is_rejected_by_the_tuning(knobs: dict[str, Any]) -> None:
    with pytest.raises(OutOfRange):
        SearchRequest("ferry", **knobs).tuning(Tuning())


def test_requests_are_hashable_text_without_surrogates_up_to_a_length() -> None:
    listed, tupled = SearchRequest("ferry", tags=["ops"]), SearchRequest("ferry", tags=("ops",))
    assert listed == tupled
    assert hash(listed) == hash(tupled)

    request = SearchRequest("half \ud83d", path="\ud83d.md", tags=["\ud83d"])
    assert (request.query, request.path, request.tags) == ("half ?", "?.md", ("?",))

    request = SearchRequest("word " * 200_000)
    assert (len(request.query), len(request.searched)) == (1_000_000, MAX_QUERY)
    assert SearchRequest("x" * MAX_QUERY).searched == "x" * MAX_QUERY


USUAL = SearchState().request()


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (SearchState("alice"), ["alice"]),
        (SearchState("a b's"), ["a b's"]),
        (SearchState("-x"), ["--", "-x"]),
        (SearchState("a", path="m/*"), ["--path", "m/*", "a"]),
        (SearchState("a", mode="fast", alpha=0.9), ["--fast", "a"]),
        (SearchState("a", mode="flat"), ["--no-hierarchy", "a"]),
        (SearchState("a", preset="seed", gate="hard"), ["--preset", "seed", "a"]),
        (SearchState("a", dates="off"), ["--no-dates", "a"]),
        (SearchState("a", exact=True), ["--exact", "a"]),
        (SearchState("a", as_typed=True), ["--as-typed", "a"]),
        (
            SearchState("a", alpha=0.65, threshold=0.4),
            ["--hierarchy-alpha", "0.65", "--hierarchy-threshold", "0.4", "a"],
        ),
        (
            SearchState("a", max_entities=8, gate="hard", parent="max", hotness_weight=0.05),
            shlex.split("--max-entities 8 --gate hard --parent max --hotness 0.05 a"),
        ),
        (
            SearchState("a", doc_types=("note",), since="2026", until="2026-03"),
            ["--type", "note", "--from", "2026", "--to", "2026-03", "a"],
        ),
    ],
)
def test_settings_of_the_app_that_differ_are_options(state: SearchState, words: list[str]) -> None:
    assert shlex.split(command_line(state.request(), USUAL)) == ["kbx", "search", *words]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (SearchRequest("a"), []),
        (SearchRequest("a", tags=["b", "c"], entities=["d"]), ["--tag", "b,c", "--entity", "d"]),
        (SearchRequest("a", pinned=["b"], muted=["c", "d"]), ["--pin", "b", "--mute", "c,d"]),
        (SearchRequest("a", limit=20, sort="date"), ["--sort", "date", "--limit", "20"]),
        (SearchRequest("a", reranker="m/n"), ["--reranker", "m/n"]),
        (SearchRequest("a", rerank=False), ["--no-reranker"]),
        (SearchRequest("a", preset="seed", dates="prefer"), ["--preset", "seed"]),
    ],
)
def test_options_that_were_given_are_in_the_command(
    request_: SearchRequest, words: list[str]
) -> None:
    assert shlex.split(command_line(request_, USUAL)) == ["kbx", "search", *words, "a"]


def test_options_of_a_command_are_what_differs_from_the_base_and_the_bases() -> None:
    usual = SearchRequest("", alpha=0.7, gate="hard", preset="seed")
    assert command_line(SearchRequest("a"), usual) == "kbx search a"
    assert "--hierarchy-alpha 0.5" in command_line(SearchRequest("a", alpha=0.5), usual)
    line = command_line(SearchRequest("a"), USUAL, ["/my notes", "b"])
    assert line == "kbx search --kb '/my notes' --kb b a"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("what is Ada working on, newest first", "what is Ada working on"),
        ("Newest first: fees", "fees"),
        ("fees (sorted by date)", "fees"),
        ("fees sorted by date, the most recent first?", "fees"),
        ("fees latest first @ada type:note", "fees"),
        ("fees by date", "fees"),
        ("newest first", ""),
    ],
)
def test_order_asked_for_in_words_sorts_and_is_not_searched_for(query: str, text: str) -> None:
    request = SearchRequest(query)
    assert (request.searched, request.order) == (text, "date")
    assert str(request.typed.filters[0]) == "newest first"
    assert SearchRequest(without_filter(query, 0)).order == "score"


@pytest.mark.parametrize(
    "query",
    ["first rehearsal", "latest first draft", "oldest first", '"newest first"', "sell by date"],
)
def test_words_that_ask_for_no_order_stay_words(query: str) -> None:
    assert (SearchRequest(query).searched, SearchRequest(query).order) == (query, "score")

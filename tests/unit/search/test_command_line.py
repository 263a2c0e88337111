"""A search request as the command of a shell."""

from __future__ import annotations

import shlex

import pytest

from kbx_tui.search.request import SearchRequest, command_line
from kbx_tui.tui.explore.search_state import SearchState

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


def test_a_setting_that_is_left_to_the_base_is_not_an_option() -> None:
    usual = SearchRequest("", alpha=0.7, gate="hard", preset="seed")
    assert command_line(SearchRequest("a"), usual) == "kbx search a"
    assert "--hierarchy-alpha 0.5" in command_line(SearchRequest("a", alpha=0.5), usual)


def test_bases_are_named_if_given() -> None:
    line = command_line(SearchRequest("a"), USUAL, ["/my notes", "b"])
    assert line == "kbx search --kb '/my notes' --kb b a"

"""The terms of a query and their weights."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.scores import LEXICAL_WEIGHT, REPEATS_COUNTED
from kbx_tui.search.query.query_terms import (
    MAX_TERMS,
    identifiers,
    lexical_weight,
    searched_terms,
    weighted_terms,
)


def test_request_words_are_left_out_unless_there_are_no_others() -> None:
    assert weighted_terms("Latest updates on Temporal") == ["on", "Temporal"]
    assert weighted_terms("how long did the tide take") == ["the", "tide"]
    assert "long" in weighted_terms("how long do we store the route")
    assert "take" in weighted_terms("what did the long boat take")
    assert weighted_terms("when does Ada leave") == ["Ada", "leave"]
    assert weighted_terms("latest updates") == ["latest", "updates"]
    assert weighted_terms("") == []


def test_a_repeated_word_counts_up_to_three_times_and_a_digit_once() -> None:
    counts = Counter(weighted_terms("texture analysis, texture synthesis " + "log " * 20_000))
    assert counts == {"texture": 2, "analysis": 1, "synthesis": 1, "log": REPEATS_COUNTED}
    assert weighted_terms("reviewer 2") == ["reviewer", "2"]
    assert lexical_weight("reviewer 2") > LEXICAL_WEIGHT


@pytest.mark.parametrize("query", ["pull request 2718", "#138", "error code E5032", "issue 1015"])
def test_identifier_of_a_lookup_counts_three_times(query: str) -> None:
    (identifier,) = identifiers(query)
    counts = Counter(weighted_terms(query))
    assert counts.pop(identifier) == REPEATS_COUNTED
    assert all(count < REPEATS_COUNTED for count in counts.values())
    assert lexical_weight(query) > LEXICAL_WEIGHT


@pytest.mark.parametrize(
    "query",
    ["the local production of N95 masks and gowns", "where did we go on May 3?", "plans for 2026"],
)
def test_number_among_many_words_or_date_is_not_an_identifier(query: str) -> None:
    assert not identifiers(query)
    assert lexical_weight(query) == LEXICAL_WEIGHT


@given(st.text(max_size=400))
def test_number_of_terms_is_bounded_for_any_text(query: str) -> None:
    counts = Counter(weighted_terms(query))
    assert len(counts) <= MAX_TERMS
    assert all(1 <= count <= REPEATS_COUNTED for count in counts.values())


def test_adjacent_words_are_a_term_of_lower_weight() -> None:
    counts = searched_terms("iterator chunking costs").weights
    words = [weight for term, weight in counts.items() if isinstance(term, str)]
    pairs = [weight for term, weight in counts.items() if isinstance(term, tuple)]
    assert (len(words), len(pairs)) == (3, 2)
    assert 0.0 < max(pairs) < min(words)

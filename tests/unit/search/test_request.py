"""A search request validates its fields, and applies only the knobs that are set."""

from __future__ import annotations

from typing import Any

import pytest

from kbx_tui.errors import ConfigError, OutOfRange
from kbx_tui.search.query.filters import Filters
from kbx_tui.search.request import MAX_QUERY, SearchRequest, Tuning

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


def test_filters_are_parsed() -> None:
    request = SearchRequest("ferry", doc_types=["Meeting"], since="2026", tags=["#Ops"])
    assert request.filters == Filters(doc_types=("meeting",), since="2026", tags=("ops",))
    assert SearchRequest("ferry", doc_types=None).filters == Filters()


def test_equal_requests_are_equal_and_hashable() -> None:
    listed, tupled = SearchRequest("ferry", tags=["ops"]), SearchRequest("ferry", tags=("ops",))
    assert listed == tupled
    assert hash(listed) == hash(tupled)


def test_lone_surrogates_in_text_are_replaced() -> None:
    request = SearchRequest("half \ud83d", path="\ud83d.md", tags=["\ud83d"])
    assert (request.query, request.path, request.tags) == ("half ?", "?.md", ("?",))


def test_only_the_beginning_of_a_long_query_is_searched_for() -> None:
    request = SearchRequest("word " * 200_000)
    assert (len(request.query), len(request.searched)) == (1_000_000, MAX_QUERY)
    assert SearchRequest("x" * MAX_QUERY).searched == "x" * MAX_QUERY

"""The contribution of a claim under each weight."""

from __future__ import annotations

from datetime import date

import pytest

from kbx_tui.experts.claims import Claim
from kbx_tui.experts.expert_ranking import (
    Weight,
    contribution_function,
    decay,
    newest_day,
    parse_weight,
)
from kbx_tui.knowledge.records import Fact

NOW = date(2026, 3, 31)
FACT = Fact(
    fact_id=1,
    entity_id="person:ada",
    kind="fact",
    text="Fired the kiln",
    date="2026-03-01",
    path="memory/people/ada.md",
    line=3,
    status="active",
    done=False,
    sources=("a", "b", "a"),
    confidence=0.5,
)
CLAIM = Claim(FACT, ("person:ada",))


@pytest.mark.parametrize(
    ("day", "expected"),
    [("2026-03-31", 1.0), ("2026-03-01", 0.5), ("2026-01-30", 0.25), ("2027-01-01", 1.0), ("", 0)],
)
def test_decay_halves_with_every_half_life(day: str, expected: float) -> None:
    assert decay(day, NOW, 30.0) == pytest.approx(expected)


def test_weights_follow_their_formulas() -> None:
    weights: tuple[Weight, ...] = ("count", "recency", "citation")
    contributions = {weight: contribution_function(weight, NOW, 30.0)(CLAIM) for weight in weights}
    assert contributions == {"count": 1.0, "recency": pytest.approx(0.5), "citation": 2 * 0.5}


@pytest.mark.parametrize(
    ("days", "newest"),
    [
        (["2019-05-01", "2020-02-29", ""], date(2020, 2, 29)),
        (["2026-04-01", "2020-01-01"], date(2020, 1, 1)),  # the first is not reached yet
        (["", ""], NOW),
        ([], NOW),
    ],
)
def test_the_newest_day_is_the_latest_that_has_come(days: list[str], newest: date) -> None:
    assert newest_day(days, NOW) == newest


@pytest.mark.parametrize("name", ["", "COUNT", "loudness", "count "])
def test_unknown_weight_falls_back_to_count(name: str) -> None:
    assert parse_weight(name) == "count"
    assert parse_weight("relevance") == "relevance"

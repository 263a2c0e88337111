from __future__ import annotations

from datetime import date

import pytest

from kbx_tui.experts.claims import Claim
from kbx_tui.experts.weights import contribution, decay, known_weight

NOW = date(2026, 3, 31)
CLAIM = Claim(
    fact_id=1,
    text="Fired the kiln",
    status="active",
    date="2026-03-01",
    path="memory/people/ada.md",
    line=3,
    sources=("a", "b", "a"),
    confidence=0.5,
    entity_ids=("person:ada",),
)


@pytest.mark.parametrize(
    ("day", "worth"),
    [("2026-03-31", 1.0), ("2026-03-01", 0.5), ("2026-01-30", 0.25), ("2027-01-01", 1.0), ("", 0)],
)
def test_every_half_life_halves(day: str, worth: float) -> None:
    assert decay(day, NOW, 30.0) == pytest.approx(worth)


def test_each_weight_has_its_formula() -> None:
    worths = {w: contribution(w, NOW, 30.0)(CLAIM) for w in ("count", "recency", "citation")}
    assert worths == {"count": 1.0, "recency": pytest.approx(0.5), "citation": 2 * 0.5}


@pytest.mark.parametrize("name", ["", "COUNT", "loudness", "count "])
def test_an_unknown_weight_is_count(name: str) -> None:
    assert known_weight(name) == "count"
    assert known_weight("relevance") == "relevance"

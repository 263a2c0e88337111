"""Properties of expert rankings."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.experts.expert_engine import Receipt, decay, newest_day, rank_experts
from kbx_tui.knowledge.records import Entity

NAMES = ["a", "b", "c", "d"]
ENTITIES = {f"person:{name}": Entity(f"person:{name}", name, "person", "") for name in NAMES}

receipts = st.builds(
    Receipt,
    claim_id=st.integers(1, 40),
    text=st.just("x"),
    date=st.just(""),
    path=st.just("p"),
    line=st.just(1),
    status=st.sampled_from(["active", "superseded", "archived", "redacted"]),
    sources=st.lists(st.sampled_from("rst"), max_size=3).map(tuple),
    contribution=st.floats(0, 5),
    share=st.sampled_from([0.5, 1.0]),
)
receipts_by_entity = st.dictionaries(
    st.sampled_from([*ENTITIES, "person:gone"]), st.lists(receipts, max_size=6), max_size=5
)


@given(receipts_by_entity, st.integers(1, 6), st.integers(1, 3))
def test_ranking_is_sorted_and_independent_of_the_limit(
    held: dict[str, list[Receipt]], limit: int, min_claims: int
) -> None:
    def ranked(limit: int) -> list[tuple[bool, float, str]]:
        ranking = rank_experts("t", "count", held, ENTITIES, limit=limit, min_claims=min_claims)
        for expert in ranking.experts:
            assert expert.claim_count >= min_claims
            assert all(receipt.status == "active" for receipt in expert.receipts)
            total = sum(receipt.contribution for receipt in expert.receipts)
            assert expert.score == pytest.approx(total, abs=1e-5)
        return [
            (not expert.full_claim_count, -expert.score, expert.entity_id)
            for expert in ranking.experts
        ]

    whole = ranked(100)
    assert whole == sorted(whole)
    assert ranked(limit) == whole[:limit]
    assert "person:gone" not in {entity_id for *_, entity_id in whole}


NOW = date(2026, 3, 31)


@pytest.mark.parametrize(
    ("day", "expected"),
    [("2026-03-31", 1.0), ("2026-03-01", 0.5), ("2026-01-30", 0.25), ("2027-01-01", 1.0), ("", 0)],
)
def test_decay_halves_with_every_half_life(day: str, expected: float) -> None:
    assert decay(day, NOW, 30.0) == pytest.approx(expected)


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

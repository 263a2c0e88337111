from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import OutOfRange
from kbx_tui.experts.expert_ranking import Receipt, rank_experts
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
)
held = st.dictionaries(
    st.sampled_from([*ENTITIES, "person:gone"]), st.lists(receipts, max_size=6), max_size=5
)


@given(held, st.integers(1, 6), st.integers(1, 3))
def test_ranking_keeps_its_laws(of: dict[str, list[Receipt]], limit: int, min_claims: int) -> None:
    def ranked(at_most: int) -> list[tuple[float, str]]:
        found = rank_experts(
            "t", "count", of, ENTITIES, limit=at_most, min_claims=min_claims
        ).experts
        for one in found:
            assert one.claim_count >= min_claims
            assert all(receipt.status == "active" for receipt in one.receipts)
            assert one.score == pytest.approx(sum(r.contribution for r in one.receipts), abs=1e-5)
        return [(-one.score, one.entity_id) for one in found]

    whole = ranked(100)
    assert whole == sorted(whole)
    assert ranked(limit) == whole[:limit]
    assert "person:gone" not in {entity_id for _, entity_id in whole}


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_one_or_more(limit: int) -> None:
    with pytest.raises(OutOfRange, match="limit"):
        rank_experts("t", "count", {}, ENTITIES, limit=limit, min_claims=1)

"""Parts sum to scores, their differences to the difference, and what is shown sums as shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kbx_tui.errors import OutOfRange
from kbx_tui.formatting import format_change, format_score
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.reranking import RerankerScores
from kbx_tui.search.ranking.explain import explain_pair, score_parts
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from tests.unit.search.building import components, entity, evidence, some_evidence, some_tuning


@given(some_evidence(), some_tuning(), st.floats(0.0, 1.0))
def test_parts_sum_to_the_score(found: Evidence, tuning: Tuning, probability: float) -> None:
    found = replace(found, reranker=RerankerScores("model", {0: probability, 2: 0.5}))
    ranking = rank(found, tuning)
    for row in ranking.order.tolist():
        parts = score_parts(ranking, row)
        assert sum(parts.values()) == pytest.approx(float(ranking.final[row]), abs=1e-9)


@given(some_evidence(), some_tuning(), st.data())
def test_differences_sum_as_they_are_shown(
    found: Evidence, tuning: Tuning, data: st.DataObject
) -> None:
    ranking = rank(found, tuning)
    order = ranking.order.tolist()
    assume(len(order) > 1)
    first, second = data.draw(st.lists(st.sampled_from(order), min_size=2, max_size=2, unique=True))
    pair = explain_pair(ranking, first, second)
    assert order.index(pair.ahead.row) < order.index(pair.behind.row)
    assert pair.difference >= 0.0
    thousandths = [round(float(format_change(part.shown)) * 1000) for part in pair.parts]
    assert sum(thousandths) == round(float(format_score(pair.difference, 3)) * 1000)
    assert bool(pair.tie_rule) == (pair.difference == 0.0)


def test_the_sentence_names_the_parts_that_differ() -> None:
    found = evidence(
        components([9.0, 9.5], [0.5, 0.5]),
        entities=[(entity(1, 1.0, named=True), {0: 1.0, 1: 0.5})],
    )
    pair = explain_pair(rank(found, Tuning()), 1, 0)
    assert pair.text("Rollback", "Cut-over") == (
        "Rollback beats Cut-over by .246: entity +.250, words -.004"
    )


def test_the_sentence_says_what_decides_a_tie() -> None:
    found = evidence(components([9.0, 9.0], [0.5, 0.5]), dates=["2026-01-02", "2026-03-04"])
    pair = explain_pair(rank(found, Tuning()), 0, 1)
    assert pair.text("A", "B") == "A ties with B and comes first by its date"


def test_a_document_without_a_score_has_no_rank_to_explain() -> None:
    found = evidence(components([9.0, 0.0], [0.5, 0.0]))
    with pytest.raises(OutOfRange, match="is not a result"):
        explain_pair(rank(found, Tuning()), 0, 1)

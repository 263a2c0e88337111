"""Ranking under many tunings at once is ranking under each."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import OutOfRange
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.reranking import RerankerScores
from kbx_tui.search.ranking.alpha import ScoreLines, best_of_each
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from tests.unit.search.building import components, entity, evidence, some_evidence, some_tuning

unit = st.floats(0.0, 1.0)


def one_by_one(found: Evidence, tunings: list[Tuning], limit: int) -> list[list[int]]:
    """Return the best rows under each tuning, from as many calls of `rank`."""
    return [rank(found, tuning).best(limit).tolist() for tuning in tunings]


def at_once(found: Evidence, tunings: list[Tuning], limit: int) -> list[list[int]]:
    return [
        [row for row in best if row >= 0] for best in best_of_each(found, tunings, limit).tolist()
    ]


@given(some_evidence(), st.lists(some_tuning(), max_size=6), st.integers(1, 14))
def test_many_tunings_rank_as_each_of_them(
    found: Evidence, tunings: list[Tuning], limit: int
) -> None:
    assert at_once(found, tunings, limit) == one_by_one(found, tunings, limit)


@given(some_evidence(), some_tuning(), st.lists(st.tuples(unit, unit), max_size=8))
def test_a_grid_of_alpha_and_threshold_ranks_as_each_of_its_points(
    found: Evidence, tuning: Tuning, grid: list[tuple[float, float]]
) -> None:
    tunings = [
        replace(tuning, alpha=alpha, entity_threshold=threshold) for alpha, threshold in grid
    ]
    assert at_once(found, tunings, 3) == one_by_one(found, tunings, 3)


@given(some_evidence(), some_tuning(), unit)
def test_scores_on_the_lines_are_those_of_rank(
    found: Evidence, tuning: Tuning, alpha: float
) -> None:
    lines, ranking = ScoreLines.of(rank(found, tuning)), rank(found, replace(tuning, alpha=alpha))
    final = lines.final(np.array([alpha]))[0]
    is_result = ranking.included[lines.rows]
    assert ranking.included.sum() == is_result.sum()
    assert (final[is_result] == ranking.final[lines.rows][is_result]).all()
    assert (final[~is_result] < 0.0).all()


def test_few_of_many_documents_may_be_among_the_best() -> None:
    generator = np.random.default_rng(5)
    size = 4000
    linked = {row: float(generator.random()) for row in range(0, size, 3)}
    found = evidence(
        components((generator.random(size) * 30).tolist(), generator.random(size).tolist()),
        entities=[(entity(1, 1.0, named=True), linked)],
    )
    ranking = rank(found, Tuning())
    lines, alphas = ScoreLines.of(ranking, 10), np.linspace(0.0, 1.0, 101)
    assert len(lines) < 200
    assert (lines.best(alphas, 10) == ScoreLines.of(ranking).best(alphas, 10)).all()


def test_a_reranker_counts() -> None:
    found = evidence(
        components([9.0, 8.0, 7.0], [0.5, 0.5, 0.5]),
        entities=[(entity(1, 1.0, named=True), {0: 1.0, 1: 0.9})],
    )
    found = replace(found, topic=None, reranker=RerankerScores("model", {2: 1.0}))
    tunings = [Tuning(), Tuning(alpha=1.0)]
    assert at_once(found, tunings, 3) == one_by_one(found, tunings, 3)


def test_evidence_for_one_tuning_is_refused() -> None:
    found = replace(evidence(components([9.0], [0.5])), only_for=Tuning())
    with pytest.raises(OutOfRange, match="holds only what one search needed"):
        best_of_each(found, [Tuning(), Tuning(alpha=0.1)], 3)

"""A setting is offered only if it wins on queries that did not choose it."""

import numpy as np
import pytest

from kbx_tui.evaluation.judged_evidence import JudgedEvidence
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.optimise import FEWEST_QUERIES, advise
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.request import Tuning
from tests.unit.search.building import components, entity, evidence

DOCUMENTS = 12


def some_query(number: int, relevant: int) -> tuple[JudgedQuery, Evidence]:
    """Return a query whose document 0 says most, and whose person is linked to document 1."""
    generator = np.random.default_rng(number)
    bm25 = [40.0, 6.0, *(generator.random(DOCUMENTS - 2) * 5.0 + 1.0).tolist()]
    found = evidence(
        components(bm25, [0.9, 0.4, *[0.35] * (DOCUMENTS - 2)], query=f"query {number}"),
        entities=[(entity(1, 1.0, named=True), {1: 1.0, **dict.fromkeys(range(2, 8), 0.3)})],
    )
    grades = {found.paths[relevant]: 3}
    return JudgedQuery(f"q{number}", found.query, "own", grades, frozenset()), found


def kept(relevant: list[int]) -> JudgedEvidence:
    """Return as many queries, each with this one relevant document."""
    pairs = [some_query(number, row) for number, row in enumerate(relevant)]
    found = {query.text: each for query, each in pairs}
    queries = [query for query, _ in pairs]
    return JudgedEvidence.read(queries, found.__getitem__, 1, Tuning(), limit=10**9)


def test_a_clearly_better_setting_is_offered() -> None:
    advice = advise(kept([1] * 30), Tuning(alpha=1.0))
    assert advice.wins
    assert advice.best.alpha < 1.0
    assert advice.gain > 0.1
    assert advice.after > advice.before
    assert advice.verdict.startswith("change: +")
    assert list(advice.changes) == ["hierarchy_alpha"]
    assert advice.more_queries == 0


def test_what_is_best_already_or_harms_others_is_kept() -> None:
    advice = advise(kept([1] * 30), Tuning(alpha=0.2))
    assert not advice.wins
    assert advice.best == advice.current
    assert advice.verdict == "keep what you have: no other setting is better on your judged queries"

    generator = np.random.default_rng(3)
    advice = advise(kept(generator.integers(0, 2, 40).tolist()), Tuning())
    assert not advice.wins
    assert advice.verdict.startswith("keep what you have")


def test_few_or_undecided_queries_choose_nothing_and_say_how_many_would() -> None:
    advice = advise(kept([1] * (FEWEST_QUERIES - 1)), Tuning(alpha=1.0))
    assert not advice.wins
    assert advice.verdict == "keep what you have: 9 judged queries are too few to choose by"
    assert advice.more_queries > 0
    assert not advise(JudgedEvidence(1), Tuning()).wins

    advice = advise(kept([1] * 8 + [0] * 6), Tuning(alpha=1.0))
    assert not advice.wins
    assert advice.changes
    assert f"about {advice.more_queries} more judged queries would settle it" in advice.verdict
    assert advice.more_queries > 0


def test_advice_is_repeatable_keeps_the_knobs_of_the_seed_and_looks_at_its_queries_alone() -> None:
    both = kept([1] * 20 + [0] * 20)
    half = advise(both, Tuning(alpha=1.0), np.arange(20))
    assert half.queries == 20
    assert half.gain == pytest.approx(advise(kept([1] * 20), Tuning(alpha=1.0)).gain)

    first, second = (advise(kept([1, 0] * 10), Tuning()) for _ in range(2))
    assert first == second

    advice = advise(kept([1] * 30), Tuning.seed(alpha=1.0))
    assert advice.best.gate == "hard"
    assert advice.best.parent == "max"

"""Comparing a text with stored facts."""

import numpy as np
import pytest

from kbx_tui.config import DedupSettings
from kbx_tui.embedding.embedder import BUNDLED
from kbx_tui.similarity import judging
from kbx_tui.similarity.comparisons import (
    Comparison,
    find_similar_facts,
    score_facts,
    shown_matches,
)
from kbx_tui.similarity.conflict_guard import Conflict, find_conflicts
from kbx_tui.similarity.fact_vectors import CandidateText, FactVectors
from kbx_tui.similarity.pair_score import Scale, calibration_of
from tests.unit.similarity.building import embed_facts, make_fact
from tests.unit.similarity.letters import Letters

TEXT = "ships 5 releases a year"


def arguments(
    facts: FactVectors, threshold: float | None = None
) -> tuple[CandidateText, FactVectors, Scale]:
    candidate = CandidateText(TEXT, Letters().embed_query(TEXT))
    return candidate, facts, Scale(calibration_of(BUNDLED.name), DedupSettings(), threshold)


def compare(facts: FactVectors, limit: int, threshold: float | None = None) -> Comparison:
    return find_similar_facts(*arguments(facts, threshold), limit=limit)


def all_scores(facts: FactVectors, threshold: float | None = None) -> list[float]:
    candidate, _, scale = arguments(facts, threshold)
    scored = score_facts(candidate, facts, scale, limit=100, within=None)
    return [fact.score for fact in scored if scale.listed(fact.pair, fact.threshold)]


def facts_with(*texts: str) -> FactVectors:
    return embed_facts(*(make_fact(text, line=line) for line, text in enumerate(texts, 1)))


def test_all_matches_if_any_are_returned_best_first_whatever_the_limit() -> None:
    facts = facts_with("ships 5 releases a year now", "ships 5 releases every year", TEXT, "sings")
    scores = all_scores(facts)
    assert len(scores) >= 2
    for limit in range(1, len(scores) + 1):
        found = compare(facts, limit)
        assert [match.score for match in found.matches] == scores
        assert found.nearest[0].score == scores[0] == 1.0

    assert compare(facts_with(), 5) == Comparison([], ())


def test_a_duplicate_ranked_below_the_limit_still_counts_as_similar() -> None:
    conflicting = [f"ships {number} releases a year" for number in (3, 4, 6, 7)]
    facts = facts_with(*conflicting, "ships 5 releases of it a year")
    found = compare(facts, 2)
    # all conflicting ones have the same score
    assert [match.is_similar for match in found.matches] == [False] * 4 + [True]
    assert [match.is_similar for match in shown_matches(found.matches, 2)] == [False, True]
    found = compare(facts_with(*conflicting), 2)
    assert not any(match.is_similar for match in found.matches)


def test_conflicts_are_described_only_in_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = facts_with(*(f"ships {n} releases a year {'x' * n}" for n in range(6, 26)))
    assert len(all_scores(facts, 0.6)) > 10
    described = []

    def counted(left: str, right: str) -> tuple[Conflict, ...]:
        described.append(right)
        return find_conflicts(left, right)

    monkeypatch.setattr(judging, "find_conflicts", counted)
    shown = shown_matches(compare(facts, 2, 0.6).matches, 2)
    assert not any(match.is_similar for match in shown)
    assert {match.relation for match in shown} == {"conflict"}
    assert sorted(described) == sorted(match.text for match in shown)


def test_nearest_facts_within_a_mask_agree_with_a_full_scan() -> None:
    random = np.random.default_rng(5)
    facts = facts_with(
        *("".join(random.choice(list("abcdefg ")) for _ in range(9)) for _ in range(200))
    )
    vector, within = Letters().embed_query("a bad cab"), random.random(200) < 0.4
    rows = facts.nearest(vector, 10, within)
    cosines = facts.vectors @ vector
    assert within[rows].all()
    np.testing.assert_allclose(
        np.sort(facts.cosines(vector, rows)), np.sort(cosines[within])[-10:], atol=1e-6
    )

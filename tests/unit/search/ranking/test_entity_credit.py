"""What entities add to the scores of documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kbx_tui.search.evidence.evidence import Evidence, Topic
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from tests.unit.search.building import components, entity, evidence

ADA = entity(1, 1.0, named=True)
FERRY = replace(entity(2, 1.0, named=True), type="project")
HALF = components([0.0, 0.0], [0.6, 0.6])
SHARE = float(HALF.doc_relevance[0]) / 0.25


def found_with(*, topic: Topic | None, thing_strength: float = 0.5) -> Evidence:
    return evidence(
        HALF, entities=[(ADA, {0: 0.8, 1: 0.8}), (FERRY, {0: thing_strength})], topic=topic
    )


def test_link_of_a_person_is_scaled_by_how_fully_the_document_answers() -> None:
    found = evidence(HALF, entities=[(ADA, {0: 0.8})], topic=Topic(0.25))
    assert rank(found, Tuning()).parent_entity_score[0] == pytest.approx(0.8 * SHARE**0.75)


def test_topic_that_tells_little_scales_the_link_of_a_person_less() -> None:
    scores = components([0.0, 0.0], [0.6, 0.0])
    topic = Topic(float(scores.doc_relevance[0]) / 0.25, weight=0.4)
    found = evidence(scores, entities=[(ADA, {0: 0.8, 1: 0.8})], topic=topic)
    answered = 1.0 - 0.4 * (1.0 - 0.25**0.75)
    credit = rank(found, Tuning()).parent_entity_score
    assert credit.tolist() == pytest.approx([0.8 * answered, 0.0])  # the second says nothing


def test_things_weigh_a_little_less_and_passing_mentions_hardly_count() -> None:
    ada, ferry = rank(found_with(topic=Topic(0.25)), Tuning()).credit.credits(
        slice(None), HALF.doc_relevance
    )
    assert [ada.weight, ferry.weight] == pytest.approx([1 / 1.85, 0.85 / 1.85])
    assert ada.link_strength.tolist() == [0.8, 0.8]
    assert ferry.link_strength.tolist() == [0.5**4, 0.0]


def test_link_to_the_thing_that_is_the_topic_lets_people_count_in_full() -> None:
    ranking = rank(found_with(topic=Topic(0.9, thing_share=1.0), thing_strength=1.0), Tuning())
    ada, ferry = ranking.credit.credits(slice(None), np.zeros(2))
    assert ada.answered.tolist() == [1.0, 0.0]
    assert ferry.answered.tolist() == [1.0, 1.0]


def test_credits_sum_to_the_parent_score() -> None:
    ranking = rank(found_with(topic=Topic(0.25, 0.5)), Tuning())
    of_each = ranking.credit.credits(slice(None), ranking.doc_relevance)
    totals = sum(credit.total for credit in of_each)
    np.testing.assert_allclose(ranking.parent_entity_score, totals)


def test_seed_weighs_all_alike_and_asks_for_no_answer() -> None:
    ranking = rank(found_with(topic=Topic(0.25)), replace(Tuning.seed(), gate="soft"))
    for credit in ranking.credit.credits(slice(None), ranking.doc_relevance):
        assert credit.weight == 1.0
        assert set(credit.answered.tolist()) == {1.0}
    assert ranking.parent_entity_score.tolist() == [1.0, 1.0]

"""How fully a document answers a topic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.evidence import Topic
from tests.unit.search.building import some_topic, unit

RELEVANCE = np.array([0.0, 0.1, 0.2, 0.4, 0.9])
NONE, FULL = np.zeros(5), np.ones(5)


def test_answer_is_the_share_of_a_full_one_to_the_power_of_one_and_a_half() -> None:
    answered = Topic(0.4).answered(RELEVANCE)
    assert answered.tolist() == pytest.approx([0.0, 0.25**1.5, 0.5**1.5, 1.0, 1.0])


def test_people_are_credited_with_the_square_root_of_the_answer() -> None:
    topic = Topic(0.4)
    credited = topic.for_people(RELEVANCE, NONE)
    assert credited.tolist() == pytest.approx(np.sqrt(topic.answered(RELEVANCE)).tolist())


def test_link_to_a_thing_answers_the_part_of_the_topic_that_names_it() -> None:
    topic = Topic(0.4, thing_share=0.7)
    assert topic.for_people(NONE, FULL)[0] == pytest.approx(0.7)
    assert topic.for_people(NONE, FULL / 2)[0] == pytest.approx(0.7 * 0.5**4)
    assert topic.for_people(FULL, NONE)[0] == pytest.approx(1.0)  # words tell as much as a link


def test_thing_needs_no_answer_for_its_own_name() -> None:
    assert Topic(0.4, thing_share=1.0).for_things(NONE).tolist() == [1.0] * 5
    assert Topic(0.4, thing_share=0.7).for_things(NONE)[0] == pytest.approx(0.7)
    assert Topic(0.4, thing_share=0.0).for_things(RELEVANCE)[2] == pytest.approx(0.5**0.75)


@given(some_topic(), unit, unit, unit, st.floats(0.0, 0.5))
def test_more_relevance_or_a_stronger_link_never_lowers_a_factor(
    topic: Topic, relevance: float, more: float, strength: float, stronger: float
) -> None:
    before, after = np.array([relevance]), np.array([relevance + more])
    link = np.array([strength])
    for low, high in (
        (topic.answered(before), topic.answered(after)),
        (topic.for_things(before), topic.for_things(after)),
        (topic.for_people(before, link), topic.for_people(after, link + stronger)),
    ):
        assert 0.0 <= low[0] <= high[0] + 1e-12


@given(some_topic(), unit, unit)
def test_factors_are_within_0_and_1(topic: Topic, relevance: float, strength: float) -> None:
    scores, link = np.array([relevance]), np.array([strength])
    factors = topic.answered(scores), topic.for_things(scores), topic.for_people(scores, link)
    assert all(0.0 <= factor[0] <= 1.0 + 1e-12 for factor in factors)

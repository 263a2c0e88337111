"""How fully a document answers a topic."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kbx_tui.search.evidence.evidence import DateMatch, EntityCandidate, Evidence, Topic
from kbx_tui.search.evidence.scores import ComponentScores
from kbx_tui.search.ranking.rank import FEW_RESULTS, Ranking, rank
from kbx_tui.search.request import Gate, Tuning
from tests.unit.search.building import (
    components,
    entity,
    evidence,
    preference,
    some_evidence,
    some_preference,
    some_topic,
    some_tuning,
    unit,
)

RELEVANCE = np.array([0.0, 0.1, 0.2, 0.4, 0.9])
NONE, FULL = np.zeros(5), np.ones(5)


def test_a_document_answers_the_share_of_a_full_answer_to_a_power() -> None:
    answered = Topic(0.4).answered(RELEVANCE)
    assert answered.tolist() == pytest.approx([0.0, 0.25**1.5, 0.5**1.5, 1.0, 1.0])

    topic = Topic(0.4)
    credited = topic.for_people(RELEVANCE, NONE)
    assert credited.tolist() == pytest.approx(np.sqrt(topic.answered(RELEVANCE)).tolist())


def test_a_thing_answers_the_part_of_the_topic_that_names_it() -> None:
    topic = Topic(0.4, thing_share=0.7)
    assert topic.for_people(NONE, FULL)[0] == pytest.approx(0.7)
    assert topic.for_people(NONE, FULL / 2)[0] == pytest.approx(0.7 * 0.5**4)
    assert topic.for_people(FULL, NONE)[0] == pytest.approx(1.0)  # words tell as much as a link

    assert Topic(0.4, thing_share=1.0).for_things(NONE).tolist() == [1.0] * 5
    assert Topic(0.4, thing_share=0.7).for_things(NONE)[0] == pytest.approx(0.7)
    assert Topic(0.4, thing_share=0.0).for_things(RELEVANCE)[2] == pytest.approx(0.5**0.75)


@given(some_topic(), unit, unit, unit, st.floats(0.0, 0.5))
def test_factors_are_within_0_and_1_and_more_relevance_or_links_lower_none(
    topic: Topic, relevance: float, more: float, strength: float, stronger: float
) -> None:
    before, after = np.array([relevance]), np.array([relevance + more])
    link = np.array([strength])
    for low, high in (
        (topic.answered(before), topic.answered(after)),
        (topic.for_things(before), topic.for_things(after)),
        (topic.for_people(before, link), topic.for_people(after, link + stronger)),
    ):
        assert 0.0 <= low[0] <= min(high[0], 1.0) + 1e-12


Found = tuple[EntityCandidate, Mapping[int, float]]
SIZE = 5
NOTHING, ANSWER = 0, 1
"""Rows of a document that says nothing of the topic, and of one that answers it fully."""

strengths = st.dictionaries(st.integers(0, SIZE - 1), unit)
alphas = st.builds(Tuning, alpha=unit)


@st.composite
def some_entities(draw: st.DrawFn) -> list[Found]:
    """Draw people and, perhaps, a project, named in full or not, with their links."""
    found: list[Found] = [
        (entity(number, 1.0 if named else draw(st.floats(0.5, 1.0)), named=named), draw(strengths))
        for number, named in enumerate(draw(st.lists(st.booleans(), min_size=1, max_size=3)))
    ]
    if draw(st.booleans()):
        found.append((replace(entity(9, 1.0, named=True), type="project"), draw(strengths)))
    found.sort(key=lambda pair: -pair[0].score)
    return found


def found_for(
    scores: ComponentScores, entities: list[Found], topic: Topic | None = None
) -> Evidence:
    return evidence(
        scores, entities=[(candidate, dict(links)) for candidate, links in entities], topic=topic
    )


@st.composite
def some_scores(draw: st.DrawFn) -> ComponentScores:
    numbers = st.lists(st.floats(0.0, 30.0), min_size=SIZE, max_size=SIZE)
    return components(draw(numbers), draw(st.lists(unit, min_size=SIZE, max_size=SIZE)))


def moved(scores: ComponentScores, row: int, relevance: float) -> ComponentScores:
    """Return scores with another relevance of one document."""
    changed = scores.doc_relevance.copy()
    changed[row] = relevance
    return replace(scores, doc_relevance=changed)


@given(some_topic(), some_entities(), alphas, st.floats(0.0, 0.29), unit)
def test_saying_nothing_of_the_topic_never_outranks_a_full_answer(
    topic: Topic, entities: list[Found], tuning: Tuning, cosine: float, more: float
) -> None:
    bm25 = [0.0, 1000.0]  # of NOTHING and ANSWER
    scores = components(bm25, [cosine, 1.0])
    assert scores.doc_relevance[NOTHING] == 0.0
    topic = replace(topic, full_relevance=float(scores.doc_relevance[ANSWER]) / (1.0 + more))
    people = [
        (candidate, {row: strength for row, strength in links.items() if row < len(bm25)})
        for candidate, links in entities
    ]
    for candidate, links in people:
        if candidate.is_named_thing:  # a link to a thing is about the topic
            links.pop(NOTHING, None)
    ranking = rank(found_for(scores, list(people), topic), tuning)
    order = ranking.order.tolist()
    assert ranking.final[NOTHING] <= ranking.final[ANSWER]
    assert NOTHING not in order or order.index(ANSWER) < order.index(NOTHING)


@given(some_scores(), some_entities(), st.none() | some_topic(), some_tuning(), st.data())
def test_new_or_stronger_link_never_lowers_a_document(
    scores: ComponentScores,
    entities: list[Found],
    topic: Topic | None,
    tuning: Tuning,
    data: st.DataObject,
) -> None:
    row = data.draw(st.integers(0, SIZE - 1))
    number = data.draw(st.integers(0, len(entities) - 1))
    candidate, links = entities[number]
    stronger = {**links, row: data.draw(st.floats(links.get(row, 0.0), 1.0))}
    after = [*entities[:number], (candidate, stronger), *entities[number + 1 :]]
    before = rank(found_for(scores, entities, topic), tuning)
    ranking = rank(found_for(scores, after, topic), tuning)
    assume(before.kept == ranking.kept)  # without any link, a ranking is flat
    # The number of links decides how much less counts what belongs to none of the people.
    assume(before.unlinked_factor == ranking.unlinked_factor)
    assert ranking.final[row] >= before.final[row] - 1e-12
    others = np.arange(SIZE) != row
    np.testing.assert_array_equal(ranking.final[others], before.final[others])


@given(some_scores(), some_entities(), st.none() | some_topic(), some_tuning(), st.data())
def test_more_relevance_never_lowers_a_document(
    scores: ComponentScores,
    entities: list[Found],
    topic: Topic | None,
    tuning: Tuning,
    data: st.DataObject,
) -> None:
    row = data.draw(st.integers(0, SIZE - 1))
    relevance = data.draw(st.floats(float(scores.doc_relevance[row]), 1.0))
    before = rank(found_for(scores, entities, topic), tuning)
    after = rank(found_for(moved(scores, row, relevance), entities, topic), tuning)
    assert after.final[row] >= before.final[row] - 1e-12


@given(some_evidence(), some_tuning(), unit)
def test_score_is_linear_in_alpha(found: Evidence, tuning: Tuning, alpha: float) -> None:
    entity_end, document_end = (rank(found, replace(tuning, alpha=end)) for end in (0.0, 1.0))
    between = rank(found, replace(tuning, alpha=alpha)).final
    if entity_end.kept:
        line = (1.0 - alpha) * entity_end.final + alpha * document_end.final
        np.testing.assert_allclose(between, line, atol=1e-12)


@given(some_scores(), st.lists(strengths, min_size=1, max_size=4), alphas)
def test_without_a_topic_the_score_blends_relevance_with_the_mean_of_the_links(
    scores: ComponentScores, links: list[dict[int, float]], tuning: Tuning
) -> None:
    people = [(entity(number, 1.0, named=True), linked) for number, linked in enumerate(links)]
    ranking = rank(evidence(scores, entities=people), tuning)
    assume(ranking.kept)
    mean = [sum(linked.get(row, 0.0) for linked in links) / len(links) for row in range(SIZE)]
    plain = tuning.alpha * scores.doc_relevance + (1.0 - tuning.alpha) * np.array(mean)
    np.testing.assert_allclose(ranking.final, plain, atol=1e-12)


@given(some_evidence(), some_tuning(), st.data())
def test_date_preference_never_lowers_a_document_of_that_time(
    found: Evidence, tuning: Tuning, data: st.DataObject
) -> None:
    wanted = data.draw(some_preference(len(found), found.topic))
    without = rank(replace(found, date_preference=None), tuning)
    with_dates = rank(replace(found, date_preference=wanted), tuning)
    inside = wanted.matches >= DateMatch.NAMED
    assert (with_dates.final[inside] >= without.final[inside] - 1e-12).all()
    assert with_dates.kept == without.kept


@given(some_evidence(), some_tuning(), st.data())
def test_being_of_that_time_never_lowers_a_document_and_changes_no_other(
    found: Evidence, tuning: Tuning, data: st.DataObject
) -> None:
    assume(len(found) > 1)
    wanted = data.draw(some_preference(len(found), found.topic))
    row = data.draw(st.integers(0, len(found) - 1))
    finals = []
    for match in (DateMatch.NONE, DateMatch.DATED):
        matches = wanted.matches.copy()
        matches[row] = match
        matches[row - 1] = DateMatch.DATED  # so that it applies in both cases
        changed = replace(wanted, matches=matches)
        finals.append(rank(replace(found, date_preference=changed), tuning).final)
    others = np.arange(len(found)) != row
    assert finals[1][row] >= finals[0][row] - 1e-12
    np.testing.assert_array_equal(finals[0][others], finals[1][others])


@given(some_evidence(), some_tuning(), st.data())
def test_dates_that_no_document_in_scope_is_of_change_nothing(
    found: Evidence, tuning: Tuning, data: st.DataObject
) -> None:
    wanted = data.draw(some_preference(len(found), found.topic))
    nothing = replace(wanted, matches=np.zeros(len(found), np.int8))
    without = rank(replace(found, date_preference=None), tuning)
    with_dates = rank(replace(found, date_preference=nothing), tuning)
    np.testing.assert_array_equal(with_dates.final, without.final)
    np.testing.assert_array_equal(with_dates.order, without.order)


@given(some_topic(), some_entities(), alphas, st.floats(0.0, 0.49), st.booleans())
def test_saying_nothing_at_the_right_time_never_outranks_a_full_answer_linked_alike(
    topic: Topic, entities: list[Found], tuning: Tuning, weight: float, is_flat: bool
) -> None:
    scores = components([0.0, 1000.0], [0.0, 1.0])
    topic = replace(topic, full_relevance=float(scores.doc_relevance[ANSWER]))
    alike = [(candidate, dict.fromkeys(range(2), max(links.values(), default=0.0)))
             for candidate, links in entities if not candidate.is_named_thing]  # fmt: skip
    wanted = preference([DateMatch.DATED, DateMatch.NONE], topic.full_relevance, weight)
    found = replace(found_for(scores, list(alike), topic), date_preference=wanted)
    ranking = rank(found, replace(tuning, hierarchy=not is_flat))
    assert ranking.final[NOTHING] <= ranking.final[ANSWER] + 1e-12


@given(some_topic(), st.lists(unit, min_size=2, max_size=2), st.floats(0.0, 0.49), st.booleans())
def test_answering_more_never_lowers_a_document_of_that_time(
    topic: Topic, cosines: list[float], weight: float, is_flat: bool
) -> None:
    scores = components([0.0, 0.0, 0.0], [*sorted(cosines), 0.0])
    wanted = preference([DateMatch.DATED] * 3, topic.full_relevance, weight)
    found = replace(found_for(scores, [], topic), date_preference=wanted)
    less, more, nothing = rank(found, Tuning(hierarchy=not is_flat)).final
    assert nothing == 0.0
    assert less <= more + 1e-12


def test_dates_move_documents_that_answer_and_no_others() -> None:
    scores = components([0.0, 0.0], [0.0, 0.0])
    dates = preference([DateMatch.DATED, DateMatch.NONE], full_relevance=0.0)
    ranking = rank(replace(found_for(scores, []), date_preference=dates), Tuning())
    assert ranking.final.tolist() == [0.0, 0.0]

    scores = components([0.2, 5.0], [0.0, 0.0])
    dates = preference([DateMatch.DATED, DateMatch.NONE])
    ranking = rank(replace(found_for(scores, []), date_preference=dates), Tuning())
    assert ranking.order.tolist() == [1, 0]

    scores = components([20.0, 20.0, 0.0], [0.5, 0.5, 0.0])
    dates = preference([DateMatch.NONE, DateMatch.DATED, DateMatch.DATED])
    found = replace(found_for(scores, []), date_preference=dates)
    ranking = rank(found, Tuning())
    assert ranking.order.tolist() == [1, 0]  # the third says nothing of the topic

    scores = components([5.0, 1.0], [0.5, 0.1])
    links = [(entity(0, 1.0, named=True), {0: 1.0, 1: 0.6})]
    wanted = preference([DateMatch.NONE, DateMatch.DATED], None)
    ranking = rank(replace(found_for(scores, list(links)), date_preference=wanted), Tuning())
    assert ranking.order.tolist() == [1, 0]


def unanswered(tuning: Tuning, **known_items: str) -> Ranking:
    found = evidence(
        components([0.0, 0.0, 0.0], [0.2, 0.0, 0.0]),
        entities=[(entity(0, 1.0, named=True), {0: 1.0})],
        topic=Topic(0.2),
        known_items={int(row): by for row, by in known_items.items()},
        frecency=[0.0, 1.0, 1.0],
    )
    return rank(found, tuning)


@pytest.mark.parametrize("tuning", [Tuning(), Tuning(alpha=0.0), Tuning(gate="hard")])
def test_where_nothing_answers_the_topic_linked_documents_are_results_with_score_0(
    tuning: Tuning,
) -> None:
    ranking = unanswered(tuning)
    assert not ranking.says_something.any()
    assert [(ranked.row, ranked.score) for ranked in ranking.top(3)] == [(0, 0.0)]


@pytest.mark.parametrize(("gate", "rows"), [("hard", [0]), ("soft", [1, 0])])
def test_an_answer_that_the_hard_gate_leaves_out_does_not_count(
    gate: Gate, rows: list[int]
) -> None:
    found = evidence(
        components([0.0, 9.0], [0.2, 0.5]),
        entities=[(entity(0, 1.0, named=True), {0: 1.0})],
        topic=Topic(0.2),
    )
    ranking = rank(found, Tuning(gate=gate))
    assert ranking.order.tolist() == rows
    assert ranking.says_something.sum() == (0 if gate == "hard" else 1)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_where_few_answer_the_topic_linked_documents_follow_by_words(alpha: float) -> None:
    found = evidence(
        components([3.0, 9.0, 0.0, 6.0], [0.1, 0.5, 0.1, 0.1]),
        components([0.0, 9.0, 0.0, 0.0], [0.1, 0.5, 0.1, 0.1]),
        entities=[(entity(0, 1.0, named=True), {0: 1.0, 3: 0.5})],
        topic=Topic(0.2),
        frecency=[1.0, 0.0, 1.0, 0.0],
    )
    ranking = rank(found, Tuning(alpha=alpha, hotness_weight=0.3))
    assert ranking.order.tolist() == [1, 3, 0]
    assert [ranked.score for ranked in ranking.top(3)][1:] == [0.0, 0.0]


@pytest.mark.parametrize(("is_common", "first"), [(True, 1), (False, 0)])
def test_linked_documents_come_first_where_common_words_are_hardly_answered(
    is_common: bool, first: int
) -> None:
    found = evidence(
        components([1.0, 0.0], [0.1, 0.1], "last time"),
        entities=[(entity(0, 1.0, named=True), {1: 1.0})],
        topic=Topic(0.2, is_common=is_common),
    )
    ranking = rank(found, Tuning())
    assert ranking.unanswered == is_common
    assert ranking.order.tolist()[0] == first


def test_linked_documents_do_not_follow_ten_answers() -> None:
    found = evidence(
        components([9.0] * FEW_RESULTS + [0.0], [0.5] * FEW_RESULTS + [0.1]),
        entities=[(entity(0, 1.0, named=True), {FEW_RESULTS: 1.0})],
        topic=Topic(0.2),
    )
    assert rank(found, Tuning()).order.tolist() == list(range(FEW_RESULTS))


def test_where_nothing_answers_openings_change_nothing_and_known_items_come_first() -> None:
    assert unanswered(Tuning(hotness_weight=0.5)).order.tolist() == [0]
    assert unanswered(Tuning(), **{"2": "title"}).order.tolist() == [2, 0]
    ranking = unanswered(Tuning.seed())
    assert not ranking.lists_linked
    assert [(ranked.row, ranked.score) for ranked in ranking.top(3)] == [(0, 0.5)]


@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_opening_a_document_moves_only_results(weight: float) -> None:
    found = evidence(components([9.0, 0.0, 3.0], [0.5, 0.0, 0.4]), frecency=[0.0, 1.0, 1.0])
    assert rank(found, Tuning()).order.tolist() == [0, 2]
    assert rank(found, Tuning(hotness_weight=weight)).order.tolist() == [2, 0]


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


@pytest.mark.parametrize(
    ("documents", "factor"), [(0, 1.0), (1, 0.5), (4, 0.125), (40, 0.1)], ids=str
)
def test_the_rarer_someone_is_beside_a_topic_the_less_documents_of_others_count(
    documents: int, factor: float
) -> None:
    found = evidence(HALF, entities=[(ADA, {1: 0.8})], topic=Topic(0.25, documents=documents))
    ranking = rank(found, Tuning())
    assert ranking.factors is None or ranking.factors.tolist() == [factor, 1.0]
    assert ranking.unlinked_factor == factor
    of_nobody = rank(found, replace(Tuning(), hierarchy=False))
    assert of_nobody.unlinked_factor == 1.0

    beside_thing = found_with(topic=Topic(0.25, thing_share=0.5, documents=documents))
    assert rank(beside_thing, Tuning()).unlinked_factor == 1.0  # one document is on the thing


@pytest.mark.parametrize("of_bob", [{1: 0.8}, {0: 0.4, 1: 0.8}], ids=["shared", "one more"])
@pytest.mark.parametrize("is_wide", [False, True])
def test_documents_that_people_share_count_once(of_bob: dict[int, float], is_wide: bool) -> None:
    people = [(ADA, {1: 0.8}), (entity(3, 1.0, named=True), of_bob)]
    found = evidence(HALF, entities=people, topic=Topic(0.25, documents=4))
    if is_wide:  # documents 1 and 2 of the base are candidates, 4 is linked to both and is none
        links = [replace(link, in_scope=np.append(link.rows + 1, 4)) for link in found.links]
        found = replace(found, links=tuple(links))
    assert rank(found, Tuning()).unlinked_factor == 0.5 * (len(of_bob) + is_wide) / 4


def test_things_weigh_a_little_less_unless_they_are_the_topic() -> None:
    ada, ferry = rank(found_with(topic=Topic(0.25)), Tuning()).credit.credits(
        slice(None), HALF.doc_relevance
    )
    assert [ada.weight, ferry.weight] == pytest.approx([1 / 1.85, 0.85 / 1.85])
    assert ada.link_strength.tolist() == [0.8, 0.8]
    assert ferry.link_strength.tolist() == [0.5**4, 0.0]

    ranking = rank(found_with(topic=Topic(0.9, thing_share=1.0), thing_strength=1.0), Tuning())
    ada, ferry = ranking.credit.credits(slice(None), np.zeros(2))
    assert ada.answered.tolist() == [1.0, 0.0]
    assert ferry.answered.tolist() == [1.0, 1.0]


def test_credits_sum_to_the_parent_score_and_the_seed_weighs_all_alike() -> None:
    ranking = rank(found_with(topic=Topic(0.25, 0.5)), Tuning())
    of_each = ranking.credit.credits(slice(None), ranking.doc_relevance)
    totals = sum(credit.total for credit in of_each)
    np.testing.assert_allclose(ranking.parent_entity_score, totals)

    ranking = rank(found_with(topic=Topic(0.25)), replace(Tuning.seed(), gate="soft"))
    for credit in ranking.credit.credits(slice(None), ranking.doc_relevance):
        assert credit.weight == 1.0
        assert set(credit.answered.tolist()) == {1.0}
    assert ranking.parent_entity_score.tolist() == [1.0, 1.0]

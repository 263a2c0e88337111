"""The score of a pair: symmetric, 1 only for identical texts, monotone in the cosine."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.embedding.embedder import BUNDLED
from kbx_tui.errors import ConfigError
from kbx_tui.similarity.compared_words import Signals
from kbx_tui.similarity.pair_score import (
    Calibration,
    Curve,
    calibration_of,
    pair_similarity,
    similarity,
    with_subject,
)
from tests.unit.similarity.building import make_pair
from tests.unit.similarity.letters import Letters

OURS = calibration_of(BUNDLED.name)
UNKNOWN = Calibration("letters", {})
texts = st.text(min_size=1, max_size=60).filter(str.strip)
words = ["the", "senior", "engineer", "leads", "migration", "async", "Slack", "3", "not"]
phrases = st.lists(st.sampled_from(words), min_size=1, max_size=12).map(" ".join)
cosines = st.floats(-1.0, 1.0)


@given(phrases, phrases, cosines)
def test_the_order_of_the_texts_does_not_matter(left: str, right: str, cosine: float) -> None:
    forward, backward = similarity(left, right, cosine, OURS), similarity(right, left, cosine, OURS)
    assert forward.score == backward.score
    assert forward.relation == backward.relation
    assert forward.signals == backward.signals


@given(texts, cosines)
def test_a_text_scores_exactly_one_against_itself(text: str, cosine: float) -> None:
    found = similarity(text, f"  {text}\n", cosine, OURS)
    assert (found.score, found.relation, found.conflicts) == (1.0, "exact", ())


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Prefers Slack", "prefers  slack."),
        ("Jérôme leads", "JEROME LEADS"),
        ("done!", "Done"),
        ("e\u0301quipe", "\u00e9quipe"),
    ],
)
def test_case_accents_spacing_and_final_punctuation_are_ignored(left: str, right: str) -> None:
    assert similarity(left, right, 0.3, OURS).score == 1.0


@pytest.mark.parametrize(("left", "right"), [("C", "C++"), ("-5", "5"), ("3.5", "35"), ("a?", "a")])
def test_meaningful_punctuation_is_kept(left: str, right: str) -> None:
    assert similarity(left, right, 1.0, OURS).score < 1.0


@given(phrases, phrases, cosines, cosines)
def test_a_higher_cosine_never_lowers_the_score(
    left: str, right: str, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert similarity(left, right, low, OURS).score <= similarity(left, right, high, OURS).score


@given(texts, texts, cosines)
def test_a_score_lies_within_0_and_1(left: str, right: str, cosine: float) -> None:
    assert 0.0 <= similarity(left, right, cosine, OURS).score <= 1.0


def test_without_a_calibration_the_score_is_the_raw_cosine() -> None:
    found = similarity("He leads the migration", "The migration is led by him", 0.71, UNKNOWN)
    assert (found.score, found.is_calibrated) == (0.71, False)
    assert similarity("a b", "c d", -0.2, UNKNOWN).score == 0.0
    assert not calibration_of("no-such-model").is_known


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Platform", "Platform & Infrastructure"),
        ("Data", "Data Science"),
        ("Engineer", "Senior Engineer"),
        ("Product Manager", "Senior Product Manager"),
        ("Oslo", "Lisbon"),
    ],
)
def test_labels_that_add_a_qualifier_or_differ_are_not_duplicates(left: str, right: str) -> None:
    found = similarity(left, right, 0.95, OURS)
    assert found.score < 0.85
    assert found.relation == "related"
    assert found.signals.distinct


def test_abbreviated_and_misspelt_words_match_but_no_conflict_does() -> None:
    short = similarity("async Slack", "asynchronous Slack", 0.7, OURS)
    assert short.signals.tokens == 1.0

    assert similarity("Kubernets expert", "Kubernetes expert", 0.9, OURS).signals.tokens == 1.0

    found = similarity("ships 5 releases", "ships 3 releases", 0.99, OURS)
    assert found.score > 0.9
    assert found.relation == "conflict"


def test_each_text_is_embedded_once_and_a_blank_one_rejected() -> None:
    letters = Letters()
    found = pair_similarity([("abc", "cab"), ("abc", "xyz"), ("xyz", "abc")], letters)
    assert letters.calls == 1
    assert [pair.cosine for pair in found] == [1.0, 0.0, 0.0]
    assert pair_similarity([], letters) == []
    with pytest.raises(ConfigError, match="the text is empty"):
        pair_similarity([("a", " ")], Letters())


def with_cosine(cosine: float) -> Signals:
    return Signals(cosine, 0.0, False, 0.0, False, False)


CURVE = Curve(10.0, 0.0, 0.0, 0.0, -5.0, ((-5.0, 0.0), (0.0, 0.85), (5.0, 1.0)))


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [(-1.0, 0.0), (0.0, 0.0), (0.25, 0.425), (0.5, 0.85), (0.75, 0.925), (1.0, 1.0)],
)
def test_scores_are_linear_between_knots(cosine: float, expected: float) -> None:
    assert CURVE.score(with_cosine(cosine)) == pytest.approx(expected)


@pytest.mark.parametrize("form", ["label", "sentence"])
def test_the_bundled_model_is_calibrated_for_both_forms(form: str) -> None:
    curve = {str(name): found for name, found in calibration_of(BUNDLED.name).curves.items()}[form]
    sums = [total for total, _ in curve.knots]
    scores = [score for _, score in curve.knots]
    assert sums == sorted(set(sums))
    assert scores == [0.0, 0.8, 0.85, 0.9, 1.0]
    assert curve.cosine > 0.0


@pytest.mark.parametrize(
    ("kind", "name", "said", "named"),
    [
        ("person", "Alice Moreno", "The rota is owned by Alice", "Alice"),
        ("person", "Alice Moreno", "Deployments are run by Alice on Fridays", "Alice"),
        ("person", "Alice Moreno", "Bo reports to Alice Moreno since May", "Alice Moreno"),
        ("team", "Search Quality", "The sets are owned by Search Quality", "Search Quality"),
        ("team", "Search Quality", "Owns the Search evaluation sets", ""),
        ("team", "Search Quality", "Owns the Search Quality evaluation sets", ""),
        ("team", "Data Platform", "Owns the Data ingestion pipeline", ""),
        ("person", "Mark Field", "Owns the Mark 2 release checklist", ""),
        ("person", "Mark Field", "The list is kept for the Mark 2 release", ""),
        ("team", "Kyoto Office", "Bo works in Kyoto", ""),
        ("person", "Alice Moreno", "Owns the rota with Alice", ""),
    ],
)
def test_a_name_counts_as_the_subject_only_where_another_subject_meets_it(
    kind: str, name: str, said: str, named: str
) -> None:
    expected = f"{named} owns it" if named else "Owns it"
    pair = replace(make_pair(0.8), left=said, right="Owns it")
    assert with_subject(pair, name, f"{kind}:x") == replace(pair, right=expected)
    pair = replace(pair, left="Owns it", right=said)
    assert with_subject(pair, name, f"{kind}:x") == replace(pair, left=expected)

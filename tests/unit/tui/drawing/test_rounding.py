"""What the why pane says adds up as it is written there."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kbx_tui.search.evidence.evidence import Evidence, FeedbackDocument
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.explain import explain
from kbx_tui.search.ranking.rank import rank
from kbx_tui.tui.drawing.lines import Line
from kbx_tui.tui.drawing.rounding import formula_values, why
from kbx_tui.tui.explore.panes.why_pane import formula_lines, section_lines, weight_text, why_lines
from kbx_tui.tui.explore.view import Why
from tests.unit.search.building import components, entity, evidence, in_parts, some_evidence

hundredths = st.integers(0, 100).map(lambda number: number / 100)
HALF = Fraction(1, 200)
ONE = Fraction(1, 100)


@st.composite
def slider_tuning(draw: st.DrawFn) -> Tuning:
    """Any knobs a slider can set."""
    return Tuning(
        alpha=draw(hundredths),
        entity_threshold=draw(hundredths),
        hotness_weight=draw(st.sampled_from([0.0, 0.1, 0.25])),
        parent=draw(st.sampled_from(["coverage", "max"])),
    )


def reasons(found: Evidence, tuning: Tuning) -> list[Why]:
    ranking = rank(found, tuning)
    return [why(ranking, explain(ranking, ranked)) for ranked in ranking.top(20)]


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(span.text for span in line) for line in lines)


def number(text: str) -> Fraction:
    return Fraction(text)


def evaluated(formula: str) -> tuple[Fraction, Fraction]:
    """Return both sides of a formula such as `.86 = .50 × .78 document + .50 × .94 entity`."""
    left, right = formula.split("=")
    terms = re.sub(r"[a-z]+", "", right).replace("×", "*")
    exact = re.sub(r"\d*\.\d+", lambda match: f"Fraction('{match[0]}')", terms)
    return number(left.strip()), eval(exact, {"Fraction": Fraction})


@given(some_evidence(), slider_tuning())
def test_the_formula_on_screen_gives_the_score_on_screen(found: Evidence, tuning: Tuning) -> None:
    for one in reasons(found, tuning):
        formula = text_of(formula_lines(one)).replace("\n", " ")
        if "alone" in formula:
            continue
        score, result = evaluated(formula.split("else")[-1])
        assert abs(score - result) <= HALF, formula


@given(some_evidence(), slider_tuning())
def test_the_parts_on_screen_sum_to_the_numbers_of_the_formula(
    found: Evidence, tuning: Tuning
) -> None:
    for one in reasons(found, tuning):
        in_formula = [term.value for term in one.terms]
        assert [section.total for section in one.sections] == in_formula
        for section in one.sections:
            head, *parts = text_of(section_lines(section, 80)).split("\n")
            total = re.search(r"\d?\.\d\d", head)
            values = [re.match(r" *(\d?\.\d\d)", part) for part in parts]
            assert total is not None
            assert sum(number(value[1]) for value in values if value) == number(total[0])


@given(some_evidence(), slider_tuning())
def test_no_number_on_screen_is_off_by_a_whole_last_digit(found: Evidence, tuning: Tuning) -> None:
    ranking = rank(found, tuning)
    for ranked in ranking.top(20):
        one, exact = why(ranking, explain(ranking, ranked)), explain(ranking, ranked)
        truth = {"document": ranked.doc_relevance, "entity": ranked.parent_entity_score}
        for section in one.sections:
            assert abs(section.total - truth[section.name]) < 0.01
        document = one.sections[0].parts
        assert abs(document[0].value - exact.lexical_part) <= 0.01
        assert abs(document[1].value - exact.vector_part) <= 0.01


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2), hundredths)
def test_a_formula_that_holds_can_always_be_found(values: list[float], alpha: float) -> None:
    weights = [alpha, round(1.0 - alpha, 2)]
    total = alpha * values[0] + (1.0 - alpha) * values[1]
    rounded = formula_values(total, weights, values)
    result = sum(Fraction(str(w)) * Fraction(str(v)) for w, v in zip(weights, rounded, strict=True))
    assert abs(result - Fraction(f"{total:.2f}")) <= HALF
    assert all(abs(r - v) < 0.01 for r, v in zip(rounded, values, strict=True))


@given(st.floats(0.0, 1.0))
def test_an_alpha_of_many_digits_is_shown_in_full(alpha: float) -> None:
    assert abs(Fraction(weight_text(round(alpha, 6)) or "0") - Fraction(alpha)) <= Fraction(
        1, 10**6
    )


def test_numbers_nearest_to_the_truth_are_taken_when_they_fit() -> None:
    assert formula_values(0.86, [0.5, 0.5], [0.78, 0.94]) == [0.78, 0.94]


def test_an_exact_title_says_that_it_is_shown_first() -> None:
    found = evidence(components([3.0, 1.0], [0.5, 0.4]), exact={1: "title"})
    first = reasons(found, Tuning())[0]
    assert "1.00 exact title: shown first" in text_of(why_lines(first, None, 36))


def test_a_document_without_a_link_says_so() -> None:
    found = evidence(
        components([3.0, 1.0], [0.5, 0.4]), entities=[(entity(1, 1.0, named=True), {0: 1.0})]
    )
    unlinked = next(one for one in reasons(found, Tuning()) if one.row == 1)
    assert "not linked" in text_of(why_lines(unlinked, None, 40))
    assert unlinked.sections[1].total == 0.0


def test_what_a_part_beside_it_lends_is_an_addend() -> None:
    found = evidence(components([1.0, 40.0], [0.2, 0.6], reach=in_parts(2)))
    lent_to, lender = reasons(found, Tuning())[::-1]
    assert [part.name for part in lender.sections[0].parts] == ["words", "meaning"]
    parts = lent_to.sections[0].parts
    assert (parts[-1].name, parts[-1].reason) == ("lent", "by the part after")
    assert sum(part.value for part in parts) == pytest.approx(lent_to.sections[0].total)
    assert "lent" in text_of(why_lines(lent_to, None, 40))


def test_a_document_without_a_vector_says_so() -> None:
    found = evidence(components([3.0], [float("nan")]))
    assert "no vector yet" in text_of(why_lines(reasons(found, Tuning())[0], None, 40))


def test_what_drew_the_meaning_is_named_beside_the_document_part() -> None:
    drew = (FeedbackDocument("a.md", "Ferries"), FeedbackDocument("b.md", "Boats"))
    found = replace(evidence(components([3.0, 2.0], [0.5, float("nan")])), drawn_to=drew)
    first, without_vector = reasons(found, Tuning())
    assert "meaning drawn to Ferries, Boats" in text_of(why_lines(first, None, 60))
    assert "drawn" not in text_of(why_lines(without_vector, None, 60))


@pytest.mark.parametrize("width", [24, 36, 46, 80])
@given(found=some_evidence(), tuning=slider_tuning())
def test_no_line_is_wider_than_the_pane(found: Evidence, tuning: Tuning, width: int) -> None:
    assume(len(found) > 0)
    for one in reasons(found, tuning)[:3]:
        for line in why_lines(one, None, width)[:2]:
            assert sum(len(span.text) for span in line) <= width

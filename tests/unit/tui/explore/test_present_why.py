"""The numbers of an explanation add up exactly as the why pane shows them."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kbx_tui.index.snapshot import LINK_KINDS
from kbx_tui.search.evidence.evidence import DateMatch, Evidence, FeedbackDocument, Topic
from kbx_tui.search.query.typed_filters import TypedFilter
from kbx_tui.search.ranking.explain import explain
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Filters, Tuning
from kbx_tui.search.results.response import Snippet
from kbx_tui.tui.drawing.lines import Line
from kbx_tui.tui.explore.presenting import LINK_PHRASES, formula_values, link_phrase, present_why
from kbx_tui.tui.explore.view import Why
from kbx_tui.tui.explore.why_pane import formula_lines, section_lines, why_lines, why_sentence
from tests.unit.search.building import (
    components,
    consecutive_parts,
    entity,
    evidence,
    preference,
    some_evidence,
)

hundredths = st.integers(0, 100).map(lambda number: number / 100)
HALF = Fraction(1, 200)


@st.composite
def slider_tuning(draw: st.DrawFn) -> Tuning:
    """Return any tuning that the sliders can set."""
    return Tuning(
        alpha=draw(hundredths),
        entity_threshold=draw(hundredths),
        hotness_weight=draw(st.sampled_from([0.0, 0.1, 0.25])),
        parent=draw(st.sampled_from(["coverage", "max"])),
    )


def explanations(retrieved: Evidence, tuning: Tuning) -> list[Why]:
    ranking = rank(retrieved, tuning)
    return [present_why(ranking, explain(ranking, ranked)) for ranked in ranking.top(20)]


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(span.text for span in line) for line in lines)


def evaluate(formula: str) -> tuple[Fraction, Fraction]:
    """Return both sides of a formula such as `.86 = .50 × .78 document + .50 × .94 entity`."""
    left, right = formula.split("=")
    terms = re.sub(r"[a-z]+", "", right).replace("×", "*")
    exact = re.sub(r"\d*\.\d+", lambda match: f"Fraction('{match[0]}')", terms)
    return Fraction(left.strip()), eval(exact, {"Fraction": Fraction})


@given(some_evidence(), slider_tuning())
def test_the_formula_on_screen_gives_the_score_on_screen(
    retrieved: Evidence, tuning: Tuning
) -> None:
    for why in explanations(retrieved, tuning):
        formula = text_of(formula_lines(why)).replace("\n", " ")
        if "alone" in formula:
            continue
        score, result = evaluate(formula.split("without that")[-1])
        assert abs(score - result) <= HALF, formula


@given(some_evidence(), slider_tuning())
def test_addends_on_screen_sum_to_the_values_of_the_formula(
    retrieved: Evidence, tuning: Tuning
) -> None:
    for why in explanations(retrieved, tuning):
        assert [section.total for section in why.sections] == [term.value for term in why.terms]
        for section in why.sections:
            head, *rest = text_of(section_lines(section, 80)).split("\n")
            total = re.search(r"\d?\.\d\d", head)
            values = [re.match(r" *(\d?\.\d\d)", line) for line in rest]
            assert total is not None
            assert sum(Fraction(value[1]) for value in values if value) == Fraction(total[0])


@given(some_evidence(), slider_tuning())
def test_no_number_on_screen_is_off_by_a_whole_last_digit(
    retrieved: Evidence, tuning: Tuning
) -> None:
    ranking = rank(retrieved, tuning)
    for ranked in ranking.top(20):
        explanation = explain(ranking, ranked)
        why = present_why(ranking, explanation)
        exact = {"document": ranked.answered, "entity": ranked.parent_entity_score}
        for section in why.sections:
            assert abs(section.total - exact[section.name]) < 0.01
        addends = why.sections[0].addends
        assert abs(addends[0].value - explanation.lexical_part) <= 0.01
        assert abs(addends[1].value - explanation.vector_part) <= 0.01


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("flexible fares", "you gave its title in full"),
        ("pricing experiment", "you gave another name of it"),
    ],
)
def test_another_name_is_not_called_the_title(query: str, sentence: str) -> None:
    retrieved = evidence(components([3.0], [0.5], query), known_items={0: "title"})
    (why,) = explanations(replace(retrieved, titles=("Flexible Fares",)), Tuning())
    assert why_sentence(why, None) == sentence


def test_an_exact_title_is_said_to_be_shown_first() -> None:
    retrieved = evidence(components([3.0, 1.0], [0.5, 0.4]), known_items={1: "title"})
    first = explanations(retrieved, Tuning())[0]
    assert "1.00 title asked for: shown first" in text_of(why_lines(first, None, 36))


def test_a_query_of_filters_says_what_matches_and_nothing_of_a_score() -> None:
    filters = Filters(typed=(TypedFilter("type", ("person",)),))
    retrieved = evidence(components([0.0], [0.0]), known_items={0: "filter"})
    scope = replace(retrieved.scope, filters=filters)
    (why,) = explanations(replace(retrieved, scope=scope), Tuning())
    shown = text_of(why_lines(why, None, 60))
    assert "matches type:person" in shown and "1.00 filter: shown first" in shown
    assert not any(word in shown for word in ("hardly", "without", " .00 ", "in full"))


def test_a_document_of_the_time_asked_for_says_its_date_and_not_that_it_was_given() -> None:
    retrieved = evidence(components([0.0], [0.0]), known_items={0: "date"})
    asked = replace(retrieved, date_preference=preference([2]))
    ((why,), (exact,)) = (explanations(each, Tuning()) for each in (asked, retrieved))
    assert why_sentence(why, None) == "dated March 2026"
    shown = " ".join(text_of(why_lines(why, None, 60)).split())
    assert shown == f"dated March 2026 1.00 date asked for: shown first {why.path}"
    assert why_sentence(exact, None) == "you gave its date in full"


@pytest.mark.parametrize(
    ("known_item", "first", "sentence"),
    [
        ("own page", "its own page", "the page you asked about"),
        ("title", "title asked for", "you gave its title in full"),
        ("their role", "their role", "you asked for their role"),
    ],
)
def test_a_page_asked_for_says_so_and_nothing_else_of_itself(
    known_item: str, first: str, sentence: str
) -> None:
    alice = entity(1, 1.0, named=True)
    retrieved = evidence(
        components([3.0, 1.0], [0.5, 0.4]),
        entities=[(alice, {0: 1.0})],
        known_items={0: known_item},
    )
    links = tuple(replace(each, reasons=("own page",)) for each in retrieved.links)
    asked = replace(retrieved, links=links, titles=(retrieved.query, "Other"))
    (why, _) = explanations(asked, Tuning())
    snippet = Snippet("", (), "", 1, 1, (("alice", 2),))
    assert why_sentence(why, snippet) == sentence
    assert f"1.00 {first}: shown first" in text_of(why_lines(why, snippet, 60))


def test_an_unlinked_document_is_said_to_be_not_linked() -> None:
    retrieved = evidence(
        components([3.0, 1.0], [0.5, 0.4]), entities=[(entity(1, 1.0, named=True), {0: 1.0})]
    )
    unlinked = next(why for why in explanations(retrieved, Tuning()) if why.row == 1)
    assert "not linked" in text_of(why_lines(unlinked, None, 40))
    assert unlinked.sections[1].total == 0.0


def test_relevance_propagated_from_a_continuation_is_an_addend() -> None:
    retrieved = evidence(components([1.0, 40.0], [0.2, 0.6], documents=consecutive_parts(2)))
    receiver, source = explanations(retrieved, Tuning())[::-1]
    assert [addend.name for addend in source.sections[0].addends] == ["words", "meaning"]
    addends = receiver.sections[0].addends
    assert (addends[-1].name, addends[-1].reason) == ("propagated", "from the part after")
    assert sum(addend.value for addend in addends) == pytest.approx(receiver.sections[0].total)
    assert "propagated" in text_of(why_lines(receiver, None, 40))


def test_a_document_without_a_vector_says_so_but_not_after_a_fast_search() -> None:
    retrieved = evidence(components([3.0], [float("nan")]))
    assert "no vector yet" in text_of(why_lines(explanations(retrieved, Tuning())[0], None, 40))

    retrieved = evidence(components([3.0], [float("nan")]), fast=True)
    shown = text_of(why_lines(explanations(retrieved, Tuning())[0], None, 60))
    assert "not used by a fast search" in shown
    assert "no vector yet" not in shown


def test_feedback_documents_are_named_in_the_document_section() -> None:
    feedback = (FeedbackDocument("a.md", "Ferries"), FeedbackDocument("b.md", "Boats"))
    retrieved = evidence(components([3.0, 2.0], [0.5, float("nan")]))
    retrieved = replace(retrieved, feedback_documents=feedback)
    first, without_vector = explanations(retrieved, Tuning())
    assert "compared with Ferries, Boats too" in text_of(why_lines(first, None, 60))
    assert "compared" not in text_of(why_lines(without_vector, None, 60))


def test_relevance_and_that_of_a_full_answer_are_shown_with_their_effect() -> None:
    retrieved = evidence(
        components([0.0], [0.58]),
        entities=[(entity(1, 1.0, named=True), {0: 1.0})],
        topic=Topic(0.25),
    )
    (why,) = explanations(retrieved, Tuning())
    shown = text_of(why_lines(why, None, 60))
    assert "document .58  69 % of a full answer (relevance .17)" in shown
    assert "Entity 1  attendee × .76 answered" in shown


def test_note_too_long_for_the_pane_is_wrapped() -> None:
    retrieved = evidence(
        components([5.0], [0.5]),
        entities=[(entity(1, 1.0, named=True), {0: 1.0})],
        topic=Topic(0.4),
    )
    lines = text_of(why_lines(explanations(retrieved, Tuning())[0], None, 30)).split("\n")
    start = lines.index("  81 % of a full answer")
    assert lines[start + 1] == "  (relevance .33)"
    assert [line.strip() for line in lines[-5:-2]] == [
        ".86  Entity 1",
        "attendee × .86",
        "answered",
    ]


def test_date_is_an_addend_beside_a_topic() -> None:
    retrieved = evidence(
        components([3.0, 3.0], [0.5, 0.5]),
        date_preference=preference([DateMatch.DATED, DateMatch.NONE], 0.5),
    )
    first, second = explanations(retrieved, Tuning())
    assert ".15  date     of that time" in text_of(why_lines(first, None, 60))
    assert ".00  date     undated" in text_of(why_lines(second, None, 60))


def test_date_beside_people_alone_is_shown_as_the_factor_that_it_is() -> None:
    retrieved = evidence(
        components([3.0, 3.0], [0.5, 0.5]),
        entities=[(entity(1, 1.0, named=True), {0: 1.0, 1: 1.0})],
        dates=["2026-03-02", "2026-05-02"],
        date_preference=preference([DateMatch.DATED, DateMatch.NONE], None),
    )
    first, second = explanations(retrieved, Tuning())
    assert ".00  date     of that time" in text_of(why_lines(first, None, 60))
    assert ".00  date     of another time: × .25" in text_of(why_lines(second, None, 60))
    assert second.sections[1].total == pytest.approx(0.25)


def test_weights_are_shown_where_they_differ() -> None:
    project = replace(entity(2, 1.0, named=True), type="project")
    retrieved = evidence(
        components([5.0], [0.5]),
        entities=[(entity(1, 1.0, named=True), {0: 1.0}), (project, {0: 1.0})],
        topic=Topic(0.2),
    )
    shown = text_of(why_lines(explanations(retrieved, Tuning())[0], None, 60))
    assert ".54 of .54  Entity 1  attendee" in shown
    assert ".46 of .46  Entity 2  attendee" in shown


@pytest.mark.parametrize("width", [24, 36, 46, 80])
@given(retrieved=some_evidence(), tuning=slider_tuning())
def test_no_line_is_wider_than_the_pane(retrieved: Evidence, tuning: Tuning, width: int) -> None:
    assume(len(retrieved) > 0)
    for why in explanations(retrieved, tuning)[:3]:
        for line in why_lines(why, None, width)[:2]:
            assert sum(len(span.text) for span in line) <= width


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=2), hundredths)
def test_rounded_values_give_the_rounded_total(values: list[float], alpha: float) -> None:
    weights = [alpha, round(1.0 - alpha, 2)]
    total = alpha * values[0] + (1.0 - alpha) * values[1]
    rounded = formula_values(total, weights, values)
    result = sum(Fraction(str(w)) * Fraction(str(v)) for w, v in zip(weights, rounded, strict=True))
    assert abs(result - Fraction(f"{total:.2f}")) <= HALF
    assert all(abs(r - v) < 0.01 for r, v in zip(rounded, values, strict=True))


def test_exact_values_are_kept_when_the_formula_holds() -> None:
    assert formula_values(0.86, [0.5, 0.5], [0.78, 0.94]) == [0.78, 0.94]


@pytest.mark.parametrize(
    ("terms", "links", "score", "sentence"),
    [
        (
            (("team", 1), ("decide", 4), ("migration", 3)),
            ("Platform attended", "Migration in the title"),
            0.86,
            "says “decide” and “migration”; Platform attended; Migration in the title",
        ),
        ((("decide", 1),), (), 0.4, "says “decide”"),
        ((("say", 2),), (), 0.4, "related to what you ask"),
        ((), ("mentions Alice",), 0.4, "related to what you ask; mentions Alice"),
        ((("decide", 1),), (), 0.002, "hardly related: says “decide”"),
    ],
)
def test_why_begins_with_one_plain_sentence(
    terms: tuple[tuple[str, int], ...], links: tuple[str, ...], score: float, sentence: str
) -> None:
    likeness = "related to what you ask"
    why = Why(0, "", "", "", "", score, (), None, "", (), likeness=likeness, links=links)
    snippet = Snippet("", (), "", 1, 1, terms)
    assert why_sentence(why, snippet) == sentence
    weak = replace(why, is_weak=True)
    if score > 0.005:
        assert why_sentence(weak, snippet) == f"far below the best: {sentence}"


def test_why_quotes_words_as_the_document_writes_them() -> None:
    why = Why(0, "", "", "", "", 0.4, (), None, "", ())
    terms, forms = (("cancelations", 2), ("say", 3), ("api", 1)), ("Cancellations", "said", "API")
    snippet = Snippet("", (), "", 1, 1, terms, forms=forms)
    assert why_sentence(why, snippet) == "says “cancellations” and “api”"
    assert why_sentence(why, snippet, most=1) == "says “cancellations”"
    alone = Snippet("", (), "", 1, 1, terms[:1], forms=forms[:1])  # as many documents may say it
    assert why_sentence(why, alone) == "says “cancellations” 2 times"


def test_why_says_that_a_speaker_says_only_what_the_turn_shown_says() -> None:
    why = Why(0, "", "", "", "", 0.4, (), None, "", ())
    terms, text = (("refunds", 2), ("fee", 1)), "Dana: The fee is low."
    for matches, sentence in (
        (((10, 13),), "Dana speaks here; says “fee”; “refunds” elsewhere in the document"),
        ((), "Dana speaks here; “refunds” and “fee” elsewhere in the document"),
    ):
        assert (
            why_sentence(why, Snippet(text, matches, "", 1, 1, terms, speaker="Dana")) == sentence
        )


def test_every_kind_of_link_is_put_in_words() -> None:
    kinds = [kind.replace("_", " ") for kind in LINK_KINDS]
    assert set(LINK_PHRASES) == set(kinds)
    assert link_phrase("Alice", "attendee 2 of 5, 3 mentions") == "Alice attended with 4 others"
    assert link_phrase("Alice", "attendee 1 of 1") == "Alice attended"
    assert link_phrase("Alice", "3 mentions, member") == "mentions Alice 3 times"
    assert link_phrase("Platform", "5 members") == "with members of Platform"

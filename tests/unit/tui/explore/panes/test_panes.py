"""Lines of the panes of explore."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.results.response import Snippet
from kbx_tui.tui.drawing.lines import width_of
from kbx_tui.tui.explore.entities import (
    count_passing,
    entity_line,
    entity_strip_line,
    first_reason,
    reasons,
    score_text,
)
from kbx_tui.tui.explore.presenting import present_snippet
from kbx_tui.tui.explore.result_list import passage_lines, result_line
from kbx_tui.tui.explore.view import EntityRow, ResultRow
from kbx_tui.tui.explore.why_pane import weight_text

names = st.text(alphabet="abc é港🛳", max_size=60)


def entity(name: str = "Alice Chen", score: float = 1.0, kept: bool = True) -> EntityRow:
    return EntityRow("person:a", name, "person", "", score, kept, "name “alice”")


@given(names, st.integers(30, 60))
def test_an_entity_fills_its_line_exactly(name: str, width: int) -> None:
    assert width_of(entity_line(entity(name), width)) == width


def test_the_strip_shows_what_counts_or_was_pinned_or_muted_and_how_many_are_below() -> None:
    entities = (entity(), entity("Platform", 0.41, kept=False))
    assert count_passing(entities, 0.5) == 1
    text = "".join(span.text for span in entity_strip_line(entities, 0.5, "e", 80))
    assert text == " ● Alice Chen 1.00 ┊ 1 below the threshold  e show"

    others = tuple(entity(f"Otherwise {number}", 0.4, kept=False) for number in range(9))
    pinned = replace(entity("Yusuf", 0.2), pinned=True)
    muted = replace(entity("Ada", 0.3, kept=False), muted=True)
    text = "".join(
        span.text for span in entity_strip_line((entity(), *others, muted, pinned), 0.5, "e", 67)
    )
    assert text == " ✕ Ada muted  ● Yusuf pinned  ● Alice Chen 1.00 ┊ 9 below  e show"

    text = "".join(span.text for span in entity_strip_line(others, 0.5, "e", 80))
    assert text == " no sure entity · 9 weak  e show"


def test_score_just_below_the_threshold_is_not_shown_as_the_threshold() -> None:
    assert score_text(0.4496, 0.45) == ".449"
    assert score_text(0.45, 0.45) == ".45"
    assert score_text(0.44, 0.45) == ".44"
    assert score_text(0.9999, 1.0) == ".999"


def test_reasons_of_an_entity_are_whole_and_name_why_it_is_left_out() -> None:
    left_out = replace(entity(kept=False), left_out="only the best 5 count")
    assert reasons(left_out) == "only the best 5 count, name “alice”"

    assert first_reason("first name “Ruth” (a name here, 92 %), 2 facts") == "first name “Ruth”"
    assert first_reason("fact “wants ferries, not (old) buses”, 1 more") == (
        "fact “wants ferries, not (old) buses”"
    )
    assert first_reason("muted by you") == "muted by you"


unit = st.floats(0.0, 1.0)
titles = st.text(alphabet="abc é港🛳", max_size=60)


@given(
    titles,
    unit,
    unit,
    st.integers(40, 120),
    st.integers(-30, 30),
    st.sampled_from("› ◆"),
    st.sampled_from(("", "changed", "no vector")),
)
def test_a_result_fills_its_line_exactly(
    title: str, document: float, entity: float, width: int, move: int, sign: str, badge: str
) -> None:
    parts = document / 2, entity / 4, entity / 4
    result = ResultRow(7, "p.md", title, "2026-03-17", 12, sum(parts), *parts, known_item="")
    line = result_line(result, width, move, sign, badge=badge)
    assert width_of(line) == width
    assert f" ! {badge}" in "".join(span.text for span in line) or not badge


def test_a_week_is_shown_by_its_first_day_which_a_long_title_keeps() -> None:
    result = ResultRow(7, "p.md", "Sprint", "2026-03-16/22", 1, 0.5, 0.5, 0.0, 0.0, "")
    line = result_line(result, 60, 0, "›")
    assert "".join(span.text for span in line).endswith("  2026-03-16 ")

    result = ResultRow(7, "p.md", "INC-0117 " * 9, "2026-03-16", 1, 0.5, 0.5, 0.0, 0.0, "")
    moved = "".join(span.text for span in result_line(result, 60, -1, "◆"))
    assert moved.endswith(" ▼1  2026-03-16 ")


def test_only_the_score_of_the_current_result_stands_out() -> None:
    result = ResultRow(7, "p.md", "Sprint", "2026-03-16", 1, 0.5, 0.5, 0.0, 0.0, "")
    looks = {sign: dict(result_line(result, 60, 0, sign))[" .50 "] for sign in "› "}
    assert looks == {"›": "text", " ": "dim"}
    best = replace(result, score=1.0)
    assert "".join(span.text for span in result_line(best, 60, 0, "›")).startswith("› 1.00 ━")


@given(st.floats(0.0, 1.0))
def test_a_weight_of_many_digits_is_shown_in_full(weight: float) -> None:
    shown = Fraction(weight_text(round(weight, 6)) or "0")
    assert abs(shown - Fraction(weight)) <= Fraction(1, 10**6)


def passage(text: str, *words: str, width: int = 40, most: int = 3) -> list[str]:
    matches = tuple((text.index(word), text.index(word) + len(word)) for word in words)
    snippet = present_snippet(Snippet(text, matches, "", 1, 1, ()))
    return ["".join(span.text for span in line) for line in passage_lines(snippet, width, most)]


def test_a_passage_ends_with_a_sentence_or_is_cut_around_its_words() -> None:
    text = "- Go for it: cut-over on Thursday 19 March at 22:00, signed off. Nothing else was said"
    assert passage(text, "Go", most=2) == [
        "Go for it: cut-over on Thursday 19",
        "March at 22:00, signed off.",
    ]

    text = "one two three four five six seven eight nine ten the migration waits for eleven twelve"
    assert passage(text, "migration", most=1, width=30) == ["…nine ten the migration waits…"]


def test_the_heading_of_a_passage_stands_apart() -> None:
    snippet = present_snippet(Snippet("- Ring the harbour.", ((2, 6),), "Follow-ups", 1, 1, ()))
    (line,) = passage_lines(snippet, 40, 3, "Follow-ups")
    looks = [(span.text, span.look) for span in line if span.text]
    assert looks == [("Follow-ups › ", "text"), ("Ring", "strong"), (" the harbour.", "dim")]


@given(st.text(alphabet="ab .!é港\u0301🛳", max_size=200), st.integers(8, 60), st.integers(1, 3))
def test_a_passage_fits(text: str, width: int, most: int) -> None:
    starts = [number for number, letter in enumerate(text) if letter == "b"]
    snippet = Snippet(text, tuple((at, at + 1) for at in starts), "", 1, 1, (), is_cut=True)
    lines = passage_lines(snippet, width, most)
    assert len(lines) <= most
    assert all(width_of(line) <= width for line in lines)

"""How links are written where their characters have another meaning."""

import pytest

from kbx_tui.knowledge.markdown import strip_markup
from kbx_tui.knowledge.written_links import lines_in_tables, wikilink


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("| a | b |\n|---|:-:|\n| c | d |\n\n| no | table |", {0, 1, 2}),
        ("intro\n\na | b\n--- | ---\nc | d\nafter", {2, 3, 4}),
        ("> | a | b |\n> | --- | --- |\n> | c | d |", {0, 1, 2}),
        ("a | b\nc | d", set()),
        ("no bar\n---\nno bar", set()),
        ("", set()),
    ],
)
def test_lines_with_a_bar_are_in_a_table_only_below_or_above_its_delimiter_row(
    text: str, rows: set[int]
) -> None:
    lines = text.split("\n")
    assert lines_in_tables(lines) == rows


def test_a_wikilink_names_its_label_only_if_it_differs() -> None:
    assert wikilink("Plan", "Plan") == wikilink("Plan", "") == "[[Plan]]"
    assert wikilink("notes/plan", "Plan") == "[[notes/plan|Plan]]"
    assert wikilink("notes/plan", "Plan", in_table=True) == "[[notes/plan\\|Plan]]"


def test_strip_markup_keeps_the_text_only() -> None:
    assert (
        strip_markup(
            r"**Bold** _it_ [[A|b]] [[C]] [d](e.md) `f` snake_case 2*3*4 \*g\* ![h](i.png)"
        )
        == "Bold it b C d f snake_case 2*3*4 *g* h"
    )

"""A text is cut into sections at its headings."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.results.text_words import find_headings, sections

LINES = st.sampled_from(
    ["# One", "## Two #", "#tag", "text # not", "", "####### seven", "###\tTab"]
)


@given(st.lists(LINES).map("\n".join))
def test_headings_are_the_lines_that_begin_with_marks_and_a_blank(text: str) -> None:
    expected = [
        (line.start(), line.end(), len(line[1]))
        for line in re.finditer(r"^(#{1,6})[ \t].*$", text, re.MULTILINE)
    ]
    assert find_headings(text) == expected


def test_a_section_has_the_words_of_the_headings_above_it() -> None:
    text = "# Ferry\n\n## Crew\n\nferry\n\n## Food\n\n# Other\n\nnothing\n"
    words = [(2, 7, "ferri"), (12, 16, "crew"), (18, 23, "ferri")]
    below_title, crew, food = sections(text, find_headings(text), words)
    assert below_title.headings == food.headings == {"ferri"}
    assert crew.own == {"crew"}
    assert crew.headings == {"ferri", "crew"}
    assert crew.matches == words[2:]

"""Lines are classified and styled by their markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.tui.reading.markdown_lines import Mark, line_kinds, line_style, overlay, render_inline


def test_code_and_frontmatter_are_distinguished_from_text() -> None:
    lines = ["---", "a: b", "---", "# T", "### t", "```py", "# [[x]]", "```", "| a |", "|---|", ""]
    expected = ["front"] * 3 + ["title", "heading", "code", "code", "code", "table", "rule", "text"]
    assert line_kinds(lines) == expected
    assert render_inline(lines).lines == tuple(lines)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["---", "no end"], ["rule", "text"]),
        (["~~~~", "```", "~~~", "~~~~", "x"], ["code", "code", "code", "code", "text"]),
        (["```a``` is code in a line"], ["text"]),
        (["- ```sh", "  ls", "  ```", "- b"], ["code", "code", "code", "text"]),
        (["#tag", "####### seven", "##"], ["text", "text", "title"]),
        (["* * *", "***", "**b**", "- a"], ["rule", "rule", "text", "text"]),
    ],
)
def test_ambiguous_lines_get_the_kind_markdown_gives_them(
    lines: list[str], expected: list[str]
) -> None:
    assert line_kinds(lines) == expected


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("> quoted", [(">", "rule")]),
        ("- [ ] do", [("-", "dim"), ("[ ]", "accent")]),
        ("- [x] done", [("-", "dim"), ("[x]", "dim")]),
        ("- [2026-01-02] fact", [("-", "dim"), ("[2026-01-02]", "dim")]),
        ("12. twelfth", [("12.", "dim")]),
    ],
)
def test_markup_of_lines_is_dimmed(text: str, looks: list[tuple[str, str]]) -> None:
    marks = line_style(text, "text").marks
    assert [(text[start:end], look) for start, end, look in marks] == looks


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("- item", "  "),
        ("  10) item", "      "),
        ("- [ ] task", "      "),
        ("- [2026-01-02] fact", "  "),
        ("> > - said", "> >   "),
        ("text", ""),
    ],
)
def test_wrapped_rows_align_with_the_text_of_their_line(text: str, prefix: str) -> None:
    assert line_style(text, "text").prefix == prefix


spans = st.lists(st.integers(0, 30), max_size=8, unique=True).map(sorted)


@given(spans, spans)
def test_upper_marks_hide_lower_ones(below: list[int], above: list[int]) -> None:
    under = [Mark(a, b, "link") for a, b in zip(below[::2], below[1::2], strict=False)]
    over = [Mark(a, b, "match") for a, b in zip(above[::2], above[1::2], strict=False)]
    expected: dict[int, str] = {}
    for start, end, look in (*under, *over):
        expected |= dict.fromkeys(range(start, end), look)
    marks = overlay(under, over)
    assert list(marks) == sorted(marks)
    assert {i: look for start, end, look in marks for i in range(start, end)} == expected
    assert sum(end - start for start, end, _ in marks) == len(expected)

"""Lines of Markdown: their kinds, styles, links and emphasis."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.safe_text import safe_lines
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


MARKUP = (
    "[[ ]] [ ] ( ) ![ ]( | ` `` ``` ** * __ _ ~~ \\ # > - 1. --- https://a.b/c [[Alice]] [x](y.md)"
)
WORDS = "word c 港 🛳 <a> \x1b[31m \u202e [red]"
fragments = st.sampled_from([*MARKUP.split(), *WORDS.split(), " "])
lines_of_markup = st.lists(fragments, max_size=14).map("".join)
files = st.lists(lines_of_markup, max_size=8).map(lambda lines: safe_lines("\n".join(lines)))


@given(files)
def test_only_inline_markup_is_removed(lines: list[str]) -> None:
    text = render_inline(lines)
    assert len(text.lines) == len(lines)
    for number, (line, source) in enumerate(zip(text.lines, lines, strict=True), 1):
        rest = iter(source)
        assert all(character in rest for character in line)  # in order, nothing added
        if number not in text.emphasis and number not in {link.place.line for link in text.links}:
            assert line == source


@given(files)
def test_links_are_sorted_and_have_a_visible_label(lines: list[str]) -> None:
    shown, _, links, _ = render_inline(lines)
    places = [(link.place.line, link.place.start, link.place.end) for link in links]
    assert places == sorted(places)
    for link in links:
        assert shown[link.place.line - 1][link.place.start : link.place.end].strip()
        assert link.target


@pytest.mark.parametrize(
    ("line", "shown", "links"),
    [
        ("ask [[Alice Chen]] now", "ask Alice Chen now", [("Alice Chen", "Alice Chen")]),
        ("[[people/bob.md|Bob]]", "Bob", [("Bob", "people/bob.md")]),
        ("[[Plan#Steps]]", "Plan#Steps", [("Plan#Steps", "Plan#Steps")]),
        (r"| [[Migration\|move]] |", "| move |", [("move", "Migration")]),
        ("[the plan](../plan.md)", "the plan", [("the plan", "../plan.md")]),
        ('[a](<my plan.md> "t")', "a", [("a", "my plan.md")]),
        ("![](pier.png)", "pier.png", [("pier.png", "pier.png")]),
        ("[a_(b)](w/a_(b))", "a_(b)", [("a_(b)", "w/a_(b)")]),
        ("at <https://a.b/c>.", "at <https://a.b/c>.", [("https://a.b/c", "https://a.b/c")]),
        ("(https://a.b/c), so", "(https://a.b/c), so", [("https://a.b/c", "https://a.b/c")]),
        ("team: '[[Platform]]'", "team: 'Platform'", [("Platform", "Platform")]),
        ("`[[Alice]]` and ``a [b](c)``", "[[Alice]] and a [b](c)", []),
        (r"\[no](link)", r"\[no](link)", []),
        ("- [2025-11-04] (from: a)", "- [2025-11-04] (from: a)", []),
        ("- [ ] open", "- [ ] open", []),
        ("[[]] []() [[ ]]", "[[]] []() [[ ]]", []),
        ("*a [b* c](x.md)", "*a b* c", [("b* c", "x.md")]),
        ("**[[**]([[)", "**[**", [("**", "[[")]),
    ],
)
def test_links_are_replaced_by_their_labels(
    line: str, shown: str, links: list[tuple[str, str]]
) -> None:
    (text,), _, actual, _ = render_inline([line])
    assert text == shown
    labels = [text[link.place.start : link.place.end] for link in actual]
    assert list(zip(labels, (link.target for link in actual), strict=True)) == links


@pytest.mark.parametrize(
    ("line", "shown", "looks"),
    [
        ("a **b** c", "a b c", [("b", "strong")]),
        ("*every part*.", "every part.", [("every part", "emphasis")]),
        ("use `a*b*c` here", "use a*b*c here", [("a*b*c", "code")]),
        ("~~gone~~ and __kept__", "gone and kept", [("gone", "struck"), ("kept", "strong")]),
        ("* **item** one", "* item one", [("item", "strong")]),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4", []),
        (r"** not bold ** nor \*this\*", r"** not bold ** nor \*this\*", []),
        ("see https://a.b/_x_/", "see https://a.b/_x_/", []),
    ],
)
def test_emphasis_loses_its_markers(line: str, shown: str, looks: list[tuple[str, str]]) -> None:
    text = render_inline([line])
    assert text.lines == (shown,)
    assert [(shown[start:end], look) for start, end, look in text.emphasis.get(1, ())] == looks


def test_the_label_of_a_link_may_be_before_its_bar() -> None:
    line = r"| [[Green tea|tea.green#brew]] | [[tea.black]] | ![[ |a]] [[Oolong\|tea.oolong]] |"
    text = render_inline([line], labels_first=True)
    assert text.lines == ("| Green tea | tea.black | a Oolong |",)
    targets = ["tea.green#brew", "tea.black", "a", "tea.oolong"]
    assert [link.target for link in text.links] == targets


def test_hidden_markup_moves_no_link_and_changes_no_kind_of_line() -> None:
    text = render_inline(["**by [[Alice Chen]]** and *then* [[Bob|him]]"])
    (line,) = text.lines
    assert line == "by Alice Chen and then him"
    labels = [line[link.place.start : link.place.end] for link in text.links]
    assert labels == ["Alice Chen", "him"]

    text = render_inline(["`# not a heading`", "**- no item**"])
    assert text.lines == ("# not a heading", "- no item")
    assert list(text.kinds) == ["text", "text"]

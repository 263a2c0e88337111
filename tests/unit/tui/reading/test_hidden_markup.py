"""Inline markup is hidden: links show their labels, emphasis its text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.safe_text import safe_lines
from kbx_tui.tui.reading.markdown_lines import render_inline

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


def test_links_keep_their_place_in_and_beside_emphasis() -> None:
    text = render_inline(["**by [[Alice Chen]]** and *then* [[Bob|him]]"])
    (line,) = text.lines
    assert line == "by Alice Chen and then him"
    labels = [line[link.place.start : link.place.end] for link in text.links]
    assert labels == ["Alice Chen", "him"]


def test_markup_that_is_hidden_changes_no_kind_of_line() -> None:
    text = render_inline(["`# not a heading`", "**- no item**"])
    assert text.lines == ("# not a heading", "- no item")
    assert list(text.kinds) == ["text", "text"]

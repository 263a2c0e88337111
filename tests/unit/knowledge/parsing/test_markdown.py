from hypothesis import example, given

from kbx_tui.knowledge.parsing.headings import scan_headings
from kbx_tui.knowledge.parsing.inline import plain_text
from kbx_tui.knowledge.parsing.markdown import headings, line_offsets, outline
from tests.unit.knowledge.building import markdown_bodies


def named(body: str) -> list[tuple[int, str, int]]:
    return [(heading.level, heading.text, heading.line) for heading in headings(body)]


def test_headings_of_both_kinds_have_levels_and_lines() -> None:
    body = "# One\ntext\n\nTwo\nlines\n===\n\n###  Three ##\n#### *Four* [x](y)\n#no\n"
    assert named(body) == [(1, "One", 0), (1, "Two lines", 3), (3, "Three", 7), (4, "Four x", 8)]


def test_headings_in_code_html_lists_and_quotes_are_none() -> None:
    body = (
        "```\n# a\n```\n~~~~\n# b\n~~~\n# c\n~~~~\n\n    # d\n\n<div>\n# e\n</div>\n\n"
        "<!--\n\n# f\n-->\n\n- # g\n> # h\n\n```\n# never closed\n"
    )
    assert named(body) == []


def test_a_fence_in_a_list_ends_with_the_list() -> None:
    assert named("- a\n  ```\n  # no\n\n# yes\n") == [(1, "yes", 4)]


def test_a_rule_is_no_underline() -> None:
    assert named("- item\n---\n\n---\n\n| a |\n---\n")[:1] in ([], [(2, "| a |", 5)])


@given(markdown_bodies)
@example("a\n=\n\n=\n")
@example("<a>\n```\n\n# x\n```\n")
@example("- x\n ```\n# y\n```\n# z\n")
@example("```\n ~~~\n```\n# x")
@example("# x\n---\ny\n---")
def test_looking_at_lines_finds_the_parsers_headings(body: str) -> None:
    scanned = scan_headings(body)
    assert scanned is None or scanned == outline(body).headings


def test_list_items_have_their_own_text_and_depth() -> None:
    body = "- a\n  goes on\n\n  second\n  - nested\n    1. deep\n- b\n\n> - quoted\n"
    items = outline(body).items
    assert [(item.line, item.text_end, item.end, item.depth) for item in items] == [
        (0, 2, 6, 0),
        (4, 5, 6, 1),
        (5, 6, 6, 2),
        (6, 7, 8, 0),
    ]


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    blocks = outline("# a\n## b\n### c\n## d\n")
    assert [blocks.section_end(index) > 3 for index in range(4)] == [True, False, False, True]
    assert blocks.section_end(1) == 3


def test_nesting_beyond_measure_gives_an_outline() -> None:
    for body in ("> " * 5_000 + "x", "- " * 5_000 + "x", "1. " * 5_000):
        outline(body)


def test_line_offsets_end_after_the_text() -> None:
    assert line_offsets("ab\n\nc") == [0, 3, 4, 6]


def test_a_line_reads_without_its_markup() -> None:
    assert (
        plain_text(r"**Bold** _it_ [[A|b]] [[C]] [d](e.md) `f` snake_case 2*3*4 \*g\* ![h](i.png)")
        == "Bold it b C d f snake_case 2*3*4 *g* h"
    )

from kbx_tui.knowledge.markdown import headings, line_offsets, outline


def positions(body: str) -> list[tuple[int, str, int]]:
    return [(heading.level, heading.text, heading.line) for heading in headings(body)]


def test_hash_and_underlined_headings_have_levels_and_lines() -> None:
    body = "# One\ntext\n\nTwo\nlines\n===\n\n###  Three ##\n#### *Four* [x](y)\n#no\n"
    assert positions(body) == [
        (1, "One", 0),
        (1, "Two lines", 3),
        (3, "Three", 7),
        (4, "Four x", 8),
    ]


def test_headings_in_code_html_lists_and_quotes_are_ignored() -> None:
    body = (
        "```\n# a\n```\n~~~~\n# b\n~~~\n# c\n~~~~\n\n    # d\n\n<div>\n# e\n</div>\n\n"
        "<!--\n\n# f\n-->\n\n- # g\n> # h\n\n```\n# never closed\n"
    )
    assert positions(body) == []


def test_code_fence_in_a_list_ends_with_the_list() -> None:
    assert positions("- a\n  ```\n  # no\n\n# yes\n") == [(1, "yes", 4)]


def test_horizontal_rule_is_not_a_heading_underline() -> None:
    assert positions("- item\n---\n\n---\n\n| a |\n---\n")[:1] in ([], [(2, "| a |", 5)])


def test_list_items_have_lines_and_depth() -> None:
    body = "- a\n  goes on\n\n  second\n  - nested\n    1. deep\n- b\n\n> - quoted\n"
    items = outline(body).items
    assert [(item.line, item.text_end, item.end, item.depth) for item in items] == [
        (0, 2, 6, 0),
        (4, 5, 6, 1),
        (5, 6, 6, 2),
        (6, 7, 8, 0),
    ]


def test_section_ends_at_the_next_heading_of_its_level() -> None:
    blocks = outline("# a\n## b\n### c\n## d\n")
    assert [blocks.section_end(index) > 3 for index in range(4)] == [True, False, False, True]
    assert blocks.section_end(1) == 3


def test_extreme_nesting_does_not_raise() -> None:
    for body in ("> " * 5_000 + "x", "- " * 5_000 + "x", "1. " * 5_000):
        outline(body)


def test_line_offsets_end_after_the_text() -> None:
    assert line_offsets("ab\n\nc") == [0, 3, 4, 6]

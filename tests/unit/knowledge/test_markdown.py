"""Tags and properties in running text."""

from typing import Any

import pytest
from hypothesis import example, given

from kbx_tui.knowledge.markdown import headings, inline_fields, inline_tags, outline, scan_headings
from kbx_tui.knowledge.reading import parse_document
from tests.unit.knowledge.building import markdown_bodies


def positions(body: str) -> list[tuple[int, str, int]]:
    return [(heading.level, heading.text, heading.line) for heading in headings(body)]


def test_headings_are_those_of_markdown_with_levels_and_lines() -> None:
    body = "# One\ntext\n\nTwo\nlines\n===\n\n###  Three ##\n#### *Four* [x](y)\n#no\n"
    assert positions(body) == [
        (1, "One", 0),
        (1, "Two lines", 3),
        (3, "Three", 7),
        (4, "Four x", 8),
    ]

    body = (
        "```\n# a\n```\n~~~~\n# b\n~~~\n# c\n~~~~\n\n    # d\n\n<div>\n# e\n</div>\n\n"
        "<!--\n\n# f\n-->\n\n- # g\n> # h\n\n```\n# never closed\n"
    )
    assert positions(body) == []

    assert positions("- a\n  ```\n  # no\n\n# yes\n") == [(1, "yes", 4)]
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


def test_section_ends_at_the_next_heading_of_its_level_however_deep_the_rest() -> None:
    blocks = outline("# a\n## b\n### c\n## d\n")
    assert [blocks.section_ends[index] > 3 for index in range(4)] == [True, False, False, True]
    assert blocks.section_ends[1] == 3

    for body in ("> " * 5_000 + "x", "- " * 5_000 + "x", "1. " * 5_000):
        outline(body)


@given(markdown_bodies)
@example("a\n=\n\n=\n")
@example("<a>\n```\n\n# x\n```\n")
@example("- x\n ```\n# y\n```\n# z\n")
@example("```\n ~~~\n```\n# x")
@example("# x\n---\ny\n---")
def test_scanned_headings_are_those_of_the_parser(body: str) -> None:
    scanned = scan_headings(body)
    assert scanned is None or scanned == outline(body).headings


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("#todo and #area/topic, #todo", ("todo", "area/topic")),
        ("a #y1984 #1984 #12-3 #", ("y1984",)),
        ("# Heading\n#tag at the start\n- #in-list", ("tag", "in-list")),
        ("https://x.org/#part a#b [[#part]] [[note #x]] (#y)", ()),
        ("`#code` ``#b``\n\n```\n#c\n```\n\n    #d\n", ()),
        ("#Über #日本 #a.b #c'd #e_f #g/", ("Über", "日本", "a", "c", "e_f", "g")),
        ("#a#b ##c #!d", ("a",)),
        ("- #[[Deep work]], a#[[b]] and [[c]]", ("Deep work",)),
    ],
)
def test_tags_are_words_after_a_blank(body: str, tags: tuple[str, ...]) -> None:
    assert inline_tags(body) == tags


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ("Status:: open\n- **Owner**:: [[Ann Lee]]\n", {"status": "open", "owner": "[[Ann Lee]]"}),
        ("Fine [mood:: good] and (due:: 2026-03-17).", {"mood": "good", "due": "2026-03-17"}),
        ("key:: one\nkey:: two", {"key": ["one", "two"]}),
        ("also known as:: Annie", {"also_known_as": "Annie"}),
        ("use std::vector and a::b\n`x:: y`\n\n```\nk:: v\n```", {}),
    ],
)
def test_properties_are_lines_or_in_brackets(body: str, fields: dict[str, Any]) -> None:
    assert inline_fields(body) == fields


def test_inline_properties_count_as_those_in_frontmatter_which_come_first() -> None:
    text = b"---\ntags: [b, x/y]\n---\ntags:: a\ndate:: 2026-03-17\naliases:: Q, Plan B\n#x/y #z\n"
    document = parse_document("Plan.md", text)
    assert (document.date, document.aliases) == ("2026-03-17", ("Q", "Plan B"))
    assert document.tags == ("b", "x/y", "z")
    assert document.frontmatter == {"tags": ["b", "x/y"]}


def test_links_in_properties_are_found_at_any_depth() -> None:
    text = b'---\nauthor: "[[Ann|A]] and [[Bob#x]]"\nup: [[Map]]\nmore:\n  a: ["[[C]]", x]\n---\n'
    assert parse_document("a.md", text).property_links == ("Ann", "Bob#x", "Map", "C")


@pytest.mark.parametrize(
    ("name", "date"),
    [
        ("2026_03_17", "2026-03-17"), ("20260317", "2026-03-17"), ("17.3.2026", "2026-03-17"),
        ("March 17, 2026", "2026-03-17"), ("17 March 2026", "2026-03-17"), ("20261399", ""),
        ("Meeting 17 March", ""), ("12345678", ""),
    ],
)  # fmt: skip
def test_a_note_whose_name_is_a_date_has_that_date(name: str, date: str) -> None:
    assert parse_document(f"Daily/{name}.md", b"").date == date

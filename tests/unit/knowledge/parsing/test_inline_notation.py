"""Tags and properties in running text."""

from __future__ import annotations

from typing import Any

import pytest

from kbx_tui.knowledge.markdown import inline_fields, inline_tags
from kbx_tui.knowledge.reading import parse_document


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

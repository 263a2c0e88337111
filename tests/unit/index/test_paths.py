"""A path filter means the same everywhere: that folder or file, and nothing beside it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.index.paths import PathFilter, both, kinds_where, quoted

ROOT = Path("/base")


@pytest.mark.parametrize(
    ("given_path", "prefix"),
    [
        (None, ""),
        ("", ""),
        ("  ", ""),
        (".", ""),
        ("./memory", "memory"),
        ("memory/", "memory"),
        ("memory//people/", "memory/people"),
        ("memory/x/../people", "memory/people"),
        ("/base/memory", "memory"),
        ("/base", ""),
        ("memory/100%_a'b", "memory/100%_a'b"),
    ],
)
def test_ways_to_write_one_path_are_one_filter(given_path: str | None, prefix: str) -> None:
    assert PathFilter.parse(given_path, ROOT).prefix == prefix


@pytest.mark.parametrize("outside", ["..", "memory/../..", "/elsewhere", "/base/../x"])
def test_a_path_out_of_the_base_is_refused(outside: str) -> None:
    with pytest.raises(ConfigError, match="give one below it"):
        PathFilter.parse(outside, ROOT)


def test_a_folder_does_not_cover_what_only_begins_like_it() -> None:
    people = PathFilter.parse("memory/people", ROOT)
    assert people.matches("memory/people/a.md")
    assert not people.matches("memory/people_ops/a.md")
    assert not people.matches("memory/people.md")


def test_a_file_covers_itself() -> None:
    assert PathFilter.parse("memory/a.md", ROOT).matches("memory/a.md")


def test_both_unicode_forms_of_a_path_are_one() -> None:
    decomposed = unicodedata.normalize("NFD", "memory/café")
    assert PathFilter.parse(decomposed, ROOT).matches("memory/café/a.md")


@given(st.text(alphabet="ab%_'\\\"[é", min_size=1, max_size=6))
def test_everything_below_a_prefix_is_in_scope_and_nothing_else(name: str) -> None:
    chosen = PathFilter(f"memory/{name}")
    assert chosen.matches(f"memory/{name}/x.md")
    assert not chosen.matches(f"memory/{name}x/x.md")


def test_only_the_quote_is_special_in_a_literal() -> None:
    assert quoted("it's 100%_\\") == "'it''s 100%_\\'"


def test_clauses_are_joined_and_empty_ones_left_out() -> None:
    assert both("", "") == ""
    assert both("a = 1", "", kinds_where(["note", "meeting"])) == (
        "a = 1 AND kind IN ('note', 'meeting')"
    )

"""Globs agree with a slow reference implementation on any tree and pattern."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings

from kbx_tui.errors import ConfigError
from kbx_tui.index.path_filter import MAX_ALTERNATIVES, PathFilter, alternatives
from tests.unit.index.paths.reference_globs import in_scope, trees_and_patterns

ROOT = Path("/base")


@settings(max_examples=600)
@given(trees_and_patterns())
@example((["a1.md", "a[1].md"], "a[1].md"))
@example((["a/b/a/ab"], "**a*b"))
def test_a_filter_agrees_with_the_reference(tree_and_pattern: tuple[list[str], str]) -> None:
    tree, pattern = tree_and_pattern
    if pattern.strip().startswith("/"):
        return  # absolute, see test_path_filter
    try:
        expected = in_scope(pattern, tree)
    except ConfigError:
        with pytest.raises(ConfigError):
            PathFilter.parse(pattern, ROOT)
        return
    path_filter = PathFilter.parse(pattern, ROOT).among(tree)
    assert [path for path in tree if path_filter.matches(path)] == expected


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("a", ("a",)),
        ("{a,b}c", ("ac", "bc")),
        ("{a,{b,c}d}", ("a", "bd", "cd")),
        ("{a,b}{c,d}", ("ac", "ad", "bc", "bd")),
        ("x{,y}", ("x", "xy")),
        ("{a}", ("{a}",)),
        ("{a{b,c}}", ("{ab}", "{ac}")),
        ("{a,b", ("{a,b",)),
        ("{a,{b,c}", ("{a,b", "{a,c")),
        ("a,b}", ("a,b}",)),
        ("[{]a,b}", ("[{]a,b}",)),
        ("{a,a}", ("a",)),
    ],
)
def test_braces_are_expanded_as_in_a_shell(text: str, expanded: tuple[str, ...]) -> None:
    assert alternatives(text) == expanded


@pytest.mark.parametrize(
    "text", ["{a,b}" * 10, "{" * 5000 + "," + "}" * 5000 + "{a,b}" * 20, "{" + "a," * 2000 + "}",
             "{a," * 1500 + "}" * 1500]
)  # fmt: skip
def test_too_many_alternatives_are_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match=f"more than {MAX_ALTERNATIVES:,} paths; write fewer"):
        alternatives(text)


@pytest.mark.parametrize(
    "stars", ["*a" * 30 + "b", "**a" * 30 + "b", "**/*a" * 30 + "/b", "*" * 999]
)
def test_patterns_with_many_stars_match_fast(stars: str) -> None:
    path_filter = PathFilter.parse(stars, ROOT)
    assert not path_filter.matches("a/" * 200 + "a" * 200 + "/c") or set(stars) == {"*"}

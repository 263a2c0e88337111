"""Globs agree with a slow and simple reading of the grammar, on any tree and any pattern."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings

from kbx_tui.errors import ConfigError
from kbx_tui.index.paths.globs import MAX_ALTERNATIVES, alternatives
from kbx_tui.index.paths.path_filter import PathFilter
from tests.unit.index.slow_globs import in_scope, trees_and_patterns

ROOT = Path("/base")


@settings(max_examples=600)
@given(trees_and_patterns())
@example((["a1.md", "a[1].md"], "a[1].md"))
@example((["a/b/a/ab"], "**a*b"))
def test_a_pattern_lets_in_what_a_slow_reading_lets_in(
    found: tuple[list[str], str],
) -> None:
    tree, pattern = found
    if pattern.strip().startswith("/"):
        return  # absolute, see test_paths
    try:
        expected = in_scope(pattern, tree)
    except ConfigError:
        with pytest.raises(ConfigError):
            PathFilter.parse(pattern, ROOT)
        return
    chosen = PathFilter.parse(pattern, ROOT).among(tree)
    assert [path for path in tree if chosen.matches(path)] == expected


@pytest.mark.parametrize(
    ("text", "written_out"),
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
def test_braces_are_written_out_as_a_shell_does(text: str, written_out: tuple[str, ...]) -> None:
    assert alternatives(text) == written_out


@pytest.mark.parametrize(
    "text", ["{a,b}" * 10, "{" * 5000 + "," + "}" * 5000 + "{a,b}" * 20, "{" + "a," * 2000 + "}",
             "{a," * 1500 + "}" * 1500]
)  # fmt: skip
def test_too_many_alternatives_are_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(ConfigError, match=f"more than {MAX_ALTERNATIVES:,} paths; write fewer"):
        alternatives(text)


@pytest.mark.parametrize(
    "stars", ["*a" * 30 + "b", "**a" * 30 + "b", "**/*a" * 30 + "/b", "*" * 999]
)
def test_no_number_of_stars_takes_forever(stars: str) -> None:
    chosen = PathFilter.parse(stars, ROOT)
    assert not chosen.matches("a/" * 200 + "a" * 200 + "/c") or set(stars) == {"*"}

"""A clause never lets in less than the filter it is made from, and says when it lets in more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

from kbx_tui.errors import ConfigError
from kbx_tui.index.paths.path_filter import PathFilter
from kbx_tui.index.paths.where_clause import both, kinds_where, path_where, quoted
from tests.unit.index.slow_globs import trees_and_patterns

ROOT = Path("/base")
_PART = re.compile(r"path = '((?:[^']|'')*)'|starts_with\(path, '((?:[^']|'')*)'\)")


def lets_in(clause: str, path: str) -> bool:
    """Return what a table would say, from the two forms a clause is made of."""
    if not clause:
        return True
    rest = _PART.sub("x", clause)
    assert set(rest) <= set("(x OR)"), clause
    parts = [
        (one.replace("''", "'"), start.replace("''", "'")) for one, start in _PART.findall(clause)
    ]
    return any(path == one if one else path.startswith(start) for one, start in parts)


@given(trees_and_patterns())
def test_a_clause_lets_in_all_that_the_filter_does(found: tuple[list[str], str]) -> None:
    tree, pattern = found
    try:
        chosen = PathFilter.parse(pattern, ROOT).among(tree)
    except ConfigError:
        return
    clause, exact = path_where(chosen)
    for path in tree:
        if chosen.matches(path):
            assert lets_in(clause, path)
        elif exact:
            assert not lets_in(clause, path)


@pytest.mark.parametrize(
    ("path", "clause", "exact"),
    [
        ("", "", True),
        ("**", "", True),
        ("memory/it's", "(path = 'memory/it''s' OR starts_with(path, 'memory/it''s/'))", True),
        ("memory/**", "(starts_with(path, 'memory/'))", True),
        ("memory/0[1-3]/", "(starts_with(path, 'memory/0'))", False),
        ("memory/*.md", "(starts_with(path, 'memory/'))", False),
        ("**/x.md", "", False),
        ("{a,b}/", "(starts_with(path, 'a/') OR starts_with(path, 'b/'))", True),
        ("{a/**,a/*.md}", "(starts_with(path, 'a/'))", True),
        ("{a,**/b}.md", "", False),
    ],
)
def test_what_comes_before_the_wildcards_becomes_a_clause(
    path: str, clause: str, exact: bool
) -> None:
    assert path_where(PathFilter.parse(path, ROOT)) == (clause, exact)


def test_only_the_quote_is_special_in_a_literal() -> None:
    assert quoted("it's 100%_\\") == "'it''s 100%_\\'"


def test_clauses_are_joined_and_empty_ones_left_out() -> None:
    assert both("", "") == ""
    assert both("a = 1", "", kinds_where(["note", "meeting"])) == (
        "a = 1 AND kind IN ('note', 'meeting')"
    )

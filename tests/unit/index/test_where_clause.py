"""Where clauses list values in batches and escape them."""

from __future__ import annotations

from kbx_tui.index.store import batched_clauses, is_one_of, quoted


def test_only_single_quotes_are_escaped() -> None:
    assert quoted("it's 100%_\\") == "'it''s 100%_\\'"


def test_values_are_listed_in_batches() -> None:
    assert list(batched_clauses("path", ["a", "it's", "c"], 2)) == [
        "path IN ('a', 'it''s')",
        "path IN ('c')",
    ]
    assert list(batched_clauses("path", [], 2)) == []


def test_an_empty_list_of_values_matches_no_row() -> None:
    assert is_one_of("path", []) == "false"

"""The reading position survives showing the same document again."""

from __future__ import annotations

from kbx_tui.tui.reading.markdown_lines import Place, Preview
from kbx_tui.tui.reading.reading_layout import (
    NO_PLACE,
    first_match,
    is_empty,
    keeps_position,
    restored_index,
    restored_line,
)


def preview(lines: str, *matches: Place, best: int = 0, path: str = "p.md") -> Preview:
    return Preview(path, "", "", tuple(lines.split("/")), best, best, matches)


def test_position_is_kept_in_the_same_text_and_after_an_edit() -> None:
    now = preview("a/b", Place(1, 0, 1), best=1)
    assert keeps_position(now, preview("a/b", Place(1, 0, 1), best=1))
    assert keeps_position(now, preview("new/a/b", Place(2, 0, 1), best=2))


def test_position_is_not_kept_for_another_query_or_document() -> None:
    now = preview("a/b", Place(1, 0, 1), best=1)
    assert not keeps_position(now, preview("a/b", Place(2, 0, 1), best=2))
    assert not keeps_position(now, preview("a/b", Place(1, 0, 1), best=1, path="o.md"))


def test_first_match_lies_in_the_best_passage() -> None:
    places = (Place(1, 0, 1), Place(3, 0, 1), Place(3, 2, 3))
    assert first_match(preview("a/b/c c", *places, best=3)) == 1
    assert first_match(preview("a/b/c c", *places, best=2)) == NO_PLACE
    assert first_match(preview("a/b/c c", *places)) == NO_PLACE
    assert first_match(preview("a", best=1)) == NO_PLACE


def test_a_match_is_restored_on_the_line_it_moved_to() -> None:
    before = preview("a/b", Place(1, 0, 1), Place(2, 0, 1))
    now = preview("x/a/b", Place(1, 0, 1), Place(2, 0, 1), Place(3, 0, 1))
    assert restored_index(before, now, before.matches, now.matches, 1) == 2
    assert restored_index(before, now, before.matches, now.matches, NO_PLACE) == NO_PLACE
    assert restored_index(before, preview("z"), before.matches, (), 1) == NO_PLACE
    deleted = preview("x", Place(1, 0, 1))
    assert restored_index(before, deleted, before.matches, deleted.matches, 1) == 0


def test_a_document_of_spaces_counts_as_empty() -> None:
    assert is_empty(preview("/  /"))
    assert not is_empty(preview("/ a"))


def test_a_line_is_restored_after_an_edit() -> None:
    before = ["a", "b", "c", "b", "d"]
    assert restored_line(before, ["new", *before], 3) == 4
    assert restored_line(before, ["b", "c", "b", "d"], 4) == 3
    assert restored_line(before, ["x"], 3) == 1
    assert restored_line(before, before, 3) == 3

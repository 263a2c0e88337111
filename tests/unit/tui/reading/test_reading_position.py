"""Who reads goes on reading where they were."""

from __future__ import annotations

from kbx_tui.tui.explore.view import Place, Preview
from kbx_tui.tui.reading.reading_position import (
    NONE,
    again,
    first_match,
    goes_on,
    is_empty,
    line_again,
)


def preview(lines: str, *matches: Place, best: int = 0, path: str = "p.md") -> Preview:
    return Preview(path, "", "", "", tuple(lines.split("/")), best, best, matches)


def test_reading_goes_on_in_the_same_text_and_after_an_edit() -> None:
    now = preview("a/b", Place(1, 0, 1), best=1)
    assert goes_on(now, preview("a/b", Place(1, 0, 1), best=1))
    assert goes_on(now, preview("new/a/b", Place(2, 0, 1), best=2))


def test_another_query_or_document_is_begun_anew() -> None:
    now = preview("a/b", Place(1, 0, 1), best=1)
    assert not goes_on(now, preview("a/b", Place(2, 0, 1), best=2))
    assert not goes_on(now, preview("a/b", Place(1, 0, 1), best=1, path="o.md"))


def test_a_person_is_at_a_match_of_the_best_place_or_at_none() -> None:
    places = (Place(1, 0, 1), Place(3, 0, 1), Place(3, 2, 3))
    assert first_match(preview("a/b/c c", *places, best=3)) == 1
    assert first_match(preview("a/b/c c", *places, best=2)) == NONE
    assert first_match(preview("a/b/c c", *places)) == NONE
    assert first_match(preview("a", best=1)) == NONE


def test_a_match_moves_with_its_line() -> None:
    before = preview("a/b", Place(1, 0, 1), Place(2, 0, 1))
    now = preview("x/a/b", Place(1, 0, 1), Place(2, 0, 1), Place(3, 0, 1))
    assert again(before, now, before.matches, now.matches, 1) == 2
    assert again(before, now, before.matches, now.matches, NONE) == NONE
    assert again(before, preview("z"), before.matches, (), 1) == NONE
    gone = preview("x", Place(1, 0, 1))
    assert again(before, gone, before.matches, gone.matches, 1) == 0


def test_spaces_are_nothing_to_read() -> None:
    assert is_empty(preview("/  /"))
    assert not is_empty(preview("/ a"))


def test_a_line_is_found_again_after_an_edit() -> None:
    before = ["a", "b", "c", "b", "d"]
    assert line_again(before, ["new", *before], 3) == 4
    assert line_again(before, ["b", "c", "b", "d"], 4) == 3
    assert line_again(before, ["x"], 3) == 1
    assert line_again(before, before, 3) == 3

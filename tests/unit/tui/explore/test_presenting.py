"""The views made from rankings, snippets and documents."""

import re

import pytest

from kbx_tui.api.documents import DocumentView
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from kbx_tui.search.results.response import Snippet
from kbx_tui.search.results.snippets import PassageSource
from kbx_tui.tui.explore.presenting import next_change_note, present, present_snippet
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.reading.documents import present_document
from kbx_tui.tui.reading.markdown_lines import Place
from tests.unit.search.building import components, evidence


def test_sorting_by_date_puts_the_newest_of_the_best_first() -> None:
    retrieved = evidence(
        components([9.0, 5.0, 1.0], [0.9, 0.5, 0.4]), dates=["2026-01-01", "", "2026-03-01"]
    )
    view = present(rank(retrieved, Tuning()), SearchState(sort="date"))
    assert [row.date for row in view.results] == ["2026-03-01", "2026-01-01", ""]
    assert view.order == "the best 3, newest first"


@pytest.mark.parametrize(
    ("below", "above", "note"),
    [
        (None, 0.63, "next change at .63"),
        (0.38, 0.63, "next changes at .38 and .63"),
        (0.38, None, "next change at .38"),
        (None, None, ""),
        (0.0, 1.0, "next changes at .00 and 1.00"),
        (0.497, 0.501, "next changes at .49 and .51"),
        (0.4899, 0.5999, "next changes at .48 and .60"),
        (None, 0.50004, "next change at .51"),
        (0.5, 0.5, "next changes at .49 and .51"),
        (0.001, 0.999, "next changes at .00 and 1.00"),
    ],
)
def test_next_change_note_names_every_change(
    below: float | None, above: float | None, note: str
) -> None:
    assert next_change_note(below, above, 0.5) == note


def test_next_change_note_names_the_end_of_the_scale_from_beside_it() -> None:
    assert next_change_note(None, 1.0, 0.95) == "next change at 1.00"
    assert next_change_note(None, 1.0, 0.99) == "next change at 1.00"


def test_document_view_places_matches_and_shows_links_as_labels() -> None:
    text = "# Plan\n\nmigration by [[Alice Chen|Alice]]\n\x1b[31mmigration\x1b[0m"
    document = DocumentView("a.md", "Plan", "", "note", text)
    shown = present_document(
        document, None, lambda text: [m.span() for m in re.finditer("migration", text)]
    )
    assert shown.lines[2:] == ("migration by Alice", "migration")
    assert shown.matches == (Place(3, 0, 9), Place(4, 0, 9))
    (link,) = shown.links
    assert (link.target, link.place) == ("Alice Chen", Place(3, 13, 18))


def test_snippet_matches_move_when_control_characters_are_removed() -> None:
    shown = present_snippet(
        Snippet(
            "a \x1b[31mred\x1b[0m migration\x07!", ((15, 24),), "h\x1b[1m", 3, 4, (("x\x07", 2),)
        )
    )
    ((start, end),) = shown.matches
    assert shown.text[start:end] == "migration"
    assert "\x1b" not in shown.text + shown.heading


@pytest.mark.parametrize("length", range(195, 206))
def test_a_passage_that_is_cut_near_the_end_of_a_line_is_shown(length: int) -> None:
    words = ("ferry " * 40)[: length - 1].rstrip().ljust(length - 1, "s")
    for end in ("", " ", "."):
        body = f"{words}{end}\nThe next line. {'It goes on. ' * 20}"
        snippet = PassageSource(body, 1, "ferry").snippet()
        assert all(at < len(snippet.text) for at in snippet.line_breaks)
        assert present_snippet(snippet).text.startswith("ferry ferry")

"""Documents wrapped to rows, and the position kept in them."""

import gc
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.tui.drawing.lines import width_of
from kbx_tui.tui.reading.markdown_lines import Place, Preview, render_inline
from kbx_tui.tui.reading.reading_layout import (
    LEAST_TEXT,
    MARGIN,
    MOST_TABLE_LINES,
    NO_PLACE,
    TextLayout,
    first_from,
    first_match,
    is_empty,
    keeps_position,
    lay_out,
    place_at,
    restored_index,
    restored_line,
)
from tests.unit.tui.reading.test_markdown_lines import files

NO_BARS = str.maketrans(dict.fromkeys(" |│", ""))
widths = st.integers(LEAST_TEXT + MARGIN + 1, 40)


def preview_of(lines: list[str], words: str = "word|c", best: tuple[int, int] = (0, 0)) -> Preview:
    shown, kinds, links, emphasis = render_inline(lines)
    matches = tuple(
        Place(number, *match.span())
        for number, line in enumerate(shown, 1)
        for match in re.finditer(words, line)
    )
    return Preview(
        "p.md", "Title", "", shown, *best, matches, links, kinds=kinds, emphasis=emphasis
    )


def text_in(layout: TextLayout, row: int) -> str:
    return "".join(span.text for span in layout.line(row))


TABLE = [
    "before",
    "| Point | Way **back** | [[a|Who]] |",
    "|---|---|---|",
    "| A | open the old cluster again | `x` |",
    r"| B | a \| b word |",
    "after",
]


@pytest.mark.parametrize(
    ("width", "rows"),
    [
        (
            60,
            [
                "Point │ Way back                   │ Who",
                "────────────────────────────────────────",
                "A     │ open the old cluster again │ x",
                r"B     │ a \| b word                │",
            ],
        ),
        (
            30,
            [
                "Point │ Way back      │ Who",
                "───────────────────────────",
                "A     │ open the old  │ x",
                "      │ cluster again │",
                r"B     │ a \| b word   │",
            ],
        ),
        (16, []),  # too narrow for its columns
    ],
)
def test_a_table_is_drawn_in_columns_that_fit(width: int, rows: list[str]) -> None:
    layout = lay_out(preview_of(TABLE), width)
    texts = [layout.text_of(row) for row in range(layout.height)]
    assert layout.source.lines[3] == "| A | open the old cluster again | x |"
    if not rows:
        assert layout.preview is layout.source
        return
    assert texts == ["before", *rows, "after"]
    for place in (*layout.links, *layout.preview.matches):
        text = layout.preview.lines[place.line - 1][place.start : place.end]
        assert text in ("Who", "word", "c")
    looks = {span.text: span.look for span in layout.line(1)}
    assert (looks["Point"], looks["Who"], looks["│"]) == ("strong", "link", "rule")


def test_a_long_table_and_one_without_a_header_stay_as_they_are() -> None:
    rows = ["| a | word |"] * MOST_TABLE_LINES
    for lines in (
        [rows[0], "|---|---|", *rows],
        rows[:3],
        ["|---|---|", rows[0]],
        ["|", "|---|", "|"],
    ):
        assert lay_out(preview_of(lines), 60).preview.lines == tuple(lines)


@given(files, widths)
def test_every_character_is_shown_and_every_row_fits(lines: list[str], width: int) -> None:
    preview = preview_of(lines)
    layout = lay_out(preview, width)
    shown = [""] * len(preview.lines)
    for row in range(layout.height):
        assert width_of(layout.line(row)) < width
        assert text_in(layout, row)[layout.indents[row] :] == layout.text_of(row)
        shown[layout.line_of(row) - 1] += layout.text_of(row)
    drawn = layout.preview.lines  # only lines of tables are not as they were
    for text, line, now in zip(shown, preview.lines, drawn, strict=True):
        if line == now:
            assert text.replace(" ", "") == line.replace(" ", "")
        elif "──" not in text:
            assert sorted(text.translate(NO_BARS)) == sorted(line.translate(NO_BARS))


@given(files, widths)
def test_places_point_at_their_text(lines: list[str], width: int) -> None:
    preview = preview_of(lines)
    layout = lay_out(preview, width)
    for place in (*preview.matches, *layout.links):
        source = preview.lines[place.line - 1][place.start : place.end]
        shown = "".join(
            span.text
            for row in layout.rows_of(place)
            for span in layout.line_with(row, place, "here")
            if span.look == "here"
        )
        assert shown.replace(" ", "") == source.replace(" ", "")
    for place in preview.matches:
        row = layout.row_of(place.line, place.start)
        assert any(span.look == "match" for span in layout.line(row))


@given(files, widths)
def test_character_at_finds_the_character_under_a_click(lines: list[str], width: int) -> None:
    layout = lay_out(preview_of(lines), width)
    for row in range(layout.height):
        start = layout.row_offsets[row]
        for character, letter in enumerate(layout.text_of(row), start):
            if letter.isascii():
                cell = layout.indents[row] + width_of(layout.line(row)[:0])
                cell += _cells(layout.text_of(row)[: character - start])
                assert layout.character_at(row, cell) == (layout.line_of(row), character)
        assert layout.character_at(row, layout.indents[row] - 1) is None
        assert layout.character_at(row, width) is None


def _cells(text: str) -> int:
    from rich.cells import get_character_cell_size

    return sum(map(get_character_cell_size, text))


def test_wrapped_rows_have_a_hanging_indent() -> None:
    layout = lay_out(
        preview_of(["- [2026-01-02] Alice signs off", "> quoted and long, so it wraps"]), 25
    )
    assert [text_in(layout, row).rstrip() for row in range(layout.height)] == [
        "  - [2026-01-02] Alice",
        "    signs off",
        "  > quoted and long, so",
        "  > it wraps",
    ]


def test_prose_is_not_wider_than_is_read_with_ease() -> None:
    words, code = "word " * 60, "x = 1; " * 20
    layout = lay_out(preview_of([words, "```", code, "```"]), 160)
    widths = [_cells(text_in(layout, row)) for row in range(layout.height)]
    assert max(widths[: layout.row_of(2)]) <= 90
    assert max(widths[layout.row_of(2) :]) > 120


def test_best_passage_is_marked_on_all_its_rows() -> None:
    layout = lay_out(preview_of(["a", "long enough for two rows", "", "b"], best=(2, 3)), 20)
    marked = [row for row in range(layout.height) if text_in(layout, row).startswith("▌")]
    assert [layout.line_of(row) for row in marked] == [2, 2, 3]


def test_line_of_and_row_of_are_inverse() -> None:
    layout = lay_out(preview_of(["one", "two " * 20, "three"]), 30)
    assert [layout.row_of(line) for line in (1, 2, 3)] == list(layout.first_rows)
    assert layout.line_of(layout.row_of(2, 60)) == 2
    assert layout.row_of(2, 60) > layout.row_of(2)
    assert layout.row_of(99) == layout.first_rows[-1]
    assert layout.line(layout.height) == layout.line(-1) == ()


def test_odd_places_and_widths_do_not_change_the_text() -> None:
    places = (Place(1, 0, 5), Place(1, 3, 8), Place(1, 7, 99), Place(9, 0, 4))
    layout = lay_out(replace(preview_of(["one two three"]), matches=places), 40)
    assert text_in(layout, 0) == "  one two three"

    preview = preview_of(["word " * 40])
    assert lay_out(preview, 0).width == 0
    assert lay_out(preview, 0).height == lay_out(preview, 80).height
    assert lay_out(preview, 1).height == lay_out(preview, LEAST_TEXT + MARGIN + 1).height


def test_layout_of_a_long_file_adds_few_objects_for_the_garbage_collector() -> None:
    """A collection traverses all tracked objects while the event loop waits."""
    preview = preview_of(["- item with enough words to be wrapped at forty"] * 5_000, "none")
    gc.collect()
    before = len(gc.get_objects())
    layout = lay_out(preview, 40)
    assert layout.height == 10_000
    assert len(gc.get_objects()) - before < 50


def test_places_are_found_by_line_and_the_first_match_in_the_best_passage() -> None:
    places = (Place(1, 2, 5), Place(1, 7, 9), Place(3, 0, 4))
    assert [place_at(places, 1, character) for character in (1, 2, 4, 5, 7)] == [-1, 0, 0, -1, 1]
    assert [first_from(places, line) for line in (1, 2, 3, 4)] == [0, 2, 2, 3]

    places = (Place(1, 0, 1), Place(3, 0, 1), Place(3, 2, 3))
    assert first_match(preview("a/b/c c", *places, best=3)) == 1
    assert first_match(preview("a/b/c c", *places, best=2)) == NO_PLACE
    assert first_match(preview("a/b/c c", *places)) == NO_PLACE
    assert first_match(preview("a", best=1)) == NO_PLACE


FRONT = ["---", "type: meeting", "attendees: Alice, c", "---", "# Plan", "word", "", "end"]


def test_folded_frontmatter_is_one_row_and_other_rows_keep_their_lines() -> None:
    preview = replace(preview_of(FRONT), front_summary="frontmatter: 2 lines, type meeting")
    layout = lay_out(preview, 40)
    folded = layout.folded(True)
    assert folded.height == layout.height - 3
    assert text_in(folded, 0) == "▸ frontmatter: 2 lines, type meeting · 2 matches"
    assert [folded.line_of(row) for row in range(folded.height)] == [1, 5, 6, 7, 8]
    assert [folded.row_of(line) for line in range(1, 9)] == [0, 0, 0, 0, 1, 2, 3, 4]
    assert [text_in(folded, row) for row in range(1, 5)] == [
        text_in(layout, row) for row in range(4, 8)
    ]
    assert [folded.is_in_fold(place) for place in preview.matches] == [True, True, False]
    assert folded.character_at(0, 5) is None
    assert folded.character_at(2, MARGIN + 1) == (6, 1)
    assert text_in(layout, 0) == "▾ ---"
    assert lay_out(preview_of(["# Plan"]), 40).folded(True).height == 1


def preview(lines: str, *matches: Place, best: int = 0, path: str = "p.md") -> Preview:
    return Preview(path, "", "", tuple(lines.split("/")), best, best, matches)


def test_position_is_kept_in_the_same_text_but_not_for_another_query_or_document() -> None:
    now = preview("a/b", Place(1, 0, 1), best=1)
    assert keeps_position(now, preview("a/b", Place(1, 0, 1), best=1))
    assert keeps_position(now, preview("new/a/b", Place(2, 0, 1), best=2))

    now = preview("a/b", Place(1, 0, 1), best=1)
    assert not keeps_position(now, preview("a/b", Place(2, 0, 1), best=2))
    assert not keeps_position(now, preview("a/b", Place(1, 0, 1), best=1, path="o.md"))


def test_a_match_and_a_line_are_restored_where_they_moved_to() -> None:
    before = preview("a/b", Place(1, 0, 1), Place(2, 0, 1))
    now = preview("x/a/b", Place(1, 0, 1), Place(2, 0, 1), Place(3, 0, 1))
    assert restored_index(before, now, before.matches, now.matches, 1) == 2
    assert restored_index(before, now, before.matches, now.matches, NO_PLACE) == NO_PLACE
    assert restored_index(before, preview("z"), before.matches, (), 1) == NO_PLACE
    deleted = preview("x", Place(1, 0, 1))
    assert restored_index(before, deleted, before.matches, deleted.matches, 1) == 0

    lines = ["a", "b", "c", "b", "d"]
    assert restored_line(lines, ["new", *lines], 3) == 4
    assert restored_line(lines, ["b", "c", "b", "d"], 4) == 3
    assert restored_line(lines, ["x"], 3) == 1
    assert restored_line(lines, lines, 3) == 3


def test_a_document_of_spaces_counts_as_empty() -> None:
    assert is_empty(preview("/  /"))
    assert not is_empty(preview("/ a"))

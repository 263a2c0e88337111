"""The rows of known facts in the drafts mode."""

import pytest

from kbx_tui.drafting.texts import difference
from kbx_tui.tui.dedup.panes import detail_lines, open_place_line
from kbx_tui.tui.dedup.rows import KnownRow


@pytest.mark.parametrize("width", [40, 140])
def test_the_row_under_the_cursor_gives_its_reason_once(width: int) -> None:
    why, known, draft = "one denies the other: no → yes", "Takes no tea", "Takes tea"
    pair = difference(draft, known, ())
    row = KnownRow(known, 0.9, "conflict", True, "people/ada.md:14", why, pair)
    lines = [open_place_line(row, width), *detail_lines(row, width)]
    text = " ".join("".join(span.text for span in line) for line in lines)
    assert text.count("one denies") == 1

"""Lines of a diff, with the sign apart from the text."""

import pytest

from kbx_tui.tui.dedup.panes import diff_rows


@pytest.mark.parametrize(
    ("line", "width", "rows"),
    [
        ("-- old", 40, ["- │ - old"]),
        ("+- new", 40, ["+ │ - new"]),
        (" - kept", 40, ["  │ - kept"]),
        ("+", 40, ["+ │ "]),
        ("@@ -1 +1 @@", 40, ["@@ -1 +1 @@"]),
        ("✗ it is gone", 40, ["✗ it is gone"]),
        ("+one two three", 11, ["+ │ one two", "  │ three"]),
    ],
)
def test_signs_are_set_apart_and_wrapped_text_stays_below_itself(
    line: str, width: int, rows: list[str]
) -> None:
    assert diff_rows(line, width) == rows

"""Lines of a diff, with the sign apart from the text."""

import pytest

from kbx_tui.tui.dedup.panes import changed_lines, diff_rows


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
        (" one two three", 11, ["  │ one tw…"]),
    ],
)
def test_signs_are_set_apart_and_wrapped_text_stays_below_itself(
    line: str, width: int, rows: list[str]
) -> None:
    assert diff_rows(line, width) == rows


def test_only_changes_are_shown_below_the_line_before_the_first() -> None:
    old_and_new = ("--- a.md", "+++ a.md")
    first = ("@@ -1,4 +1,4 @@", " # A", " ## Facts", "--- old", "+- new", " - kept", "+- more")
    assert changed_lines((*old_and_new, *first), with_paths=False) == (
        " ## Facts", "--- old", "+- new", "+- more",
    )  # fmt: skip
    assert changed_lines((*old_and_new, "@@ -1 +1 @@", "+- new"), with_paths=True) == (
        "+++ a.md", "+- new",
    )  # fmt: skip
    assert changed_lines(("✗ it is gone",), with_paths=False) == ("✗ it is gone",)

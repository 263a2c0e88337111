import pytest

from kbx_tui.knowledge.dates import date_of, iso_date


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-17", "2026-03-17"), ("2026-3-7", "2026-03-07"), ("2026/03/17", "2026-03-17"),
        ("20260317", "2026-03-17"), ("2026-03-17T09:30:00Z", "2026-03-17"),
        ("17 March 2026", "2026-03-17"), ("Mar 17, 2026", "2026-03-17"),
        ("17.03.2026", "2026-03-17"), ("03/17/2026", ""), ("2026-13-45", ""), ("soon", ""),
    ],
)  # fmt: skip
def test_unambiguous_dates_are_converted_to_iso(text: str, expected: str) -> None:
    assert iso_date(text) == expected


@pytest.mark.parametrize(
    ("date", "path", "expected"),
    [
        ("2026-03-17", "2025-01-01-a.md", "2026-03-17"),
        (20260317, "a.md", "2026-03-17"),
        ("someday", "memory/notes/2025-01-02-a.md", "2025-01-02"),
        (None, "memory/meetings/2024/12/31/a.md", "2024-12-31"),
        (None, "memory/meetings/2024/13/31/99-2024-02-30.md", ""),
        (None, "a-2024-01-011.md", ""),
    ],
    ids=["frontmatter", "number", "file-name", "folders", "impossible", "no-date"],
)
def test_document_date_comes_from_frontmatter_then_file_name_then_folders(
    date: object, path: str, expected: str
) -> None:
    assert date_of({} if date is None else {"date": date}, path) == expected

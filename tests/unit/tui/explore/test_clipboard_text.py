"""What is copied of a document."""

from __future__ import annotations

import pytest

from kbx_tui.tui.explore.clipboard_text import citation, text
from kbx_tui.tui.explore.view import SnippetView

SNIPPET = SnippetView("We cut over on Thursday.", (), "", 7, 7, ())
TITLES = {"m/a.md": ("Go [no-go]", "2026-03-17")}


def test_a_path_is_copied_with_its_line() -> None:
    assert text("path", "m/a.md", 7, TITLES, {}) == "m/a.md:7"
    assert text("path", "m/a.md", 0, TITLES, {}) == "m/a.md"


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("m/a.md", r"[Go \[no-go\] (2026-03-17)](m/a.md)"),
        ("m/a b.md", r"[Go \[no-go\] (2026-03-17)](<m/a b.md>)"),
    ],
)
def test_a_citation_is_a_link_any_markdown_reader_takes(path: str, link: str) -> None:
    assert citation("Go [no-go]", "2026-03-17", path) == link


def test_a_snippet_is_copied_when_it_is_known() -> None:
    assert text("snippet", "m/a.md", 7, TITLES, {"m/a.md": SNIPPET}) == SNIPPET.text
    assert text("snippet", "m/b.md", 7, TITLES, {"m/a.md": SNIPPET}) == ""


def test_without_a_document_there_is_nothing_to_copy() -> None:
    assert text("citation", "", 0, {}, {}) == ""

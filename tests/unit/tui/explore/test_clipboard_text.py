"""The text copied from a document."""

import pytest

from kbx_tui.search.results.response import Snippet
from kbx_tui.tui.explore.document_actions import citation, text_of_document

SNIPPET = Snippet("We cut over on Thursday.", (), "", 7, 7, ())
TITLES = {"m/a.md": ("Go [no-go]", "2026-03-17")}


def test_path_or_snippet_asked_for_is_copied() -> None:
    assert text_of_document("path", "m/a.md", 7, TITLES, {}) == "m/a.md:7"
    assert text_of_document("path", "m/a.md", 0, TITLES, {}) == "m/a.md"
    assert text_of_document("snippet", "m/a.md", 7, TITLES, {"m/a.md": SNIPPET}) == SNIPPET.text
    assert text_of_document("snippet", "m/b.md", 7, TITLES, {"m/a.md": SNIPPET}) == ""
    assert text_of_document("citation", "", 0, {}, {}) == ""


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("m/a.md", r"[Go \[no-go\] (2026-03-17), line 7](m/a.md)"),
        ("m/a b.md", r"[Go \[no-go\] (2026-03-17), line 7](<m/a b.md>)"),
    ],
)
def test_citation_is_a_valid_markdown_link(path: str, link: str) -> None:
    assert citation("Go [no-go]", "2026-03-17", path, 7) == link

"""Known-item search by path, id, title and date."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kbx_tui.search.query.known_item import KnownItems

SNAPSHOT: Any = SimpleNamespace(
    paths=("notes/leak.md", "meetings/plan.md", "notes/empty.md", "notes/c.md"),
    ids=("note:leak", "meeting:plan", "note:empty", "note:c"),
    titles=("INC-17: the leak", "Plan: a  Dvořák evening", "", "C++"),
    dates=("2026-03-17", "2026-03-17", "", ""),
)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("/notes/leak.md", [(0, "path")]),
        ("Note:Leak", [(0, "id")]),
        ("inc-17: THE leak", [(0, "title")]),
        ("INC-17", [(0, "title")]),
        ("plan: a dvorak evening", [(1, "title")]),
        ("Plan -- a dvorak evening!", [(1, "title")]),
        ("Plan", []),  # no number
        ("C", []),
        ("C++", [(3, "title")]),
        ("2026-03-17", [(0, "date"), (1, "date")]),
        ("2026-03", []),
        ("", []),
        (" / ", []),
    ],
)
def test_document_is_found_by_full_path_id_title_or_date(
    text: str, items: list[tuple[int, str]]
) -> None:
    assert KnownItems(SNAPSHOT).find(text) == items

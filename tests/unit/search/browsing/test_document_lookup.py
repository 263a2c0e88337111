"""Part of a title or path finds its document while the user types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.search.name_lookup import DocumentNames
from tests.unit.search.snapshots import snapshot_of

DOCUMENTS = {
    "memory/meetings/2026/03/10/platform-sync.md": ("Platform sync", "2026-03-10"),
    "memory/notes/2026-01-30-rollback-plan.md": ("Rollback plan", "2026-01-30"),
    "memory/notes/100%_done.md": ("100% [done]", "2026-02-01"),
    "memory/notes/first-week.md": ("Onboarding", ""),
    "memory/people/o'neil.md": ("O'Neil", ""),
    "memory/projects/rollback.md": ("Rollback", "2025-12-01"),
}


def snapshot() -> Snapshot:
    paths = tuple(sorted(DOCUMENTS))
    return snapshot_of(
        paths,
        titles=tuple(DOCUMENTS[path][0] for path in paths),
        dates=tuple(DOCUMENTS[path][1] for path in paths),
    )


NAMES = DocumentNames(snapshot())


def found(text: str, limit: int = 20) -> list[str]:
    return [document.title for document in NAMES.find(text, limit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rollback", ["Rollback", "Rollback plan"]),
        ("roll pl", ["Rollback plan"]),
        ("sync plat", ["Platform sync"]),
        ("first week", ["Onboarding"]),
        ("memory/people/o'neil.md", ["O'Neil"]),
        ("100%_", ["100% [done]"]),
        ("rolback plan", ["Rollback plan"]),
        ("zzzz", []),
        ("%", []),
    ],
)
def test_best_match_comes_first(text: str, expected: list[str]) -> None:
    assert found(text) == expected


def test_without_text_the_newest_come_first_and_undated_ones_last() -> None:
    assert found(" ") == [
        "Platform sync", "100% [done]", "Rollback plan", "Rollback", "Onboarding", "O'Neil",
    ]  # fmt: skip


@given(st.text(max_size=40), st.integers(1, 4))
def test_any_text_gives_distinct_documents_up_to_the_limit(text: str, limit: int) -> None:
    paths = [document.path for document in NAMES.find(text, limit)]
    assert len(paths) == len(set(paths)) <= limit
    assert set(paths) <= DOCUMENTS.keys()

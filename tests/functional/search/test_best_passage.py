"""The snippet of a search and the place where reading begins are the section that answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase

TRANSCRIPT = "memory/meetings/2026/03/17/migration-go-no-go.transcript.md"


@pytest.mark.parametrize("fast", [False, True], ids=["with-meaning", "fast"])
@pytest.mark.parametrize(
    "query",
    [
        "what did the platform team decide about the migration?",
        "what was decided about the migration?",
        "What the platform team decided",
    ],
)
def test_reading_begins_below_the_heading_that_answers(
    demo_kb_path: Path, query: str, fast: bool
) -> None:
    results = KnowledgeBase(demo_kb_path).search(query, fast=fast).results
    (result,) = [result for result in results if result.path == TRANSCRIPT]
    lines = (demo_kb_path / TRANSCRIPT).read_text(encoding="utf-8").split("\n")
    assert result.snippet.startswith("- Go for the Migration: cut-over on Thursday")
    assert lines[result.line - 3] == "## What the platform team decided"


def test_passage_is_the_same_at_every_search(demo_kb_path: Path) -> None:
    places = set()
    for _ in range(2):
        with KnowledgeBase(demo_kb_path) as kb:
            results = kb.search("rollback rehearsal").results
            places.add(tuple((result.path, result.line, result.snippet) for result in results))
    assert len(places) == 1

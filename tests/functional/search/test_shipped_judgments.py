"""The judged queries that a new copy of the demo has: whole, true, and useful at once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.demo import JUDGMENTS, SHIPPED, SHIPPED_JUDGMENTS
from tests.command_line import CommandLine

LEAST_JUDGED = 0.95
"""Of the first 10 results; the pool had the first 10 of seven settings."""


@pytest.fixture
def judged_demo(demo_copy: Path) -> Path:
    """The indexed demo with the shipped judgments, as an installed copy has them."""
    shutil.copy(SHIPPED / SHIPPED_JUDGMENTS, demo_copy / JUDGMENTS)
    return demo_copy


def test_twelve_queries_are_judged_and_every_document_exists(judged_demo: Path) -> None:
    said: list[str] = []
    with KnowledgeBase(judged_demo, notice=said.append) as kb:
        queries = kb.judgments.queries()
    assert not said
    assert len(queries) == 12
    assert all(3 in query.grades.values() and 0 in query.grades.values() for query in queries)
    assert not any(query.unsure for query in queries)
    assert all((judged_demo / path).is_file() for query in queries for path in query.grades)
    lines = (SHIPPED / SHIPPED_JUDGMENTS).read_text(encoding="utf-8").splitlines()
    assert len(lines) == sum(len(query.grades) for query in queries)


@pytest.mark.parametrize("mode", ["auto", "flat", "fast"])
def test_eval_works_on_the_demo_at_once(kbx: CommandLine, judged_demo: Path, mode: str) -> None:
    ran = kbx("eval", "--mode", mode, "--json", "--kb", judged_demo)
    assert ran.code == 0
    (group,) = ran.json["groups"]
    assert group["queries"] == 12
    assert group["judged"] >= LEAST_JUDGED
    assert group["ndcg"] > 0.6

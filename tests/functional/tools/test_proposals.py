"""What the first proposals show as examples, on a base of their names: the answers are judged."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.tools.engine_worker import EngineWorker

pytestmark = pytest.mark.slow

BASE = Path(__file__).parents[1] / "search" / "questions" / "bases" / "seeds"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("proposals") / "base"
    shutil.copytree(BASE, root)
    return root


@pytest.fixture(scope="module")
def kb(root: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(root) as opened:
        opened.index()
        yield opened


def kb_search(kb: KnowledgeBase, root: Path, **params: Any) -> Any:
    worker = EngineWorker(lambda: KnowledgeBase(root))
    try:
        return worker.answer("kb_search", params).json["data"]
    finally:
        worker.close()


def test_who_worked_on_it_is_answered_with_people_first(kb: KnowledgeBase, root: Path) -> None:
    question = "Who worked on Vector Watch?"
    data = kb_search(kb, root, query=question, capabilities={"voice": True})
    first, second, third = data["results"]
    assert first["id"] == "person:andrei-clodius"  # its page: led the mobile side
    assert second["type"] == "person"
    assert third["score"] < second["score"] < 1.0
    assert data["clamped"]


def test_expertise_is_answered_with_those_who_have_it(kb: KnowledgeBase, root: Path) -> None:
    query = "AI and machine learning expertise"
    data = kb_search(kb, root, query=query, top_k=8, filters={"type": "person"})
    assert [result["id"] for result in data["results"][:2]] == [
        "person:maya-ostrowski",  # head of machine learning
        "person:ifeoma-eze",  # data scientist
    ]
    assert {result["type"] for result in data["results"]} == {"person"}


def test_what_nobody_wrote_about_is_answered_with_nothing(kb: KnowledgeBase, root: Path) -> None:
    assert kb_search(kb, root, query="quantum computing blockchain NFTs")["results"] == []

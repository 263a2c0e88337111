from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.handlers import NEWER_FILE


def get(worker: EngineWorker, **params: Any) -> Any:
    answer = worker.answer("kb.get", params)
    assert answer.failure is None, answer.json
    return answer.json["data"]


def test_entity_id_returns_its_page(demo: EngineWorker) -> None:
    data = get(demo, id="person:alice-chen")
    assert (data["type"], data["title"]) == ("person", "Alice Chen")
    assert data["content"].startswith("# Alice Chen")
    assert data["metadata"]["file_path"] == "memory/people/alice-chen.md"
    assert data["metadata"]["team"] == "Platform"
    assert data["chunks_count"] > 0
    assert data["next_offset"] is None


def test_every_id_returned_by_a_search_can_be_read(demo: EngineWorker) -> None:
    found = demo.answer("kb.search", {"query": "migration rollback", "top_k": 10}).json
    for result in found["data"]["results"]:
        data = get(demo, id=result["id"])
        assert data["id"] == result["id"]
        assert data["metadata"]["file_path"] == result["metadata"]["file_path"]
    assert get(demo, id=result["metadata"]["file_path"])["id"] == result["id"]


def test_long_page_is_read_in_parts(demo: EngineWorker) -> None:
    whole = get(demo, id="person:alice-chen")["content"]
    parts, offset = [], 0
    while offset is not None:
        part = get(demo, id="person:alice-chen", offset=offset, max_chars=100)
        parts.append(part["content"])
        offset = part["next_offset"]
    assert "".join(parts) == whole
    assert get(demo, id="person:alice-chen", offset=10**6)["content"] == ""


@pytest.mark.parametrize(
    "document_id",
    [
        "person:nobody",
        "../../../etc/passwd",
        "/etc/passwd",
        "memory/../../etc/passwd",
        "%2e%2e%2fetc%2fpasswd",
        "kbx.toml",
        ".kbx/index",
        "memory/people/alice-chen.md\x00.png",
        "' OR '1'='1",
    ],
)
def test_id_outside_the_base_is_refused(demo: EngineWorker, document_id: str) -> None:
    answer = demo.answer("kb.get", {"id": document_id})
    assert answer.failure is not None
    assert answer.failure.type == "VALIDATION"


def test_reading_a_page_records_one_opening(demo: EngineWorker, tools_demo: Path) -> None:
    usage = tools_demo / ".kbx" / "usage.jsonl"
    before = usage.read_text(encoding="utf-8").count("marek-dvorak") if usage.exists() else 0
    get(demo, id="person:marek-dvorak", max_chars=10)
    get(demo, id="person:marek-dvorak", offset=10)
    assert usage.read_text(encoding="utf-8").count("marek-dvorak") == before + 1


def test_a_file_that_changed_since_it_was_indexed_has_a_note(demo_copy: Path) -> None:
    page = demo_copy / "memory/people/alice-chen.md"
    worker = EngineWorker(lambda: KnowledgeBase(demo_copy))
    assert get(worker, id="person:alice-chen")["notes"] == []
    page.write_text(page.read_text("utf-8") + "\nPlays the cello.\n", encoding="utf-8")
    data = get(worker, id="person:alice-chen")
    worker.close()
    assert "Plays the cello." in data["content"]
    assert data["notes"] == [NEWER_FILE]

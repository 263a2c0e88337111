from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kbx_tui.tools.servers.calling import Workplace


def get(workplace: Workplace, **given: Any) -> Any:
    answer = workplace.answer("kb.get", given)
    assert answer.failure is None, answer.json
    return answer.json["data"]


def test_an_entity_is_its_page(demo: Workplace) -> None:
    data = get(demo, id="person:alice-chen")
    assert (data["type"], data["title"]) == ("person", "Alice Chen")
    assert data["content"].startswith("# Alice Chen")
    assert data["metadata"]["file_path"] == "memory/people/alice-chen.md"
    assert data["metadata"]["team"] == "Platform"
    assert data["chunks_count"] > 0
    assert data["next_offset"] is None


def test_every_id_that_a_search_returns_can_be_read(demo: Workplace) -> None:
    found = demo.answer("kb.search", {"query": "migration rollback", "top_k": 10}).json
    for one in found["data"]["results"]:
        data = get(demo, id=one["id"])
        assert data["id"] == one["id"]
        assert data["metadata"]["file_path"] == one["metadata"]["file_path"]
    assert get(demo, id=one["metadata"]["file_path"])["id"] == one["id"]


def test_a_long_page_is_read_in_pieces(demo: Workplace) -> None:
    whole = get(demo, id="person:alice-chen")["content"]
    pieces, offset = [], 0
    while offset is not None:
        part = get(demo, id="person:alice-chen", offset=offset, max_chars=100)
        pieces.append(part["content"])
        offset = part["next_offset"]
    assert "".join(pieces) == whole
    assert get(demo, id="person:alice-chen", offset=10**6)["content"] == ""


@pytest.mark.parametrize(
    "wanted",
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
def test_what_is_not_in_the_base_is_not_read(demo: Workplace, wanted: str) -> None:
    answer = demo.answer("kb.get", {"id": wanted})
    assert answer.failure is not None
    assert answer.failure.type == "VALIDATION"


def test_a_page_that_was_read_counts_as_opened(demo: Workplace, tools_demo: Path) -> None:
    notes = tools_demo / ".kbx" / "usage.jsonl"
    before = notes.read_text(encoding="utf-8").count("marek-dvorak") if notes.exists() else 0
    get(demo, id="person:marek-dvorak", max_chars=10)
    get(demo, id="person:marek-dvorak", offset=10)
    assert notes.read_text(encoding="utf-8").count("marek-dvorak") == before + 1

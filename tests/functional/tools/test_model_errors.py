"""Errors of a remote model, by type in the envelope."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui import (
    EmbeddingRateLimited,
    EmbeddingUnavailable,
    IndexDamaged,
    IndexFault,
    IndexForeign,
    IndexLocked,
    KnowledgeBase,
)
from kbx_tui.tools.dispatch import failure_of
from kbx_tui.tools.engine_worker import EngineWorker
from tests.trusting import configure_trusted

PAGE = "# Ada\n\n## Facts\n- Fires the kiln\n"


@pytest.fixture
def remote_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base with a remote model, its text indexed and no API key set."""
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "ada.md").write_text(PAGE, encoding="utf-8")
    configure_trusted(tmp_path, '[embedding]\nmodel = "gemini"\n')
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
    return tmp_path


def test_missing_api_key_is_an_auth_error_and_fast_search_works(remote_model: Path) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(remote_model))
    refused = worker.answer("kb.search", {"query": "kiln firing"})
    assert refused.json["ok"] is False
    assert refused.json["error"]["type"] == "AUTH"
    assert refused.json["error"]["retryable"] is False
    assert "GEMINI_API_KEY" in refused.json["error"]["message"]
    assert worker.answer("kbx.search", {"query": "kiln", "fast": True}).failure is None
    assert worker.answer("kb.experts", {"topic": "kiln"}).failure is None
    assert worker.answer("kb.capabilities", {}).json["retrieval"] == ["fts"]
    worker.close()


def test_index_of_another_model_is_an_internal_error(demo_copy: Path) -> None:
    configure_trusted(demo_copy, '[embedding]\nmodel = "gemini"\n')
    worker = EngineWorker(lambda: KnowledgeBase(demo_copy))
    refused = worker.answer("kb.search", {"query": "migration"})
    assert refused.failure is not None
    assert (refused.failure.type, refused.failure.retryable) == ("INTERNAL", False)
    assert "kbx index --full" in refused.failure.message
    worker.close()


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (IndexDamaged("cut off"), "INTERNAL", False),
        (IndexFault("gone"), "TRANSIENT", True),
        (IndexLocked("busy"), "TRANSIENT", True),
        (IndexForeign("other"), "INTERNAL", False),
        (EmbeddingUnavailable("slow"), "TRANSIENT", True),
        (EmbeddingRateLimited("full"), "RATE_LIMIT", True),
        (RuntimeError("secret /home/somebody"), "INTERNAL", False),
        (MemoryError(), "INTERNAL", False),
    ],
    ids=repr,
)
def test_type_of_an_error_decides_whether_it_is_retryable(
    error: Exception, kind: str, retryable: bool
) -> None:
    failure = failure_of(error)
    assert (failure.type, failure.retryable) == (kind, retryable)
    assert "secret" not in failure.message

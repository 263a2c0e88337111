"""What goes wrong with a model elsewhere arrives in the envelope, by kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui import EmbeddingUnavailable, IndexFault, IndexForeign, IndexLocked, KnowledgeBase
from kbx_tui.tools.contracts.failures import failure_of
from kbx_tui.tools.servers.calling import Workplace

PAGE = "# Ada\n\n## Facts\n- Fires the kiln\n"


@pytest.fixture
def far_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base whose model is a service, its text indexed and no key set."""
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "ada.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "kbx.toml").write_text('[embedding]\nmodel = "gemini"\n', encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
    return tmp_path


def test_a_missing_key_is_auth_and_words_still_work(far_model: Path) -> None:
    workplace = Workplace(lambda: KnowledgeBase(far_model))
    refused = workplace.answer("kb.search", {"query": "kiln firing"})
    assert refused.json["ok"] is False
    assert refused.json["error"]["type"] == "AUTH"
    assert refused.json["error"]["retryable"] is False
    assert "GEMINI_API_KEY" in refused.json["error"]["message"]
    assert workplace.answer("kbx.search", {"query": "kiln", "fast": True}).failure is None
    assert workplace.answer("kb.experts", {"topic": "kiln"}).failure is None
    assert workplace.answer("kb.capabilities", {}).json["retrieval"] == ["fts"]
    workplace.close()


def test_an_index_of_another_model_is_internal(demo_copy: Path) -> None:
    (demo_copy / "kbx.toml").write_text('[embedding]\nmodel = "gemini"\n', encoding="utf-8")
    workplace = Workplace(lambda: KnowledgeBase(demo_copy))
    refused = workplace.answer("kb.search", {"query": "migration"})
    assert refused.failure is not None
    assert (refused.failure.type, refused.failure.retryable) == ("INTERNAL", False)
    assert "kbx index --full" in refused.failure.message
    workplace.close()


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (IndexFault("gone"), "TRANSIENT", True),
        (IndexLocked("busy"), "TRANSIENT", True),
        (IndexForeign("other"), "INTERNAL", False),
        (EmbeddingUnavailable("slow"), "TRANSIENT", True),
        (RuntimeError("secret /home/somebody"), "INTERNAL", False),
        (MemoryError(), "INTERNAL", False),
    ],
    ids=repr,
)
def test_kinds_tell_whether_to_try_again(error: Exception, kind: str, retryable: bool) -> None:
    failure = failure_of(error)
    assert (failure.type, failure.retryable) == (kind, retryable)
    assert "secret" not in failure.message

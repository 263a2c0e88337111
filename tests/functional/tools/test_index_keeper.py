"""A running server keeps the index in step with the files, and is ready for its first call."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import IndexFault, KnowledgeBase
from kbx_tui.tools import engine_worker
from kbx_tui.tools.engine_worker import EngineWorker, IndexKeeper
from tests.trusting import copy_base
from tests.waiting import PATIENCE, wait_until


@pytest.fixture
def base(indexed_vault: Path, tmp_path: Path) -> Path:
    return copy_base(indexed_vault, tmp_path / "base")


@pytest.fixture
def server(base: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineWorker]:
    monkeypatch.setattr(engine_worker, "IDLE_SECONDS", 0.0)  # a test asks again at once
    monkeypatch.setattr(engine_worker, "STEP_SECONDS", 0.05)
    worker = EngineWorker(lambda: KnowledgeBase(base), background=True)
    yield worker
    worker.close()


def found(worker: EngineWorker, query: str, **params: Any) -> Any:
    answer = worker.answer("kbx.search", {"query": query, "explain": True, **params})
    assert answer.failure is None, answer.json
    return answer.json


def paths(answer: Any) -> list[str]:
    return [result["path"] for result in answer["results"]]


def test_files_that_change_are_found_by_words_and_meaning(server: EngineWorker, base: Path) -> None:
    path = "memory/notes/kiln.md"
    assert path not in paths(found(server, "zorkmid"))
    (base / path).write_text("# Kiln\n\nA zorkmid is fired.\n", encoding="utf-8")

    def is_complete() -> bool:
        answer = found(server, "zorkmid")
        cosines = [r["explain"]["cosine"] for r in answer["results"] if r["path"] == path]
        return any(cosine is not None for cosine in cosines) and not answer["meta"]["notes"]

    wait_until(is_complete)
    (base / path).unlink()
    wait_until(lambda: path not in paths(found(server, "zorkmid")))


def test_changes_from_before_the_server_are_made_up(server: EngineWorker, base: Path) -> None:
    (base / "memory/notes/kiln.md").write_text("# Kiln\n\nA zorkmid.\n", encoding="utf-8")
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)
    (base / "memory/notes/later.md").write_text("# Later\n\nA quux.\n", encoding="utf-8")
    found(server, "rollback")
    wait_until(lambda: "memory/notes/later.md" in paths(found(server, "quux")))
    wait_until(lambda: found(server, "zorkmid")["meta"]["vector_share"] == 1.0)
    assert found(server, "zorkmid")["meta"]["notes"] == []


def test_entities_edited_in_kbx_toml_are_applied(server: EngineWorker, base: Path) -> None:
    found(server, "rollback")
    for number in range(3):
        (base / f"memory/notes/kiln-{number}.md").write_text("Fired. #pottery\n", encoding="utf-8")
    (base / "kbx.toml").write_text("[entities]\ntags = 3\n", encoding="utf-8")

    def is_applied() -> bool:
        meta = found(server, "pottery")["meta"]
        ids = [entity["id"] for entity in meta["pass1_entities"]]
        return "tag:pottery" in ids and not any("[entities]" in note for note in meta["notes"])

    wait_until(is_applied)


def test_few_texts_are_embedded_while_calls_are_running(base: Path) -> None:
    sections = (f"## {n}\n\n{f'Tile number {n} is fired. ' * 30}" for n in range(12))
    (base / "memory/notes/kiln.md").write_text("\n\n".join(["# Kiln", *sections]), "utf-8")
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)
        before = kb.status().vectors
    looks: list[None] = []
    updates: list[None] = []

    def is_idle() -> bool:  # when the keeper begins, and no longer when it wants to embed
        looks.append(None)
        return len(looks) == 1 + len(updates)  # it begins again if it had to index before

    keeper = IndexKeeper(lambda: KnowledgeBase(base), is_idle, lambda: updates.append(None))
    keeper.start()
    wait_until(lambda: len(looks) > 2)
    keeper.stop()
    with KnowledgeBase(base) as kb:
        assert before < kb.status().vectors <= before + 4


def test_an_index_that_cannot_be_written_stops_no_call(
    server: EngineWorker, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = threading.Event()

    def fail(*_: Any, **__: Any) -> Any:
        tried.set()
        raise IndexFault("the disk is read-only")

    monkeypatch.setattr(KnowledgeBase, "index", fail)
    (base / "memory/notes/kiln.md").write_text("# Kiln\n\nA zorkmid.\n", encoding="utf-8")
    assert found(server, "rollback")["results"]
    assert tried.wait(PATIENCE)
    notes = found(server, "rollback")["meta"]["notes"]
    assert any(note.startswith("1 file changed since the last run") for note in notes)


def test_without_an_index_none_is_made(fresh_demo: Path) -> None:
    looked = threading.Event()

    def is_idle() -> bool:
        looked.set()
        return True

    keeper = IndexKeeper(lambda: KnowledgeBase(fresh_demo), is_idle, lambda: None)
    keeper.start()
    assert looked.wait(PATIENCE)
    keeper.stop()
    assert not (fresh_demo / ".kbx" / "index").exists()


def test_a_setting_turns_following_off(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (base / "kbx.toml").write_text("[app]\nwatch = false\n", encoding="utf-8")
    watched: list[str] = []

    def watch(*_: Any, **__: Any) -> None:
        watched.append("watched")

    monkeypatch.setattr(KnowledgeBase, "watch", watch)
    keeper = IndexKeeper(lambda: KnowledgeBase(base), lambda: True, lambda: None)
    keeper.start()
    keeper.stop()
    assert watched == []


def test_after_a_client_connects_the_engine_is_loaded(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warmed = threading.Event()
    warm = KnowledgeBase.warm

    def noting(self: KnowledgeBase) -> None:
        warm(self)
        warmed.set()

    monkeypatch.setattr(KnowledgeBase, "warm", noting)
    cold = EngineWorker(lambda: KnowledgeBase(base))
    cold.begin()
    cold.close()
    assert not warmed.is_set()
    worker = EngineWorker(lambda: KnowledgeBase(base), warms=True)
    worker.begin()
    assert warmed.wait(PATIENCE)
    assert found(worker, "rollback")["results"]
    worker.close()


@pytest.mark.parametrize("problem", ["no base", "no index", "other model"])
def test_what_cannot_be_loaded_in_advance_is_reported_by_the_call(
    base: Path, fresh_demo: Path, problem: str
) -> None:
    root = {"no base": base / "nowhere", "no index": fresh_demo, "other model": base}[problem]
    if problem == "other model":
        (base / "kbx.toml").write_text('[embedding]\nmodel = "gemini"\n', encoding="utf-8")
    worker = EngineWorker(lambda: KnowledgeBase(root), warms=True)
    worker.begin()
    answer = worker.answer("kb.search", {"query": "rollback plan"})
    assert (answer.failure is None) == (problem == "no index")
    worker.close()


def test_closing_ends_the_threads(base: Path) -> None:
    worker = EngineWorker(lambda: KnowledgeBase(base), background=True, warms=True)
    worker.begin()
    found(worker, "rollback")
    worker.close()
    wait_until(lambda: not {"kbx-keep", "kbx-watch"} & {t.name for t in threading.enumerate()})

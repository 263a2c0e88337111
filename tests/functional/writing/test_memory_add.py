"""Writing facts, fields and pages through `KnowledgeBase`."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase, NotFound
from kbx_tui.api import file_writer
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.similarity.similarity_engine import SimilarityEngine
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault
from tests.trusting import configure_trusted

ALICE = "memory/people/alice-chen.md"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_vault(tmp_path_factory.mktemp("writing"))


def test_added_fact_is_found_by_the_next_check(kb: KnowledgeBase, root: Path) -> None:
    before = (root / ALICE).read_text()
    written = kb.memory_add("Speaks Catalan", entity="Alice Chen", date="2026-04-05")
    line = "- [2026-04-05] Speaks Catalan\n"
    assert (root / ALICE).read_text() == before.replace("project\n", f"project\n{line}")
    assert (root / ALICE).read_text().split("\n")[written.line - 1] == line.strip()
    (match,) = kb.memory_similar("speaks Catalan.", entity="Alice Chen")
    assert (match.relation, match.fact_id) == ("exact", written.fact_id)


def test_signatures_of_the_original_kbx_work(kb: KnowledgeBase) -> None:
    candidate = "favours asynchronous communication via Slack"
    matches = kb.memory_similar(text=candidate, entity="Alice Chen")
    assert matches[0].fact_id is not None
    new_id = kb.edit_fact(matches[0].fact_id, text="Prefers async Slack, never email")
    assert kb.memory_similar("Prefers async Slack, never email")[0].fact_id == new_id
    assert kb.memory_add(title="Plays the cello", entity="Alice Chen").written


def test_missing_page_is_created_only_on_request(kb: KnowledgeBase, root: Path) -> None:
    for name in ("Zoe Marsh", "Platform"):
        with pytest.raises(NotFound, match="--create"):
            kb.memory_add("Knows the harbour", entity=name)
    kb.memory_add("Knows the harbour", entity="Platform", create=True, date="2026-04-05")
    assert (root / "memory/teams/platform.md").read_text() == (
        "---\ntype: team\n---\n# Platform\n\n## Recent Facts\n- [2026-04-05] Knows the harbour\n"
    )
    kb.memory_add("Knows the harbour", entity="Zoe Marsh", create=True)
    assert kb.entities.named("Zoe Marsh").facts[0].text == "Knows the harbour"


def test_fact_added_by_two_processes_is_written_once(
    kb: KnowledgeBase, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near, pending = SimilarityEngine.near, ["Collects harbour lanterns."]

    def check_then_lose_the_race(self: SimilarityEngine, *options: Any, **more: Any) -> list[Any]:
        found = near(self, *options, **more)
        if pending:  # another process writes between the check and the write
            with KnowledgeBase(root) as other:
                other.memory_add(pending.pop(), entity="Alice Chen")
        return found

    monkeypatch.setattr(SimilarityEngine, "near", check_then_lose_the_race)
    written = kb.memory_add("collects harbour lanterns", entity="Alice Chen")
    assert (written.written, written.matches[0].relation) == (False, "exact")
    pending.append("Rows")
    assert kb.memory_add("rows", entity="Alice Chen", force=True).written
    assert (root / ALICE).read_text().casefold().count("harbour lanterns") == 1


def test_field_names_are_matched_ignoring_case(kb: KnowledgeBase, root: Path) -> None:
    page = root / ALICE
    page.write_text(page.read_text().replace("role:", "Role:"))
    assert kb.pages.edit("Alice Chen", {"role": "Harbour master"}).written
    assert "Role: Harbour master\n" in page.read_text()


def test_facts_are_superseded_and_deleted(kb: KnowledgeBase, root: Path) -> None:
    (slack,) = kb.memory_similar("Prefers async Slack over email")
    assert slack.fact_id is not None
    kb.pages.supersede_fact(slack.fact_id, text="Prefers e-mail", date="2026-04-05")
    text = (root / ALICE).read_text()
    assert "- [2026-02-15] ~~Prefers async Slack over email~~" in text
    assert "- [2026-04-05] Prefers e-mail" in text
    assert [
        fact.status for fact in kb.entities.facts(entity="Alice Chen") if "Slack" in fact.text
    ] == ["superseded"]
    (mail,) = kb.memory_similar("Prefers e-mail", entity="Alice Chen")
    assert mail.fact_id is not None
    kb.pages.delete_fact(mail.fact_id)
    assert "Prefers e-mail" not in (root / ALICE).read_text()
    with pytest.raises(NotFound, match=str(mail.fact_id)):
        kb.pages.delete_fact(mail.fact_id)


def test_undo_restores_the_bytes_and_updates_the_index(kb: KnowledgeBase, root: Path) -> None:
    before = (root / ALICE).read_bytes()
    kb.memory_add("Speaks Catalan", entity="Alice Chen")
    kb.undo()
    assert (root / ALICE).read_bytes() == before
    assert kb.memory_similar("Speaks Catalan") == []
    assert [entry.undone for entry in kb.undoable()] == [True]


def test_setting_a_similar_field_value_returns_a_hint(kb: KnowledgeBase, root: Path) -> None:
    written = kb.pages.edit("Alice Chen", {"role": "Engineering Director", "timezone": "CET"})
    assert written.hints[0].startswith(
        "role already has a similar value: 'Director of Engineering' (."
    )
    assert kb.entities.named("Alice Chen").role == "Engineering Director"
    assert (root / ALICE).read_text().startswith("---\nrole: Engineering Director\nteam: '[[Plat")
    assert not kb.pages.edit("Alice Chen", {"timezone": "CET"}).written


def test_write_does_not_wait_for_a_long_indexing_run(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_writer, "INDEX_LOCK_SECONDS", 0.0)
    notices: list[str] = []
    with KnowledgeBase(root, notice=notices.append) as kb, writer_lock(root):
        assert kb.memory_add("Speaks Catalan", entity="Alice Chen").written
        assert notices == ["saved; the index follows when the other process has finished"]
    with KnowledgeBase(root) as kb:
        kb.memory_add("Plays the cello", entity="Bob Okafor")
        kb.index(fast=True)
        assert kb.has_similar("Speaks Catalan", entity="Alice Chen")


def test_auto_commit_commits_only_the_written_file(root: Path) -> None:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, encoding="utf-8", check=True
        ).stdout

    git("init", "--quiet")
    git("config", "user.name", "Test")
    git("config", "user.email", "test@example.com")
    configure_trusted(root, "[writes]\nauto_commit = true\n")
    (root / "memory/notes/unrelated.md").write_text("# Not ours\n", encoding="utf-8")
    with KnowledgeBase(root) as kb:
        kb.memory_add("Speaks Catalan", entity="Alice Chen")
    assert git("log", "-1", "--format=%s|%an <%ae>").strip() == (
        "kbx: memory add Alice Chen|kbx <kbx@localhost>"
    )
    assert git("show", "--name-only", "--format=").split() == [ALICE]
    (root / "memory/people/*.md").write_text("# Star Lee\n", encoding="utf-8")
    (root / "memory/people/other.md").write_text("# Not ours\n", encoding="utf-8")
    with KnowledgeBase(root) as kb:
        kb.index(fast=True)
        kb.memory_add("Speaks Catalan", entity="Star Lee")
    assert git("show", "--name-only", "--format=").split() == ["memory/people/*.md"]


def test_the_entity_that_a_fact_names_is_taken_and_said(kbx: CommandLine, root: Path) -> None:
    added = kbx("memory", "add", "Alice Chen speaks Catalan", "--kb", root)
    assert added.code == 0, added.err
    assert "a fact of Alice Chen: begins with 'Alice Chen'; --entity names another" in added.err
    assert "] speaks Catalan" in (root / "memory/people/alice-chen.md").read_text("utf-8")
    before = {page: page.read_bytes() for page in root.rglob("*.md")}
    unknown = kbx("memory", "add", "someone speaks Basque", "--kb", root)
    assert (unknown.code, "say whose fact it is" in unknown.err) == (2, True)
    assert {page: page.read_bytes() for page in root.rglob("*.md")} == before

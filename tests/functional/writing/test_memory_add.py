"""A fact is written once, where it belongs, and the next check knows it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import ConfigError, FileChanged, KnowledgeBase, NotFound, WriteFault
from kbx_tui.api import writing_through
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.knowledge.records import Entity
from kbx_tui.similarity.matches import SimilarityMatch
from tests.functional.vaults import write_vault

ALICE = "memory/people/alice-chen.md"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_vault(tmp_path_factory.mktemp("writing"))
    with KnowledgeBase(root) as kb:
        kb.index()
    return root


@pytest.fixture
def root(indexed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(indexed, tmp_path / "base")


@pytest.fixture
def kb(root: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(root) as opened:
        yield opened


def test_a_new_fact_is_written_and_the_next_check_sees_it(kb: KnowledgeBase, root: Path) -> None:
    before = (root / ALICE).read_text()
    written = kb.memory_add("Speaks Catalan", entity="Alice Chen", date="2026-04-05")
    line = "- [2026-04-05] Speaks Catalan\n"
    assert (root / ALICE).read_text() == before.replace("project\n", f"project\n{line}")
    assert (root / ALICE).read_text().split("\n")[written.line - 1] == line.strip()
    (match,) = kb.memory_similar("speaks Catalan.", entity="Alice Chen")
    assert (match.relation, match.fact_id) == ("exact", written.fact_id)


def test_the_seeds_way_of_calling_works(kb: KnowledgeBase) -> None:
    candidate = "favours asynchronous communication via Slack"
    matches = kb.memory_similar(text=candidate, entity="Alice Chen")
    assert matches[0].fact_id is not None
    new_id = kb.edit_fact(matches[0].fact_id, text="Prefers async Slack, never email")
    assert kb.memory_similar("Prefers async Slack, never email")[0].fact_id == new_id
    assert kb.memory_add(title="Plays the cello", entity="Alice Chen").written


def test_a_duplicate_and_a_conflict_write_nothing(kb: KnowledgeBase, root: Path) -> None:
    kb.memory_add("Ships 5 releases a year", entity="Alice Chen")
    before = (root / ALICE).read_bytes()
    for text, relation in (
        ("prefers async Slack over email", "exact"),
        ("Ships 3 releases a year", "conflict"),
    ):
        written = kb.memory_add(text, entity="Alice Chen")
        assert (written.written, written.matches[0].relation) == (False, relation)
    assert (root / ALICE).read_bytes() == before
    assert kb.memory_add("Ships 3 releases a year", entity="Alice Chen", force=True).written


def test_a_dry_run_only_shows(kb: KnowledgeBase, root: Path) -> None:
    before = (root / ALICE).read_bytes()
    shown = kb.memory_add("Speaks Catalan", entity="Alice Chen", dry_run=True, date="2026-04-05")
    assert (shown.written, "+- [2026-04-05] Speaks Catalan" in shown.diff) == (False, True)
    assert (root / ALICE).read_bytes() == before
    assert kb.undoable() == ()


def test_a_page_is_made_only_when_asked(kb: KnowledgeBase, root: Path) -> None:
    for name in ("Zoe Marsh", "Platform"):
        with pytest.raises(NotFound, match="--create"):
            kb.memory_add("Knows the harbour", entity=name)
    kb.memory_add("Knows the harbour", entity="Platform", create=True, date="2026-04-05")
    assert (root / "memory/teams/platform.md").read_text() == (
        "---\ntype: team\n---\n# Platform\n\n## Recent Facts\n- [2026-04-05] Knows the harbour\n"
    )
    kb.memory_add("Knows the harbour", entity="Zoe Marsh", create=True)
    assert kb.named_entity("Zoe Marsh").facts[0].text == "Knows the harbour"


def test_a_page_edited_since_the_last_run_is_compared_as_it_is(
    kb: KnowledgeBase, root: Path
) -> None:
    kb.memory_similar("anything")
    page = root / ALICE
    page.write_text(page.read_text().replace("## Open Items", "- Plays chess\n\n## Open Items"))
    assert kb.memory_add("plays chess", entity="Alice Chen").matches[0].relation == "exact"


def test_two_writers_of_one_fact_write_it_once(
    kb: KnowledgeBase, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, pending = kb._known_already, ["Collects harbour lanterns."]

    def overtaken(text: str, page: Entity) -> tuple[SimilarityMatch, ...]:
        found: tuple[SimilarityMatch, ...] = check(text, page)
        if pending:  # another process writes between the check and the write
            with KnowledgeBase(root) as other:
                other.memory_add(pending.pop(), entity="Alice Chen")
        return found

    monkeypatch.setattr(kb, "_known_already", overtaken)
    written = kb.memory_add("collects harbour lanterns", entity="Alice Chen")
    assert (written.written, written.matches[0].relation) == (False, "exact")
    pending.append("Rows")
    assert kb.memory_add("rows", entity="Alice Chen", force=True).written
    assert (root / ALICE).read_text().casefold().count("harbour lanterns") == 1


def test_a_field_is_found_however_its_name_is_written(kb: KnowledgeBase, root: Path) -> None:
    page = root / ALICE
    page.write_text(page.read_text().replace("role:", "Role:"))
    assert kb.edit_page("Alice Chen", {"role": "Harbour master"}).written
    assert "Role: Harbour master\n" in page.read_text()


def test_facts_are_worded_anew_struck_out_and_taken_out(kb: KnowledgeBase, root: Path) -> None:
    (slack,) = kb.memory_similar("Prefers async Slack over email")
    assert slack.fact_id is not None
    kb.supersede_fact(slack.fact_id, text="Prefers e-mail", date="2026-04-05")
    text = (root / ALICE).read_text()
    assert "- [2026-02-15] ~~Prefers async Slack over email~~" in text
    assert "- [2026-04-05] Prefers e-mail" in text
    assert [fact.status for fact in kb.facts(entity="Alice Chen") if "Slack" in fact.text] == [
        "superseded"
    ]
    (mail,) = kb.memory_similar("Prefers e-mail", entity="Alice Chen")
    assert mail.fact_id is not None
    kb.delete_fact(mail.fact_id)
    assert "Prefers e-mail" not in (root / ALICE).read_text()
    with pytest.raises(NotFound, match=str(mail.fact_id)):
        kb.delete_fact(mail.fact_id)


def test_undo_gives_back_the_bytes_and_the_index_follows(kb: KnowledgeBase, root: Path) -> None:
    before = (root / ALICE).read_bytes()
    kb.memory_add("Speaks Catalan", entity="Alice Chen")
    kb.undo()
    assert (root / ALICE).read_bytes() == before
    assert kb.memory_similar("Speaks Catalan") == []
    assert [entry.undone for entry in kb.undoable()] == [True]


def test_undo_after_an_edit_is_refused(kb: KnowledgeBase, root: Path) -> None:
    kb.memory_add("Speaks Catalan", entity="Alice Chen")
    page = root / ALICE
    page.write_text(page.read_text() + "\nedited\n")
    with pytest.raises(FileChanged, match="by hand"):
        kb.undo()
    assert page.read_text().endswith("\nedited\n")


def test_fields_are_set_and_what_said_the_same_is_told(kb: KnowledgeBase, root: Path) -> None:
    written = kb.edit_page("Alice Chen", {"role": "Engineering Director", "timezone": "CET"})
    assert written.hints[0].startswith("role says much the same: 'Director of Engineering' (.")
    assert kb.named_entity("Alice Chen").role == "Engineering Director"
    assert (root / ALICE).read_text().startswith("---\nrole: Engineering Director\nteam: '[[Plat")
    assert not kb.edit_page("Alice Chen", {"timezone": "CET"}).written


def test_pages_are_made_once(kb: KnowledgeBase) -> None:
    kb.create_page("Blue Lagoon", "project", {"lead": "Alice Chen"})
    assert kb.named_entity("Blue Lagoon").type == "project"
    with pytest.raises(WriteFault, match=r"has a page already: memory/projects/blue-lagoon\.md"):
        kb.create_page("Blue Lagoon", "project")


def test_a_write_does_not_wait_for_a_long_indexing_run(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing_through, "FOLLOW_SECONDS", 0.0)
    told: list[str] = []
    with KnowledgeBase(root, notice=told.append) as kb, writer_lock(root):
        assert kb.memory_add("Speaks Catalan", entity="Alice Chen").written
        assert told == ["it is written; the index follows when the other process has finished"]
    with KnowledgeBase(root) as kb:
        kb.memory_add("Plays the cello", entity="Bob Okafor")
        kb.index(fast=True)
        assert kb.has_similar("Speaks Catalan", entity="Alice Chen")


def test_bad_input_is_one_sentence(kb: KnowledgeBase) -> None:
    with pytest.raises(ConfigError, match="the text is empty"):
        kb.memory_add(" ", entity="Alice Chen")
    with pytest.raises(ConfigError, match="no date"):
        kb.memory_add("x", entity="Alice Chen", date="soon")


def test_git_gets_a_commit_of_the_file_when_kbx_toml_says_so(root: Path) -> None:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, encoding="utf-8", check=True
        ).stdout

    git("init", "--quiet")
    git("config", "user.name", "Test")
    git("config", "user.email", "test@example.com")
    (root / "kbx.toml").write_text("[writes]\nauto_commit = true\n", encoding="utf-8")
    (root / "memory/notes/unrelated.md").write_text("# Not ours\n", encoding="utf-8")
    with KnowledgeBase(root) as kb:
        kb.memory_add("Speaks Catalan", entity="Alice Chen")
    assert git("log", "-1", "--format=%s|%an <%ae>").strip() == (
        "kbx: memory add Alice Chen|kbx <kbx@localhost>"
    )
    assert git("show", "--name-only", "--format=").split() == [ALICE]

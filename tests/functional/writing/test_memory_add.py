"""Writing facts, fields and pages through `KnowledgeBase`."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase, NotFound, WriteFault
from kbx_tui.api import file_writer
from kbx_tui.drafting.drafts import Choice, new_draft
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.store import Store
from kbx_tui.knowledge.records import Fact
from kbx_tui.similarity.similarity_engine import SimilarityEngine
from tests.functional.vaults import FILES, index_vault
from tests.trusting import configure_trusted

ALICE = "memory/people/alice-chen.md"
PAGE = "memory/people/ada-berg.md"
TWICE = "Keeps the harbour log"
FACTS = f"- [2026-01-01] {TWICE}\n- Rows\n- [2026-01-01] {TWICE}\n- [2026-02-02] Sings\n- Sings\n"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = FILES | {PAGE: f"# Ada Berg\n\n## Recent Facts\n{FACTS}"}
    return index_vault(tmp_path_factory.mktemp("writing"), files)


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


def test_duplicate_or_conflicting_fact_is_not_written(kb: KnowledgeBase, root: Path) -> None:
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


def test_dry_run_returns_a_diff_and_writes_nothing(kb: KnowledgeBase, root: Path) -> None:
    before = (root / ALICE).read_bytes()
    dry = kb.memory_add("Speaks Catalan", entity="Alice Chen", dry_run=True, date="2026-04-05")
    assert (dry.written, "+- [2026-04-05] Speaks Catalan" in dry.diff) == (False, True)
    assert (root / ALICE).read_bytes() == before
    assert kb.undoable() == ()


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


def test_existing_page_is_not_created_again(kb: KnowledgeBase) -> None:
    kb.pages.create("Blue Lagoon", "project", {"lead": "Alice Chen"})
    assert kb.entities.named("Blue Lagoon").type == "project"
    with pytest.raises(WriteFault, match=r"has a page already: memory/projects/blue-lagoon\.md"):
        kb.pages.create("Blue Lagoon", "project")


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


def facts_with_text(kb: KnowledgeBase, text: str) -> list[Fact]:
    """Return the facts with this text in file order."""
    return sorted(
        (fact for fact in kb.entities.facts() if fact.text == text), key=lambda fact: fact.line
    )


@pytest.mark.parametrize("text", [TWICE, "Sings"], ids=["same-date", "different-date"])
def test_deleting_the_same_id_twice_deletes_one_fact(
    kb: KnowledgeBase, root: Path, text: str
) -> None:
    deleted, _ = facts_with_text(kb, text)
    kb.pages.delete_fact(deleted.fact_id)
    after_first = (root / PAGE).read_text()
    with pytest.raises(NotFound) as refused:
        kb.pages.delete_fact(deleted.fact_id)
    message = str(refused.value)
    assert message.startswith(f"fact {deleted.fact_id} was deleted from {PAGE} on 2")
    assert "`kbx memory list`" in message
    assert (root / PAGE).read_text() == after_first
    (left,) = facts_with_text(kb, text)
    kb.pages.delete_fact(left.fact_id)
    assert text not in (root / PAGE).read_text()


def test_rewording_the_same_id_twice_rewords_one_fact(kb: KnowledgeBase, root: Path) -> None:
    first, second = facts_with_text(kb, TWICE)
    new = kb.edit_fact(first.fact_id, "Keeps the log")
    assert new == facts_with_text(kb, "Keeps the log")[0].fact_id
    with pytest.raises(NotFound, match="was reworded in"):
        kb.edit_fact(first.fact_id, "Keeps a log")
    assert (root / PAGE).read_text().count(TWICE) == 1
    assert [fact.date for fact in facts_with_text(kb, TWICE)] == [second.date]


def test_undo_restores_fact_ids(kb: KnowledgeBase) -> None:
    before = [fact.fact_id for fact in kb.entities.facts()]
    kb.pages.delete_fact(facts_with_text(kb, TWICE)[0].fact_id)
    kb.undo()
    assert [fact.fact_id for fact in kb.entities.facts()] == before


def test_id_is_refused_after_another_program_added_a_fact_with_its_text(
    kb: KnowledgeBase, root: Path
) -> None:
    """The added fact is not indexed yet."""
    (rows,) = facts_with_text(kb, "Rows")
    text = (root / PAGE).read_text()
    (root / PAGE).write_text(text + "- [2026-03-03] Rows\n")
    with pytest.raises(WriteFault, match="another one with its text"):
        kb.pages.delete_fact(rows.fact_id)
    assert (root / PAGE).read_text().count("Rows") == 2


def test_add_returns_the_id_of_the_new_fact_and_not_of_its_twin(kb: KnowledgeBase) -> None:
    written = kb.memory_add("Rows", entity="Ada Berg", date="2026-03-03", force=True)
    _, added = facts_with_text(kb, "Rows")
    assert (written.fact_id, written.line) == (added.fact_id, added.line)
    assert added.date == "2026-03-03"


def test_one_plan_can_supersede_two_facts_with_the_same_text(kb: KnowledgeBase, root: Path) -> None:
    drafts = [
        new_draft(
            f"new {number}",
            entity_id="person:ada-berg",
            choice=Choice("supersede", (fact.fact_id,)),
        )
        for number, fact in enumerate(facts_with_text(kb, TWICE))
    ]
    applied = kb.drafts.apply(kb.drafts.plan(drafts))
    assert (applied.superseded, applied.failed) == (2, ())
    assert (root / PAGE).read_text().count(f"~~{TWICE}~~") == 2


@pytest.mark.parametrize("text", [TWICE, "Sings"], ids=["same-date", "different-date"])
def test_merging_two_facts_with_the_same_text_rewords_one_and_strikes_the_other(
    kb: KnowledgeBase, root: Path, text: str
) -> None:
    check = next(check for check in kb.drafts.scan() if check.draft.text == text)
    older = tuple(match.known.fact_id for match in check.matches if match.known.fact_id is not None)
    draft = replace(check.draft, choice=Choice("merge", older, f"{text} well"))
    applied = kb.drafts.apply(kb.drafts.plan([draft]))
    assert applied.failed == ()
    page = (root / PAGE).read_text()
    assert (page.count(f"~~{text}~~"), page.count(f"{text} well\n")) == (1, 1)


def index_content(kb: KnowledgeBase) -> dict[str, list[str]]:
    store = Store(index_uri(kb.root, kb.settings))
    tables = {}
    for name in ("documents", "entities", "facts", "links", "name_uses"):
        columns = [column for column in store.table(name).schema.names if column != "version"]
        rows: list[dict[str, Any]] = store.rows(name, columns).to_pylist()
        tables[name] = sorted(str(row) for row in rows)
    tables["derived"] = [str(store.meta().get("derived_from"))]
    return tables


def test_index_after_writes_equals_a_full_rebuild(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.memory_add("Speaks Catalan", entity="Alice Chen")
        kb.memory_add("Knows the harbour", entity="Zoe Marsh", create=True)
        kb.pages.edit("Bob Okafor", {"team": "Harbour"})
        kb.pages.create("Blue Lagoon", "project", {"lead": "Alice Chen"})
        kb.undo()
        updated = index_content(kb)
        assert kb.status().stale == ()
        kb.index(full=True)
        assert index_content(kb) == updated


def test_write_reindexes_only_the_files_it_wrote(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        other = demo_copy / "memory/people/bob-okafor.md"
        other.write_text(other.read_text() + "\n\nSeen by the next run.\n", encoding="utf-8")
        kb.memory_add("Speaks Catalan", entity="Alice Chen")
        assert [path for path, _ in kb.status().stale] == ["memory/people/bob-okafor.md"]
        kb.index(fast=True)
        assert kb.status().stale == ()

"""The id of a fact never refers to another fact, even among facts with the same text."""

from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, NotFound, WriteFault
from kbx_tui.drafting.drafts import Choice, new_draft
from kbx_tui.knowledge.records import Fact
from tests.functional.vaults import index_vault

PAGE = "memory/people/ada-berg.md"
TWICE = "Keeps the harbour log"
FACTS = f"- [2026-01-01] {TWICE}\n- Rows\n- [2026-01-01] {TWICE}\n- [2026-02-02] Sings\n- Sings\n"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = f"# Ada Berg\n\n## Recent Facts\n{FACTS}"
    return index_vault(tmp_path_factory.mktemp("ids"), {PAGE: text})


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

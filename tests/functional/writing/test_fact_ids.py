"""An id given for a line never comes to mean another one, however often it is said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, NotFound, WriteFault
from kbx_tui.editing.state.drafts import Choice, new_draft
from kbx_tui.knowledge.records import Fact
from tests.functional.vaults import write_vault

PAGE = "memory/people/ada-berg.md"
TWICE = "Keeps the harbour log"
FACTS = f"- [2026-01-01] {TWICE}\n- Rows\n- [2026-01-01] {TWICE}\n- [2026-02-02] Sings\n- Sings\n"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = f"# Ada Berg\n\n## Recent Facts\n{FACTS}"
    root = write_vault(tmp_path_factory.mktemp("ids"), {PAGE: text})
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


def saying(kb: KnowledgeBase, text: str) -> list[Fact]:
    """Return the facts with this text in file order."""
    return sorted((one for one in kb.facts() if one.text == text), key=lambda one: one.line)


@pytest.mark.parametrize("text", [TWICE, "Sings"], ids=["alike", "of another date"])
def test_a_fact_is_taken_out_once(kb: KnowledgeBase, root: Path, text: str) -> None:
    gone, _ = saying(kb, text)
    kb.delete_fact(gone.fact_id)
    once = (root / PAGE).read_text()
    with pytest.raises(NotFound) as refused:
        kb.delete_fact(gone.fact_id)
    told = str(refused.value)
    assert told.startswith(f"fact {gone.fact_id} was taken out of {PAGE} on 2")
    assert "`kbx memory list`" in told
    assert (root / PAGE).read_text() == once
    (left,) = saying(kb, text)
    kb.delete_fact(left.fact_id)
    assert text not in (root / PAGE).read_text()


def test_a_fact_is_worded_anew_once(kb: KnowledgeBase, root: Path) -> None:
    first, second = saying(kb, TWICE)
    new = kb.edit_fact(first.fact_id, "Keeps the log")
    assert new == saying(kb, "Keeps the log")[0].fact_id
    with pytest.raises(NotFound, match="was worded anew in"):
        kb.edit_fact(first.fact_id, "Keeps a log")
    assert (root / PAGE).read_text().count(TWICE) == 1
    assert [one.date for one in saying(kb, TWICE)] == [second.date]


def test_what_is_undone_has_its_ids_again(kb: KnowledgeBase) -> None:
    before = [one.fact_id for one in kb.facts()]
    kb.delete_fact(saying(kb, TWICE)[0].fact_id)
    kb.undo()
    assert [one.fact_id for one in kb.facts()] == before


def test_an_id_from_before_a_second_fact_says_the_same_is_refused(
    kb: KnowledgeBase, root: Path
) -> None:
    """Another program wrote it, and it is not indexed yet."""
    (rows,) = saying(kb, "Rows")
    text = (root / PAGE).read_text()
    (root / PAGE).write_text(text + "- [2026-03-03] Rows\n")
    with pytest.raises(WriteFault, match="another one with its text"):
        kb.delete_fact(rows.fact_id)
    assert (root / PAGE).read_text().count("Rows") == 2


def test_the_fact_that_was_added_is_told_and_no_other_with_its_text(kb: KnowledgeBase) -> None:
    written = kb.memory_add("Rows", entity="Ada Berg", date="2026-03-03", force=True)
    _, added = saying(kb, "Rows")
    assert (written.fact_id, written.line) == (added.fact_id, added.line)
    assert added.date == "2026-03-03"


def test_two_facts_with_one_text_are_decided_about_in_one_plan(
    kb: KnowledgeBase, root: Path
) -> None:
    drafts = [
        new_draft(
            f"new {at}", entity_id="person:ada-berg", choice=Choice("supersede", (one.fact_id,))
        )
        for at, one in enumerate(saying(kb, TWICE))
    ]
    applied = kb.apply(kb.plan(drafts))
    assert (applied.superseded, applied.failed) == (2, ())
    assert (root / PAGE).read_text().count(f"~~{TWICE}~~") == 2


@pytest.mark.parametrize("text", [TWICE, "Sings"], ids=["alike", "of another date"])
def test_of_what_is_said_twice_one_is_worded_anew_and_the_other_struck(
    kb: KnowledgeBase, root: Path, text: str
) -> None:
    check = next(one for one in kb.scan_drafts() if one.draft.text == text)
    older = tuple(one.known.fact_id for one in check.matches if one.known.fact_id is not None)
    draft = replace(check.draft, choice=Choice("merge", older, f"{text} well"))
    applied = kb.apply(kb.plan([draft]))
    assert applied.failed == ()
    page = (root / PAGE).read_text()
    assert (page.count(f"~~{text}~~"), page.count(f"{text} well\n")) == (1, 1)

"""Drafts from paste to file: checked, decided, planned, applied as one, taken back as one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, NotFound, OutOfRange
from kbx_tui.drafting.checks import DraftCheck, Verdict
from kbx_tui.editing.state.drafts import Choice, Draft, drafts_from_text, new_draft
from tests.functional.vaults import FILES, tree_digest, write_vault

ALICE = "memory/people/alice-chen.md"
SHIPS = FILES | {
    "memory/people/carol-diaz.md": "# Carol Diaz\n\n## Recent Facts\n- Ships 5 releases a year\n",
    "memory/teams/platform.md": "# Platform\n\n## Recent Facts\n- Owns the pager\n",
}
PASTED = """
- Alice Chen favours async Slack over email
- Carol Diaz ships 3 releases a year
* Platform owns deploys
* Platform owns the deploys
[2026-04-05] Bob Okafor moved to Porto
# Alice Chen
Leads the migration project
- [ ] Follow up on the migration timeline
"""


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_vault(tmp_path_factory.mktemp("drafts"), SHIPS)
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


def decided(kb: KnowledgeBase, drafts: tuple[Draft, ...]) -> list[tuple[DraftCheck, Verdict]]:
    return [(check, kb.decide(check)) for check in kb.check_drafts(drafts)]


def test_every_state_comes_with_a_proposal_and_a_reason(kb: KnowledgeBase) -> None:
    found = decided(kb, drafts_from_text(PASTED))
    assert [
        (check.entity.name if check.entity else "", verdict.state, verdict.proposal.action)
        for check, verdict in found
    ] == [
        ("Alice Chen", "near", "merge"),
        ("Carol Diaz", "conflict", "supersede"),
        ("Platform", "new", "create"),
        ("Platform", "repeated", "skip"),
        ("Bob Okafor", "new", "create"),
        ("Alice Chen", "exact", "skip"),
        ("Alice Chen", "near", "skip"),
    ]
    assert [verdict.is_sure for _, verdict in found] == [
        False, False, True, True, True, True, False,
    ]  # fmt: skip
    assert "3 ≠ 5" in found[1][1].reason
    assert found[5][1].reason == f"stands in {ALICE}:11 already"


def test_a_threshold_decides_anew_without_a_search(kb: KnowledgeBase) -> None:
    (check,) = kb.check_drafts(drafts_from_text("Alice Chen favours async Slack over email"))
    score = check.matches[0].known.score
    kb.close()  # nothing is open any more
    assert kb.decide(check, score).state == "near"
    assert kb.decide(check, min(score + 0.01, 1.0)).state == "new"
    with pytest.raises(OutOfRange):
        kb.decide(check, 1.5)


def test_facts_of_others_are_shown_and_decide_nothing(kb: KnowledgeBase) -> None:
    draft = new_draft("Owns the pager", entity_id="person:bob-okafor", is_guessed=False)
    (check,) = kb.check_drafts([draft])
    assert (check.matches[0].known.relation, check.matches[0].is_own) == ("exact", False)
    assert kb.decide(check).state == "new"


def test_whose_fact_it_is_can_be_told_by_the_nearest_fact(kb: KnowledgeBase) -> None:
    (check,) = kb.check_drafts([new_draft("Ships 5 releases each year")])
    assert check.entity is not None
    assert (check.entity.name, check.draft.is_guessed) == ("Carol Diaz", True)
    (chosen,) = kb.check_drafts([replace(check.draft, entity_id="team:platform", is_guessed=False)])
    assert chosen.entity is not None
    assert chosen.entity.name == "Platform"


def test_a_name_nobody_has_is_said(kb: KnowledgeBase) -> None:
    (check,) = kb.check_drafts(drafts_from_text("# Zoe Marsh\nlikes tea"))
    assert check.entity is None
    assert "no entity is called 'Zoe Marsh'" in check.notes[0]
    assert not kb.decide(check).is_sure


def test_the_plan_is_what_gets_written_and_one_undo_takes_it_back(
    kb: KnowledgeBase, root: Path
) -> None:
    before = {path: (root / path).read_bytes() for path in SHIPS}
    found = decided(kb, drafts_from_text(PASTED))
    chosen = [replace(check.draft, choice=verdict.proposal) for check, verdict in found]
    digest = tree_digest(root)
    plan = kb.plan(chosen)
    assert tree_digest(root) == digest  # planning writes nothing
    assert "+- ~~Ships 5 releases a year~~" in plan.diff
    heard: list[tuple[int, int]] = []
    applied = kb.apply(plan, lambda done, total: heard.append((done, total)))
    assert (applied.created, applied.merged, applied.superseded, applied.skipped) == (2, 1, 1, 3)
    assert (applied.failed, heard[-1]) == ((), (4, 4))
    for file in plan.files:
        assert (root / file.path).read_bytes() == file.after
    after = [kb.decide(check).state for check in kb.check_drafts(drafts_from_text(PASTED))]
    assert after[1:6] == ["exact", "exact", "repeated", "exact", "exact"]
    kb.undo(applied.entry)
    assert {path: (root / path).read_bytes() for path in SHIPS} == before


def test_a_file_edited_after_the_plan_keeps_what_was_edited(kb: KnowledgeBase, root: Path) -> None:
    def choice(text: str, **known: str) -> Draft:
        return replace(new_draft(text, **known), choice=Choice("create"))

    kb.check_drafts([])
    slack = kb.memory_similar("Prefers async Slack over email", entity="Alice Chen")[0]
    assert slack.fact_id is not None
    merge = replace(
        new_draft("x", entity_id="person:alice-chen"),
        choice=Choice("merge", (slack.fact_id,), "Prefers Slack"),
    )
    bob = choice("Rows on Sundays", entity_id="person:bob-okafor")
    plan = kb.plan([merge, bob])
    page = root / ALICE
    page.write_text(page.read_text().replace("Prefers async Slack over email", "Prefers calls"))
    other = root / "memory/people/bob-okafor.md"
    other.write_text(other.read_text() + "- [2026-03-03] written meanwhile\n")
    applied = kb.apply(plan)
    assert [one.draft_id for one in applied.failed] == [merge.id]
    assert "Prefers calls" in page.read_text()
    assert [line.partition("] ")[2] for line in other.read_text().splitlines()[-2:]] == [
        "written meanwhile",
        "Rows on Sundays",
    ]


def test_what_cannot_be_carried_out_is_told_and_the_rest_can(kb: KnowledgeBase) -> None:
    nobody = replace(new_draft("likes tea"), choice=Choice("create"))
    gone = replace(new_draft("x"), choice=Choice("supersede", (1,)))
    no_target = replace(new_draft("x"), choice=Choice("merge"))
    fine = replace(new_draft("Rows", entity_id="person:bob-okafor"), choice=Choice("create"))
    plan = kb.plan([nobody, gone, no_target, fine, new_draft("undecided")])
    assert [(one.draft_id, one.reason) for one in plan.problems] == [
        (nobody.id, "nobody knows whose fact this is; choose an entity"),
        (gone.id, "fact 1 is no longer known; check again"),
        (no_target.id, "say which fact to merge"),
    ]
    assert plan.actions == ((fine.id, "create"),)


def test_drafts_are_kept_with_what_was_decided(kb: KnowledgeBase, root: Path) -> None:
    drafts = drafts_from_text(PASTED)
    drafts = (replace(drafts[0], choice=Choice("merge", (5,), "joined")), *drafts[1:])
    kb.save_drafts(drafts)
    with KnowledgeBase(root) as other:
        assert other.drafts() == drafts
        other.save_drafts([*drafts, new_draft("theirs")])
    kb.save_drafts(drafts[1:])  # one was settled; what the other process added stays
    assert [draft.text for draft in kb.drafts()] == [d.text for d in drafts[1:]] + ["theirs"]


def test_a_scan_becomes_drafts_that_strike_the_older_fact(kb: KnowledgeBase, root: Path) -> None:
    kb.memory_add("Favours async Slack over email", entity="Alice Chen", force=True)
    (check,) = kb.scan_drafts(entity="Alice Chen")
    verdict = kb.decide(check)
    assert (verdict.state, verdict.proposal.action) == ("near", "supersede")
    kb.apply(kb.plan([replace(check.draft, choice=verdict.proposal)]))
    text = (root / ALICE).read_text()
    assert "~~Prefers async Slack over email~~" in text
    assert text.count("Favours async Slack") == 1


def fact_of(kb: KnowledgeBase, text: str) -> int:
    found: int = next(fact.fact_id for fact in kb.facts() if fact.text == text)
    return found


def of_alice(text: str, choice: Choice | None = None, **known: str | int) -> Draft:
    return new_draft(text, entity_id="person:alice-chen", is_guessed=False, choice=choice, **known)


def test_a_draft_that_touches_two_files_is_written_whole_or_not_at_all(
    kb: KnowledgeBase, root: Path
) -> None:
    pager = fact_of(kb, "Owns the pager")
    plan = kb.plan([of_alice("Owns the pager now", Choice("supersede", (pager,)))])
    assert len(plan.files) == 2
    page, before = root / "memory/teams/platform.md", (root / ALICE).read_bytes()
    page.write_text("# Platform\n")
    applied = kb.apply(plan)
    assert (len(applied.failed), applied.paths, applied.entry) == (1, (), None)
    assert (root / ALICE).read_bytes() == before


def test_a_fact_is_the_target_of_one_decision_of_a_plan(kb: KnowledgeBase) -> None:
    slack = fact_of(kb, "Prefers async Slack over email")
    first = of_alice("Writes letters", Choice("supersede", (slack,)))
    second = of_alice("On weekdays", Choice("merge", (slack,), "Prefers Slack; on weekdays"))
    plan = kb.plan([first, second])
    assert plan.actions == ((first.id, "supersede"),)
    assert [one.draft_id for one in plan.problems] == [second.id]
    assert "decides about the same fact" in plan.problems[0].reason


def test_two_scanned_facts_do_not_strike_each_other(kb: KnowledgeBase) -> None:
    slack, leads = (
        fact_of(kb, text)
        for text in ("Prefers async Slack over email", "Leads the migration project")
    )
    plan = kb.plan(
        [
            of_alice("one", Choice("supersede", (leads,)), stands_for=slack),
            of_alice("other", Choice("supersede", (slack,)), stands_for=leads),
        ]
    )
    assert (len(plan.actions), len(plan.problems)) == (1, 1)


def test_a_merge_keeps_links_and_emphasis_and_takes_date_and_source_of_the_draft(
    kb: KnowledgeBase, root: Path
) -> None:
    page = root / ALICE
    line = "- [2026-01-01] Steers the [[Harbour|harbour]] crew with *great* care (source: [[Log]])"
    page.write_text(page.read_text().replace("## Recent Facts\n", f"## Recent Facts\n{line}\n"))
    said = "Steers the harbour crew with great care on foggy mornings"
    draft = of_alice(said, date="2026-04-01", source="Kickoff")
    (check,) = kb.check_drafts([draft])
    match = check.matches[0]
    assert match.written == "Steers the [[Harbour|harbour]] crew with *great* care"
    text = kb.merged_text(check, match)
    assert match.known.fact_id is not None
    choice = Choice("merge", (match.known.fact_id,), text)
    kb.apply(kb.plan([replace(draft, choice=choice)]))
    assert (
        "- [2026-04-01] Steers the [[Harbour|harbour]] crew with *great* care on foggy mornings "
        "(source: Kickoff) (source: [[Log]])"
    ) in page.read_text().splitlines()


def test_a_page_edited_since_the_last_run_is_taken_in_before_a_check(
    kb: KnowledgeBase, root: Path
) -> None:
    kb.check_drafts([of_alice("anything")])
    page = root / ALICE
    page.write_text(page.read_text().replace("## Open Items", "- Plays chess\n\n## Open Items"))
    (check,) = kb.check_drafts([of_alice("plays chess")])
    assert kb.decide(check).state == "exact"


def test_what_stands_on_the_page_by_now_is_not_added_again(kb: KnowledgeBase, root: Path) -> None:
    draft = of_alice("Plays chess", Choice("create"))
    plan = kb.plan([draft])
    with KnowledgeBase(root) as other:
        other.memory_add("plays chess.", entity="Alice Chen")
    assert len(kb.apply(plan).failed) == 1  # somebody was faster
    again = kb.plan([draft])
    assert again.actions == ()
    assert "already" in again.problems[0].reason
    assert (root / ALICE).read_text().casefold().count("plays chess") == 1


def test_settled_drafts_leave_the_file_with_the_write(kb: KnowledgeBase, root: Path) -> None:
    written, waiting = of_alice("Plays chess", Choice("create")), of_alice("Rows")
    kb.save_drafts([written, waiting])
    kb.apply(kb.plan([written]))
    with KnowledgeBase(root) as other:  # as if the app had died here
        assert other.drafts() == (waiting,)
    kb.undo()
    kb.save_drafts([written, waiting])  # brought back
    assert kb.drafts() == (written, waiting)


def test_what_another_process_settled_does_not_come_back(kb: KnowledgeBase, root: Path) -> None:
    draft = of_alice("Plays chess")
    kb.save_drafts([draft])
    with KnowledgeBase(root) as other:
        other.drafts()
        other.save_drafts([])
    for _ in range(2):
        kb.save_drafts([draft])
        assert kb.drafts() == ()


def test_an_id_beyond_all_ids_is_no_fact(kb: KnowledgeBase) -> None:
    for fact_id in (0, -5, 2**53, 10**23):
        with pytest.raises(NotFound, match="no fact has the id"):
            kb.delete_fact(fact_id)
        draft = of_alice("x", Choice("supersede", (fact_id,)))
        assert "no longer known" in kb.plan([draft]).problems[0].reason


def test_labels_measure_a_threshold_from_twenty_on(kb: KnowledgeBase) -> None:
    for number in range(10):
        kb.label(f"runs the rota {number}", f"Runs the rota {number}.", True)
        assert kb.measure(kb.labelled(), 0.85) is None
        kb.label(f"runs the rota {number}", f"runs the rota {number + 1}", False)
    kb.label("runs the rota 1", "runs the rota 0", False)  # a pair once more, the other way round
    measured = kb.measure(kb.labelled(), 0.85)
    assert measured is not None
    assert (measured.labels, measured.precision, measured.recall) == (20, 1.0, 1.0)


def test_a_hundred_drafts_cost_one_embedding_of_each_text(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kbx_tui.embedding.local import LocalEmbedder

    embedded: list[str] = []
    embed = LocalEmbedder.embed

    def counted(self: LocalEmbedder, texts: list[str]) -> object:
        embedded.extend(texts)
        return embed(self, texts)

    drafts = [
        new_draft(f"likes tea number {number}", entity_id="person:alice-chen", is_guessed=False)
        for number in range(100)
    ]
    kb.check_drafts(drafts[:1])
    monkeypatch.setattr(LocalEmbedder, "embed", counted)
    kb.check_drafts(drafts)
    kb.check_drafts([*drafts, new_draft("Bob Okafor rows")])
    assert len(embedded) == len(set(embedded)) == 100

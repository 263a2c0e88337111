"""Drafts from pasted text to file: checked, decided, planned, applied and undone in one step."""

from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, NotFound
from kbx_tui.drafting.checking import MAX_COMPARED
from kbx_tui.drafting.decided_pairs import measure_threshold
from kbx_tui.drafting.deciding import decide
from kbx_tui.drafting.drafts import Choice, Draft, DraftCheck, Verdict, drafts_from_text, new_draft
from kbx_tui.drafting.planning import file_diff
from kbx_tui.drafting.texts import merged_text
from tests.functional.vaults import FILES, index_vault, tree_digest

ALICE = "memory/people/alice-chen.md"
SHIPS = FILES | {
    "memory/people/carol-diaz.md": "# Carol Diaz\n\n## Recent Facts\n- Ships 5 releases a year\n",
    "memory/teams/platform.md": "# Platform\n\n## Recent Facts\n- Owns the pager\n",
    "kbx.toml": '[dedup]\njudge = "rules"\n',  # of the pair model, see test_door.py
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
    return index_vault(tmp_path_factory.mktemp("drafts"), SHIPS)


def decided(kb: KnowledgeBase, drafts: tuple[Draft, ...]) -> list[tuple[DraftCheck, Verdict]]:
    return [(check, decide(check)) for check in kb.drafts.check(drafts)]


def test_each_draft_gets_a_state_and_a_proposal(kb: KnowledgeBase) -> None:
    decisions = decided(kb, drafts_from_text(PASTED))
    assert [
        (check.entity.name if check.entity else "", verdict.state, verdict.proposal.action)
        for check, verdict in decisions
    ] == [
        ("Alice Chen", "near", "create"),
        ("Carol Diaz", "conflict", "supersede"),
        ("Platform", "new", "create"),
        ("Platform", "repeated", "skip"),
        ("Bob Okafor", "new", "create"),
        ("Alice Chen", "exact", "skip"),
        ("Alice Chen", "near", "skip"),
    ]
    assert [verdict.is_sure for _, verdict in decisions] == [
        False, False, False, False, False, True, False,
    ]  # fmt: skip
    assert "5 → 3" in decisions[1][1].reason
    assert decisions[5][1].reason == f"already in {ALICE}:11"


def test_only_additions_far_from_all_that_is_known_are_surely_new(root: Path) -> None:
    page = root / ALICE
    page.write_text(page.read_text("utf-8") + "- Keeps the books\n- Married to Finn\n", "utf-8")
    (page.parent / "ann.md").write_text("---\ntype: person\n---\n# Ann Moe\n", "utf-8")
    texts = {
        "# Alice Chen": ("Speaks Catalan", "Does the accounts", "Divorced since last year"),
        "# Ann Moe": ("Does the accounts", "Divorced since last year", "Speaks Catalan"),
    }
    with KnowledgeBase(root) as kb:
        kb.index()
        drafts = [line for head, some in texts.items() for line in (head, *some)]
        decisions = decided(kb, drafts_from_text("\n".join(drafts)))
    assert [verdict.is_sure for _, verdict in decisions] == [True, False, False, True, False, True]


def test_only_an_exact_fact_of_the_named_entity_decides(kb: KnowledgeBase) -> None:
    ((_, verdict),) = decided(kb, (new_draft("Owns the pager"),))
    assert (verdict.state, verdict.is_sure) == ("exact", False)

    draft = new_draft("Owns the pager", entity_id="person:bob-okafor", is_guessed=False)
    (check,) = kb.drafts.check([draft])
    assert (check.matches[0].known.relation, check.matches[0].is_own) == ("exact", False)
    assert decide(check).state == "new"


def test_a_text_repeated_for_another_day_is_left(kb: KnowledgeBase) -> None:
    drafts = (
        "# Bob Okafor\n[2026-05-01] Sang in Vienna\n"
        '{"text": "[2026-06-01] Sang in Vienna", "entity": "Bob Okafor"}\n'
        "[2026-05-01] Sang in Vienna\n"
    )
    decisions = decided(kb, drafts_from_text(drafts))
    assert decisions[1][0].draft.date == "2026-06-01"
    assert [verdict.is_sure for _, verdict in decisions] == [False, False, True]


def test_entity_is_guessed_from_the_nearest_fact_or_unknown(kb: KnowledgeBase) -> None:
    (check,) = kb.drafts.check([new_draft("Ships 5 releases each year")])
    assert check.entity is not None
    assert (check.entity.name, check.draft.is_guessed) == ("Carol Diaz", True)
    (chosen,) = kb.drafts.check([replace(check.draft, entity_id="team:platform", is_guessed=False)])
    assert chosen.entity is not None
    assert chosen.entity.name == "Platform"
    (check,) = kb.drafts.check([new_draft("Only 3 releases in a year")])
    verdict = decide(check)  # the fact is less similar than a duplicate, and decides all the same
    assert (verdict.state, verdict.is_sure) == ("conflict", False)
    assert check.entity is not None
    assert (check.entity.name, check.draft.entity_id) == ("Carol Diaz", "person:carol-diaz")

    (check,) = kb.drafts.check(drafts_from_text("# Zoe Marsh\nlikes tea"))
    assert check.entity is None
    assert "no entity is called 'Zoe Marsh'" in check.notes[0]
    assert not decide(check).is_sure


def test_plan_is_written_exactly_and_undone_in_one_step(kb: KnowledgeBase, root: Path) -> None:
    before = {path: (root / path).read_bytes() for path in SHIPS}
    decisions = decided(kb, drafts_from_text(PASTED))
    chosen = [replace(check.draft, choice=verdict.proposal) for check, verdict in decisions]
    digest = tree_digest(root)
    plan = kb.drafts.plan(chosen)
    assert tree_digest(root) == digest  # planning writes nothing
    assert "+- ~~Ships 5 releases a year~~" in plan.diff
    progress: list[tuple[int, int]] = []
    applied = kb.drafts.apply(plan, lambda done, total: progress.append((done, total)))
    assert (applied.created, applied.merged, applied.superseded, applied.skipped) == (3, 0, 1, 3)
    assert (applied.failed, progress[-1]) == ((), (4, 4))
    for file in plan.files:
        assert (root / file.path).read_bytes() == file.after
    after = [decide(check).state for check in kb.drafts.check(drafts_from_text(PASTED))]
    assert after[1:6] == ["exact", "exact", "repeated", "exact", "exact"]
    kb.undo(applied.entry)
    assert {path: (root / path).read_bytes() for path in SHIPS} == before


def test_edits_made_after_planning_are_kept(kb: KnowledgeBase, root: Path) -> None:
    def choice(text: str, **known: str) -> Draft:
        return replace(new_draft(text, **known), choice=Choice("create"))

    kb.drafts.check([])
    slack = kb.memory_similar("Prefers async Slack over email", entity="Alice Chen")[0]
    assert slack.fact_id is not None
    merge = replace(
        new_draft("x", entity_id="person:alice-chen"),
        choice=Choice("merge", (slack.fact_id,), "Prefers Slack"),
    )
    bob = choice("Rows on Sundays", entity_id="person:bob-okafor")
    plan = kb.drafts.plan([merge, bob])
    page = root / ALICE
    page.write_text(page.read_text().replace("Prefers async Slack over email", "Prefers calls"))
    other = root / "memory/people/bob-okafor.md"
    other.write_text(other.read_text() + "- [2026-03-03] written meanwhile\n")
    applied = kb.drafts.apply(plan)
    assert [problem.draft_id for problem in applied.failed] == [merge.id]
    assert "Prefers calls" in page.read_text()
    assert [line.partition("] ")[2] for line in other.read_text().splitlines()[-2:]] == [
        "written meanwhile",
        "Rows on Sundays",
    ]


def test_drafts_that_cannot_be_applied_become_problems_of_the_plan(kb: KnowledgeBase) -> None:
    nobody = replace(new_draft("likes tea"), choice=Choice("create"))
    gone = replace(new_draft("x"), choice=Choice("supersede", (1,)))
    no_target = replace(new_draft("x"), choice=Choice("merge"))
    fine = replace(new_draft("Rows", entity_id="person:bob-okafor"), choice=Choice("create"))
    plan = kb.drafts.plan([nobody, gone, no_target, fine, new_draft("undecided")])
    assert [(problem.draft_id, problem.reason) for problem in plan.problems] == [
        (nobody.id, "its entity is unknown; choose one"),
        (gone.id, "fact 1 no longer exists; check again"),
        (no_target.id, "say which fact to merge"),
    ]
    assert plan.actions == ((fine.id, "create"),)


def test_drafts_are_stored_with_their_choices(kb: KnowledgeBase, root: Path) -> None:
    drafts = drafts_from_text(PASTED)
    drafts = (replace(drafts[0], choice=Choice("merge", (5,), "joined")), *drafts[1:])
    kb.drafts.save(drafts)
    with KnowledgeBase(root) as other:
        assert other.drafts.stored() == drafts
        other.drafts.save([*drafts, new_draft("theirs")])
    kb.drafts.save(drafts[1:])  # the first is settled; what the other process added stays
    assert [draft.text for draft in kb.drafts.stored()] == [d.text for d in drafts[1:]] + ["theirs"]


def test_scan_proposes_to_supersede_the_older_duplicate(kb: KnowledgeBase, root: Path) -> None:
    kb.memory_add("Favours async Slack over email", entity="Alice Chen", force=True)
    (check,) = kb.drafts.scan(entity="Alice Chen")
    verdict = decide(check)
    assert (verdict.state, verdict.proposal.action) == ("near", "supersede")
    kb.drafts.apply(kb.drafts.plan([replace(check.draft, choice=verdict.proposal)]))
    text = (root / ALICE).read_text()
    assert "~~Prefers async Slack over email~~" in text
    assert text.count("Favours async Slack") == 1


def fact_id_of(kb: KnowledgeBase, text: str) -> int:
    fact_id: int = next(fact.fact_id for fact in kb.entities.facts() if fact.text == text)
    return fact_id


def draft_of_alice(text: str, choice: Choice | None = None, **known: str | int) -> Draft:
    return new_draft(text, entity_id="person:alice-chen", is_guessed=False, choice=choice, **known)


def test_draft_that_edits_two_files_is_written_to_both_or_neither(
    kb: KnowledgeBase, root: Path
) -> None:
    pager = fact_id_of(kb, "Owns the pager")
    plan = kb.drafts.plan([draft_of_alice("Owns the pager now", Choice("supersede", (pager,)))])
    assert len(plan.files) == 2
    page, before = root / "memory/teams/platform.md", (root / ALICE).read_bytes()
    page.write_text("# Platform\n")
    applied = kb.drafts.apply(plan)
    assert (len(applied.failed), applied.paths, applied.entry) == (1, (), None)
    assert (root / ALICE).read_bytes() == before


def test_plan_accepts_one_decision_per_fact(kb: KnowledgeBase) -> None:
    slack = fact_id_of(kb, "Prefers async Slack over email")
    first = draft_of_alice("Writes letters", Choice("supersede", (slack,)))
    second = draft_of_alice("On weekdays", Choice("merge", (slack,), "Prefers Slack; on weekdays"))
    plan = kb.drafts.plan([first, second])
    assert plan.actions == ((first.id, "supersede"),)
    assert [problem.draft_id for problem in plan.problems] == [second.id]
    assert "decides about the same fact" in plan.problems[0].reason


def test_two_scanned_facts_cannot_supersede_each_other(kb: KnowledgeBase) -> None:
    slack, leads = (
        fact_id_of(kb, text)
        for text in ("Prefers async Slack over email", "Leads the migration project")
    )
    plan = kb.drafts.plan(
        [
            draft_of_alice("one", Choice("supersede", (leads,)), stands_for=slack),
            draft_of_alice("other", Choice("supersede", (slack,)), stands_for=leads),
        ]
    )
    assert (len(plan.actions), len(plan.problems)) == (1, 1)


def test_merge_keeps_markup_and_takes_date_and_source_of_the_draft(
    kb: KnowledgeBase, root: Path
) -> None:
    page = root / ALICE
    line = "- [2026-01-01] Steers the [[Harbour|harbour]] crew with *great* care (source: [[Log]])"
    page.write_text(page.read_text().replace("## Recent Facts\n", f"## Recent Facts\n{line}\n"))
    text = "Steers the harbour crew with great care on foggy mornings"
    draft = draft_of_alice(text, date="2026-04-01", source="Kickoff")
    (check,) = kb.drafts.check([draft])
    match = check.matches[0]
    assert match.written == "Steers the [[Harbour|harbour]] crew with *great* care"
    merged = merged_text(draft.text, match.written)
    assert match.known.fact_id is not None
    choice = Choice("merge", (match.known.fact_id,), merged)
    kb.drafts.apply(kb.drafts.plan([replace(draft, choice=choice)]))
    assert (
        "- [2026-04-01] Steers the [[Harbour|harbour]] crew with *great* care on foggy mornings "
        "(source: Kickoff) (source: [[Log]])"
    ) in page.read_text().splitlines()


def test_check_sees_edits_made_since_the_last_indexing_run(kb: KnowledgeBase, root: Path) -> None:
    kb.drafts.check([draft_of_alice("anything")])
    page = root / ALICE
    page.write_text(page.read_text().replace("## Open Items", "- Plays chess\n\n## Open Items"))
    (check,) = kb.drafts.check([draft_of_alice("plays chess")])
    assert decide(check).state == "exact"


def test_fact_added_by_another_process_is_not_added_again(kb: KnowledgeBase, root: Path) -> None:
    draft = draft_of_alice("Plays chess", Choice("create"))
    plan = kb.drafts.plan([draft])
    with KnowledgeBase(root) as other:
        other.memory_add("plays chess.", entity="Alice Chen")
    assert len(kb.drafts.apply(plan).failed) == 1
    again = kb.drafts.plan([draft])
    assert again.actions == ()
    assert "already" in again.problems[0].reason
    assert (root / ALICE).read_text().casefold().count("plays chess") == 1


def test_applied_drafts_are_removed_from_the_draft_file(kb: KnowledgeBase, root: Path) -> None:
    written, waiting = draft_of_alice("Plays chess", Choice("create")), draft_of_alice("Rows")
    kb.drafts.save([written, waiting])
    kb.drafts.apply(kb.drafts.plan([written]))
    with KnowledgeBase(root) as other:  # as if the app had crashed here
        assert other.drafts.stored() == (waiting,)
    kb.undo()
    kb.drafts.save([written, waiting])  # the user restored the draft
    assert kb.drafts.stored() == (written, waiting)


def test_draft_settled_by_another_process_does_not_reappear(kb: KnowledgeBase, root: Path) -> None:
    draft = draft_of_alice("Plays chess")
    kb.drafts.save([draft])
    with KnowledgeBase(root) as other:
        other.drafts.stored()
        other.drafts.save([])
    for _ in range(2):
        kb.drafts.save([draft])
        assert kb.drafts.stored() == ()


def test_a_name_that_no_file_can_have_is_not_found(kb: KnowledgeBase) -> None:
    with pytest.raises(NotFound, match="cannot be read"):
        kb.drafts.in_file("a\0b")


def test_fact_ids_out_of_range_are_refused(kb: KnowledgeBase) -> None:
    for fact_id in (0, -5, 2**53, 10**23):
        with pytest.raises(NotFound, match="no fact has the id"):
            kb.pages.delete_fact(fact_id)
        draft = draft_of_alice("x", Choice("supersede", (fact_id,)))
        assert "no longer exists" in kb.drafts.plan([draft]).problems[0].reason


def test_threshold_is_measured_from_twenty_labels(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        kb.drafts.label(f"runs the rota {number}", f"Runs the rota {number}.", True)
        assert measure_threshold(kb.drafts.labelled(), 0.85) is None
        kb.drafts.label(f"runs the rota {number}", f"runs the rota {number + 1}", False)
    kb.drafts.label("runs the rota 1", "runs the rota 0", False)  # the same pair in reverse
    metrics = measure_threshold(kb.drafts.labelled(), 0.85)
    assert metrics is not None
    assert (metrics.labels, metrics.precision, metrics.recall) == (20, 1.0, 1.0)
    monkeypatch.setattr("kbx_tui.api.drafts.MOST_LABELS", 3)
    assert [label.label.right for label in kb.drafts.labelled()][-1] == "runs the rota 0"
    assert len(kb.drafts.labelled()) == 3


def test_checking_many_drafts_embeds_each_text_once(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kbx_tui.embedding.local import LocalEmbedder

    embedded: list[str] = []
    embed = LocalEmbedder.embed

    def counting_embed(self: LocalEmbedder, texts: list[str]) -> object:
        embedded.extend(texts)
        return embed(self, texts)

    drafts = [
        new_draft(f"likes tea number {number}", entity_id="person:alice-chen", is_guessed=False)
        for number in range(100)
    ]
    kb.drafts.check([drafts[0], new_draft("Bob Okafor reads")])  # and the fields of both
    monkeypatch.setattr(LocalEmbedder, "embed", counting_embed)
    kb.drafts.check(drafts)
    kb.drafts.check([*drafts, new_draft("Bob Okafor rows")])
    fields = {"SRE"}  # Bob's, which the last draft is compared with too
    assert len(embedded) == len(set(embedded))
    assert len(set(embedded) - fields) == 100


def test_long_texts_are_compared_in_part_and_never_written(kb: KnowledgeBase) -> None:
    draft = new_draft("Alice Chen " + "2026-01-02 not 12 " * 50_000)
    (check,) = kb.drafts.check([draft])
    assert check.notes == ("the text has 900,011 characters; only the first 10,000 are compared",)
    plan = kb.drafts.plan([replace(check.draft, choice=Choice("create"))])
    assert not plan.files
    assert "a fact has at most 10,000" in plan.problems[0].reason

    field = kb.entity_similar_field("Alice Chen", "role", "12 2026-01-02 " * 70_000)
    assert "only the first 10,000 are compared" in " ".join(field.notes)

    drafts = drafts_from_text("- Alice Chen grows tomatoes\n" * (MAX_COMPARED + 5))
    checks = kb.drafts.check(drafts)
    assert [len(check.repeats) for check in checks[:2]] == [0, 1]
    assert len(checks[-1].repeats) == MAX_COMPARED


def test_a_line_of_a_diff_ends_at_a_line_feed_alone_and_is_cut_if_very_long() -> None:
    odd = "a\u2028b\x85\n"
    diff = file_diff("x.md", odd.encode(), f"{odd}c\n".encode())
    assert diff.endswith(f"@@ -1 +1,2 @@\n {odd}+c\n")

    diff = file_diff("x.md", b"w" * 50_000, b"v" * 50_000)
    assert "+" + "v" * 9_999 + " … (40,001 more characters)\n" in diff


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("Lives in Malmö, takes the 17:42 train home", "Has moved to Lund"),
        ("Left the union in 2024", "is left-handed"),
    ],
)
def test_what_shares_no_word_with_a_fact_may_still_contradict_it(
    tmp_path: Path, known: str, draft: str
) -> None:
    page = tmp_path / "memory" / "people" / "greta-holm.md"
    page.parent.mkdir(parents=True)
    page.write_text(f"# Greta Holm\n\n## Facts\n- {known}\n", encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        (check,) = kb.drafts.check([new_draft(draft, entity_name="Greta Holm")])
        verdict = decide(check)
    assert (verdict.proposal.action, verdict.is_sure) == ("create", False)
    assert known in verdict.reason

"""State and proposal of a draft, from its check and a threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from kbx_tui.drafting.deciding import decide
from kbx_tui.drafting.drafts import new_draft
from kbx_tui.drafting.records import BatchMatch, DraftCheck, DraftMatch, EntityGuess, State
from kbx_tui.similarity.conflict_guard import Conflict
from kbx_tui.similarity.matches import SimilarityMatch
from kbx_tui.similarity.pair_score import Relation
from tests.unit.similarity.building import make_pair

ALICE = EntityGuess("person:alice", "Alice", "person", "memory/people/alice.md", 1.0, "chosen")


def match(
    score: float, relation: Relation = "duplicate", *, own: bool = True, text: str = "runs the rota"
) -> DraftMatch:
    conflicts = (Conflict("number", "3", "5"),) if relation == "conflict" else ()
    pair = make_pair(score, conflicts, is_same=relation == "exact")
    known = SimilarityMatch(
        text, pair, 0.9, "fact", "memory/people/alice.md", 3, entity_name="Alice", fact_id=7
    )
    return DraftMatch(known, own)


def repeat(score: float, *, conflict: bool = False) -> BatchMatch:
    conflicts = (Conflict("number", "3", "5"),) if conflict else ()
    return BatchMatch("0", "an earlier draft", make_pair(score, conflicts), 0.9)


def check(
    *matches: DraftMatch,
    repeats: tuple[BatchMatch, ...] = (),
    text: str = "runs the weekly rota",
    entity: EntityGuess | None = ALICE,
    stands_for: int | None = None,
) -> DraftCheck:
    return DraftCheck(
        new_draft(text, stands_for=stands_for), text, entity, (), matches, repeats, "model", True
    )


Action = Literal["create", "merge", "supersede", "skip"]


@pytest.mark.parametrize(
    ("checked", "state", "action", "is_sure"),
    [
        (check(), "new", "create", True),
        (check(entity=None), "new", "create", False),
        (check(match(0.95)), "near", "merge", False),
        (check(match(0.95, text="runs the weekly rota alone")), "near", "skip", False),
        (check(match(0.89)), "new", "create", True),
        (check(match(1.0, "exact")), "exact", "skip", True),
        (check(match(0.95, "conflict")), "conflict", "supersede", False),
        (check(match(0.95, "conflict"), match(0.93)), "conflict", "supersede", False),
        (check(match(1.0, "exact"), match(0.95, "conflict")), "exact", "skip", True),
        (check(match(1.0, "exact", own=False)), "new", "create", True),
        (check(repeats=(repeat(0.95),)), "repeated", "skip", True),
        (check(match(0.95), repeats=(repeat(0.95),)), "repeated", "skip", True),
        (check(repeats=(repeat(0.95, conflict=True),)), "conflict", "create", False),
        (check(repeats=(repeat(0.5),)), "new", "create", True),
    ],
)
def test_check_leads_to_state_and_proposal(
    checked: DraftCheck, state: State, action: Action, is_sure: bool
) -> None:
    verdict = decide(checked)
    assert (verdict.state, verdict.proposal.action, verdict.is_sure) == (state, action, is_sure)


def test_proposal_is_not_sure_if_the_entity_is_only_hinted_at() -> None:
    hinted = replace(ALICE, is_named=False)
    assert not decide(check(entity=hinted)).is_sure
    chosen = check(entity=hinted)
    chosen = replace(chosen, draft=replace(chosen.draft, is_guessed=False))
    assert decide(chosen).is_sure


def test_repeating_a_finished_open_item_needs_review() -> None:
    exact = match(1.0, "exact")
    verdict = decide(check(replace(exact, known=replace(exact.known, done=True))))
    assert (verdict.state, verdict.is_sure) == ("exact", False)
    assert "already done" in verdict.reason


def test_given_threshold_replaces_those_of_all_types() -> None:
    checked = check(match(0.7), repeats=(repeat(0.6),))
    states = [decide(checked, threshold).state for threshold in (0.5, 0.65, 0.8)]
    assert states == ["repeated", "near", "new"]


def test_stored_duplicate_is_superseded_only_on_its_own_page() -> None:
    own = decide(check(match(0.95), match(0.92), stands_for=5))
    assert (own.state, own.proposal.action, own.proposal.fact_ids) == ("near", "supersede", (7, 7))
    other = decide(check(match(0.95, own=False), stands_for=5))
    assert (other.state, other.proposal.action) == ("near", "skip")


def test_what_neither_text_contains_is_kept_beside_the_known_fact() -> None:
    verdict = decide(check(match(0.95, text="is on duty every Monday")))
    assert (verdict.state, verdict.proposal.action, verdict.is_sure) == ("near", "create", False)
    assert "each says something that the other does not" in verdict.reason


def test_the_same_of_another_is_named_and_decides_nothing() -> None:
    other = replace(match(0.95, own=False), is_of_another=True)
    verdict = decide(check(other))
    assert (verdict.state, verdict.proposal.action, verdict.is_sure) == ("new", "create", True)
    assert verdict.reason.endswith("the same is said of Alice: 'runs the rota'")

"""State and proposal of a draft, from its check and a threshold."""

from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.drafting.deciding import decide
from kbx_tui.drafting.drafts import (
    BatchMatch,
    DraftCheck,
    DraftMatch,
    EntityGuess,
    State,
    new_draft,
)
from kbx_tui.drafting.texts import LONGEST, merged_text, one_sentence, transfer_markup
from kbx_tui.editing.fact_edits import verbatim_fact_texts
from kbx_tui.errors import OutOfRange
from kbx_tui.knowledge.facts import read_fact_line
from kbx_tui.knowledge.markdown import strip_markup
from kbx_tui.knowledge.records import FactKind
from kbx_tui.similarity.conflict_guard import Conflict
from kbx_tui.similarity.judging import Judgement
from kbx_tui.similarity.pair_score import Relation, SimilarityMatch
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


def repeat(
    score: float, *, conflict: bool = False, is_same: bool = False, kind: FactKind = "fact"
) -> BatchMatch:
    conflicts = (Conflict("number", "3", "5"),) if conflict else ()
    pair = make_pair(score, conflicts, is_same=is_same)
    return BatchMatch("0", "an earlier draft", kind, pair, 0.9)


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
        (check(match(0.89)), "new", "create", False),
        (check(match(1.0, "exact")), "exact", "skip", True),
        (check(match(0.95, "conflict")), "conflict", "supersede", False),
        (check(match(0.95, "conflict"), match(0.93)), "conflict", "supersede", False),
        (check(match(1.0, "exact"), match(0.95, "conflict")), "exact", "skip", True),
        (check(match(1.0, "exact", own=False)), "new", "create", True),
        (check(repeats=(repeat(1.0, is_same=True),)), "repeated", "skip", True),
        (check(repeats=(repeat(1.0, is_same=True, kind="open_item"),)), "repeated", "skip", False),
        (
            check(
                repeats=(
                    repeat(1.0, is_same=True, kind="open_item"),
                    repeat(1.0, is_same=True),
                )
            ),
            "repeated",
            "skip",
            True,
        ),
        (check(repeats=(repeat(0.99),)), "repeated", "skip", False),
        (check(repeats=(repeat(0.99), repeat(1.0, is_same=True))), "repeated", "skip", True),
        (check(match(0.95), repeats=(repeat(0.95),)), "repeated", "skip", False),
        (check(repeats=(repeat(0.95, conflict=True),)), "conflict", "create", False),
        (check(repeats=(repeat(0.5),)), "new", "create", False),
        (check(repeats=(repeat(0.49),)), "new", "create", True),
        (check(text="won't stay late"), "new", "create", False),
    ],
)
def test_check_leads_to_state_and_proposal(
    checked: DraftCheck, state: State, action: Action, is_sure: bool
) -> None:
    verdict = decide(checked)
    assert (verdict.state, verdict.proposal.action, verdict.is_sure) == (state, action, is_sure)


def test_a_guessed_entity_or_a_finished_item_needs_review() -> None:
    hinted = replace(ALICE, is_named=False)
    assert not decide(check(entity=hinted)).is_sure
    chosen = check(entity=hinted)
    chosen = replace(chosen, draft=replace(chosen.draft, is_guessed=False))
    assert decide(chosen).is_sure

    exact = match(1.0, "exact")
    verdict = decide(check(replace(exact, known=replace(exact.known, done=True))))
    assert (verdict.state, verdict.is_sure) == ("exact", False)
    assert "already done" in verdict.reason


@pytest.mark.parametrize(
    ("date", "is_sure"), [("", True), ("2026-03-01", True), ("2026-06-01", False)]
)
def test_the_same_text_of_another_day_may_be_another_event(date: str, is_sure: bool) -> None:
    exact = match(1.0, "exact")
    checked = check(replace(exact, known=replace(exact.known, date="2026-03-01")))
    verdict = decide(replace(checked, draft=replace(checked.draft, date=date)))
    assert (verdict.proposal.action, verdict.is_sure) == ("skip", is_sure)


@pytest.mark.parametrize(
    ("known", "text", "is_sure"),
    [
        ("Reports to Ann", "reports to Ann, weekly", True),
        ("The desk is open", "She says: the desk is open, from 9", False),
        ("wants DWG, not PDF", "They want DWG, not PDF, by layer", False),
        ("want DWG, not PDF", "They want DWG, not PDF, by layer", True),
        ("Reports to Ann", "Reports to Ann's deputy Karl", False),
        ("Covers for Erin", "Erin covers for her, on Fridays", False),
        ("Prefers tea to coffee", "Prefers coffee to tea, at work", False),
        ("Has a dog", "Had a dog, it died", False),
        ("Vegetarian", "Vegetarian, until 2024", False),
        ("Smokes", "Smokes salmon at home", False),
        ("Speaks French", "Speaks French, perhaps Dutch", False),
    ],
)
def test_merge_is_sure_only_if_it_repeats_the_line_and_goes_on(
    known: str, text: str, is_sure: bool
) -> None:
    near = match(0.95, text=known)
    pair = replace(near.known.pair, judged=Judgement("refines", 0.96, "only one says more"))
    near = replace(near, known=replace(near.known, pair=pair))
    assert decide(check(near, text=text)).is_sure is is_sure


@pytest.mark.parametrize(
    ("known", "text", "action"),
    [
        ("Grant: 1.4 million SEK", "Grant: 1,400,000 SEK", "skip"),
        ("Office on the fourth floor", "Sits on the 4th floor, in room 12", "merge"),
        ("Writes about ovens", "Is writing on ovens of Crete", "merge"),
        ("Back in spring", "Returns on 3 March 2026", "merge"),
        ("Office on the fourth floor, room 12", "Sits on the 4th floor", "skip"),
        ("Joined in 2023", "Joined in May 2023", "merge"),
        ("Joined in May 2023", "Joined in 2023", "skip"),
        ("About 50 servers", "48 servers", "merge"),
        ("48 servers", "About 50 servers", "skip"),
        ("Away in mid-March", "Away from 11 to 20 March", "merge"),
        ("Away from 11 to 20 March", "Away in mid-March", "create"),
    ],
)
def test_what_is_judged_the_same_is_merged_only_for_a_value_of_its_own(
    known: str, text: str, action: Action
) -> None:
    near = match(0.95, text=known)
    same = Judgement("same", 0.99, "in other words")
    judged = replace(near.known.pair, left=text, right=known, judged=same)
    verdict = decide(check(replace(near, known=replace(near.known, pair=judged)), text=text))
    assert (verdict.state, verdict.proposal.action, verdict.is_sure) == ("near", action, False)


def test_given_threshold_replaces_those_of_all_types() -> None:
    checked = check(match(0.7), repeats=(repeat(0.6),))
    states = [decide(checked, threshold).state for threshold in (0.5, 0.65, 0.8)]
    assert states == ["repeated", "near", "new"]
    with pytest.raises(OutOfRange):
        decide(checked, 1.5)


@pytest.mark.parametrize(
    ("item", "text", "is_done"),
    [
        ("send the budget report", "The budget report was sent", True),
        ("order the plates", "plates are ordered, in May", True),
        ("renew the licence before 31 Oct", "licence renewed, valid until 2031", True),
        ("carry the boxes down", "boxes carried down by Bo", True),
        ("agree the date with Ahmed", "date agreed", True),
        ("send the budget report", "The budget report was not sent", False),
        ("pay the invoice", "the invoice is still not paid", False),
        ("pay the invoice", "the invoice hasn't been paid", False),
        ("pay the invoice", "the invoice will be paid in May", False),
        ("pay the invoice", "the invoice must be paid", False),
        ("pay the invoice", "the invoice was paid?", False),
        ("order the plates", "plates need a date", False),
        ("check needs of the ward", "the ward has one need", False),
        ("call Ahmed", "Ahmed works at the ward", False),
        ("review the requested change", "the requested change is large", False),
    ],
)
def test_open_item_is_ticked_only_by_what_says_that_it_is_done(
    item: str, text: str, is_done: bool
) -> None:
    near = match(0.95, text=item)
    near = replace(near, known=replace(near.known, match_type="open_item"))
    assert (decide(check(near, text=text)).proposal.action == "tick") is is_done


def test_what_is_judged_to_deny_an_open_item_does_not_tick_it() -> None:
    near = match(0.95, "conflict", text="paint the unpainted pier")
    denied = (Conflict("negation", "painted", "unpainted"),)
    known = replace(near.known, match_type="open_item", pair=make_pair(0.95, denied))
    verdict = decide(check(replace(near, known=known), text="the pier is painted"))
    assert (verdict.state, verdict.proposal.action) == ("conflict", "create")


def test_stored_duplicate_is_superseded_only_on_its_own_page() -> None:
    own = decide(check(match(0.95), match(0.92), stands_for=5))
    assert (own.state, own.proposal.action, own.proposal.fact_ids) == ("near", "supersede", (7, 7))
    other = decide(check(match(0.95, own=False), stands_for=5))
    assert (other.state, other.proposal.action) == ("near", "skip")


def test_a_longer_time_is_not_skipped_as_nothing_new() -> None:
    near = match(0.9, text="On leave on 5 June")
    judged = Judgement("refines", 0.9, "one is more exact")
    pair = replace(near.known.pair, left="On leave in June", right=near.known.text, judged=judged)
    verdict = decide(check(replace(near, known=replace(near.known, pair=pair)), text=pair.left))
    assert (verdict.state, verdict.proposal.action, verdict.is_sure) == ("near", "create", False)
    assert verdict.reason == "speaks of a longer time than 'On leave on 5 June'"


def test_a_new_draft_says_what_it_was_compared_with() -> None:
    assert decide(check()).reason == "no fact, open item or field of Alice is similar"


def test_what_one_text_lacks_or_is_said_of_another_needs_a_look() -> None:
    verdict = decide(check(match(0.95, text="is on duty every Monday")))
    assert (verdict.state, verdict.proposal.action, verdict.is_sure) == ("near", "create", False)
    assert "each says something that the other does not" in verdict.reason

    other = replace(match(0.95, own=False), is_of_another=True)
    verdict = decide(check(other))
    assert (verdict.state, verdict.proposal.action, verdict.is_sure) == ("new", "create", False)
    assert verdict.reason.endswith("the same is said of Alice: 'runs the rota'")


@pytest.mark.parametrize(
    ("text", "known", "merged"),
    [
        ("runs the rota", "runs the weekly rota", "runs the weekly rota"),
        ("runs the weekly rota", "runs the rota", "runs the weekly rota"),
        ("likes tea.", "likes milk.", "likes milk and tea."),
        ("takes tea.", "likes milk.", "likes milk; takes tea."),
        (
            "Likes tea with milk and sugar",
            "likes cake.",
            "likes cake; Likes tea with milk and sugar",
        ),
        (
            "leads the crew (source: x)",
            "Leads the harbour",
            "Leads the harbour and crew (source: x)",
        ),
        (
            "runs the rota with Bob since May (source: [[Kickoff]])",
            "runs the [[Rota|rota]] with [Bob](bob.md)",
            "runs the [[Rota|rota]] with [Bob](bob.md) since May (source: [[Kickoff]])",
        ),
        (
            "likes tea (source: x)",
            "likes *milk* and [[Oats]]",
            "likes *milk* and [[Oats]]; likes tea (source: x)",
        ),
        (
            "prefers async Slack over email (source: on async work)",
            "prefers **async** Slack",
            "prefers **async** Slack over email (source: on async work)",
        ),
    ],
    ids=[
        "subset",
        "superset",
        "begin-alike",
        "different",
        "several-ends",
        "begin-alike-with-notes",
        "links",
        "missing-link",
        "emphasis",
    ],
)
def test_merged_text_contains_both_texts(text: str, known: str, merged: str) -> None:
    assert merged_text(text, known) == merged


def test_texts_that_begin_differently_or_are_too_long_are_not_joined() -> None:
    assert one_sentence("takes tea", "likes milk") == ""
    assert one_sentence("likes tea", "likes tea with [[Bob]]") == "likes tea with [[Bob]]"

    assert transfer_markup("met Bob", "met [[Ann]]") is None
    assert transfer_markup("met [[x|Ann]]", "met [[Ann]]") is None

    assert transfer_markup("a " * LONGEST, "*a*") is None


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("async Slack, always", "async **Slack**", "async **Slack**, always"),
        ("runs kubectl apply by hand", "runs `kubectl apply`", "runs `kubectl apply` by hand"),
        ("a b c d", "a _b_ __c__ *d*", "a _b_ __c__ *d*"),
        ("met Ann and Bob", "met **[[Ann]]**", "met **[[Ann]]** and Bob"),
        ("in a while: a call", "**a** call", "in a while: **a** call"),
        ("is **async** on async days", "is **async**", "is **async** on async days"),
        ("the **whole async** thing", "the **async** thing", "the **whole async** thing"),
        ("asynchronous Slack", "**async** Slack", "asynchronous Slack"),
        ("Async Slack", "**async** Slack", "Async Slack"),
        ("see the plan", "see the **plan** *now*", "see the **plan**"),
        ("5 * 3 is 15", "5 * 3", "5 * 3 is 15"),
    ],
    ids=[
        "bold", "code", "every-emphasis", "link-inside-bold", "same-context", "already-marked",
        "inside-other-markup", "longer-word", "different-case", "some-words-missing", "no-markup",
    ],
)  # fmt: skip
def test_markup_is_transferred_to_the_same_words(text: str, source: str, expected: str) -> None:
    assert transfer_markup(text, source) == expected


@given(
    st.lists(st.sampled_from(["async", "Slack", "**Slack**", "_a_", "`a`", "a", "*a*", "(", "*"])),
    st.lists(st.sampled_from(["**async**", "_Slack_", "`a`", "*a* b", "a", "(", "_"])),
)
def test_markup_never_changes_how_the_text_reads(text: list[str], source: list[str]) -> None:
    marked = transfer_markup(" ".join(text), " ".join(source))
    assert marked is not None
    assert strip_markup(marked) == strip_markup(" ".join(text))


@pytest.mark.parametrize(
    ("line", "verbatim"),
    [
        ("prefers **async** Slack (source: [[Log]])", "prefers **async** Slack"),
        ("prefers **async** (source: chat) Slack", "prefers **async** Slack"),
        ("[2026-01-02] (confidence: .9) `async` first", "(confidence: .9) `async` first"),
    ],
    ids=["note-at-the-end", "note-inside", "no-note"],
)
def test_verbatim_text_keeps_markup_and_drops_notes(line: str, verbatim: str) -> None:
    page = f"# Ada\n\n## Facts\n- {line}\n".encode()
    (text,) = verbatim_fact_texts("memory/people/ada.md", page).values()
    assert text == verbatim
    assert read_fact_line(text).text == read_fact_line(line).text

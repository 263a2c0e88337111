"""From a check to a state and a proposal. Pure: a slider calls this and nothing else.

exact      the entity has this very text                      -> skip
repeated   an earlier draft of the batch says the same        -> skip
conflict   the nearest contradicts in a number, date, name ... -> supersede it
near       the nearest says the same                          -> skip, or merge when more is said
new        nothing reaches the threshold                      -> create
"""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.drafting.checks import BatchMatch, DraftCheck, DraftMatch, State, Verdict
from kbx_tui.editing.inline_markup import with_markup
from kbx_tui.editing.state.drafts import Choice
from kbx_tui.knowledge.facts.fact_line import notes_in, read_fact_line
from kbx_tui.similarity.conflicts.conflict_guard import Conflict
from kbx_tui.similarity.scoring.compared_words import words_of


def decide(check: DraftCheck, threshold: float | None = None) -> Verdict:
    """Return state and proposal under a threshold, 0..1; None: each match has that of its type.

    Only matches of the draft's own entity decide, or all while it has none.
    """
    if check.draft.stands_for is not None:
        return _stored(check, threshold)
    own = [one for one in check.matches if one.is_own]
    near = [one for one in own if one.known.score >= _least(one.known.threshold, threshold)]
    again = [one for one in check.repeats if one.pair.score >= _least(one.threshold, threshold)]
    exact = next((one for one in near if one.known.relation == "exact"), None)
    same = next((one for one in again if not one.pair.conflicts), None)
    if exact:
        place = f"{exact.known.source_path}:{exact.known.line}"
        if exact.known.done:
            return _verdict("exact", Choice("skip"), False, f"is done already, in {place}", exact)
        return _verdict("exact", Choice("skip"), True, f"stands in {place} already", exact)
    if same:
        reason = f"says the same as the draft {same.text!r}"
        return _verdict("repeated", Choice("skip"), True, reason, repeat=same)
    if near:
        return _near(check, near[0])
    if again:
        reason = f"contradicts the draft {again[0].text!r}: {_listed(again[0].pair.conflicts)}"
        return _verdict("conflict", Choice("create"), False, reason, repeat=again[0])
    if check.entity is None:
        return _verdict("new", Choice("create"), False, "nobody knows whose fact it is; choose one")
    if not check.entity.path:
        reason = f"{check.entity.name} has no page yet; one has to be made first"
        return _verdict("new", Choice("create"), False, reason)
    reason = f"nothing like it is known of {check.entity.name}"
    if not check.entity.is_named and check.draft.is_guessed:
        return _verdict("new", Choice("create"), False, f"{reason}, whose it may be")
    return _verdict("new", Choice("create"), True, reason)


def merged_text(text: str, known: str) -> str:
    """Return one text for two that say the same, to be edited: the one that says all, else both.

    Both are as written: links and emphasis stay where the words do, and the notes of `text`.
    """
    ours, theirs = (words_of(read_fact_line(one).text).content for one in (text, known))
    if ours <= theirs:
        return known
    if theirs <= ours:
        notes = notes_in(text)
        at = text.find(notes[0]) if notes else len(text)
        marked = with_markup(text[:at], known)
        if marked is not None:
            return marked + text[at:]
    return f"{known.rstrip(' .;')}; {text}"


def _near(check: DraftCheck, match: DraftMatch) -> Verdict:
    known = match.known
    ids = (known.fact_id,) if known.fact_id is not None else ()
    if known.conflicts:
        reason = f"contradicts {known.text!r}: {_listed(known.conflicts)}"
        return _verdict("conflict", Choice("supersede", ids), False, reason, match)
    there = match.written or known.text
    joined = merged_text(check.written or check.draft.text, there)
    if joined == there:
        reason = f"{known.text!r} says all of it"
        return _verdict("near", Choice("skip"), False, reason, match)
    reason = f"says much the same as {known.text!r}"
    return _verdict("near", Choice("merge", ids, joined), False, reason, match)


def _stored(check: DraftCheck, threshold: float | None) -> Verdict:
    """A fact of the base and the older ones that say the same, or the contrary.

    What stands on the page of another entity may have its reason: that is proposed to be left.
    """
    near = [
        one for one in check.matches if one.known.score >= _least(one.known.threshold, threshold)
    ]
    older = [one for one in near if not one.known.conflicts] or near
    if not older:
        return _verdict("new", Choice("skip"), True, "nothing else says the same")
    state: State = "conflict" if older[0].known.conflicts else "near"
    if state == "near" and all(one.known.relation == "exact" for one in older):
        state = "exact"
    own = [one for one in older if one.is_own]
    if not own:
        reason = f"stands on the page of {older[0].known.entity_name} too"
        return _verdict(state, Choice("skip"), False, reason, older[0])
    ids = tuple(one.known.fact_id for one in own if one.known.fact_id is not None)
    reason = f"is newer than {own[0].known.text!r}"
    return _verdict(state, Choice("supersede", ids), False, reason, own[0])


def _least(own: float, threshold: float | None) -> float:
    return own if threshold is None else threshold


def _listed(conflicts: Sequence[Conflict]) -> str:
    return ", ".join(f"{one.left} ≠ {one.right}" for one in conflicts)


def _verdict(
    state: State,
    proposal: Choice,
    is_sure: bool,
    reason: str,
    match: DraftMatch | None = None,
    repeat: BatchMatch | None = None,
) -> Verdict:
    return Verdict(state, match, repeat, proposal, is_sure, reason)

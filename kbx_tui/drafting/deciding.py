"""The verdict on a draft: its state and a proposal, from a check and a threshold. Pure.

Every way to write a fact uses it: new facts are written, all others only if the user or caller
insists.

exact      the entity already has this text                   -> skip
repeated   an earlier draft of the batch says the same        -> skip
conflict   the best match differs in a number, date, name ... -> supersede it
near       the best match says the same                       -> skip if it says all of it, merge if
                                                                 one sentence says both, else create
new        nothing reaches the threshold                      -> create
"""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.drafting.drafts import BatchMatch, Choice, DraftCheck, DraftMatch, State, Verdict
from kbx_tui.drafting.texts import one_sentence
from kbx_tui.similarity.conflict_guard import Conflict
from kbx_tui.similarity.pair_score import require_threshold


def decide(check: DraftCheck, threshold: float | None = None) -> Verdict:
    """Return state and proposal at a threshold, 0..1; None uses that of each match's type.

    Only matches of the draft's own entity count, or all matches if it has no entity. Raises
    OutOfRange.
    """
    if threshold is not None:
        require_threshold(threshold)
    if check.draft.stands_for is not None:
        return _decide_stored(check, threshold)
    near = known_matches(check, threshold)
    repeats = [
        repeat
        for repeat in check.repeats
        if repeat.pair.score >= (repeat.threshold if threshold is None else threshold)
    ]
    exact = next((match for match in near if match.known.relation == "exact"), None)
    compatible = [repeat for repeat in repeats if not repeat.pair.conflicts]
    same = min(compatible, key=lambda repeat: not _is_equal(check, repeat), default=None)
    if exact:
        place = f"{exact.known.source_path}:{exact.known.line}"
        reason = f"already done, in {place}" if exact.known.done else f"already in {place}"
        is_sure = _has_same_kind(check, exact) and not exact.known.done
        return Verdict("exact", Choice("skip"), is_sure, f"{reason}{_kind(check, exact)}", exact)
    if same:
        reason = f"says the same as the draft {same.text!r}"
        # A score cannot see order or a swapped word, so only an equal text is dropped unseen.
        is_sure = _is_equal(check, same)
        return Verdict("repeated", Choice("skip"), is_sure, reason, repeat=same)
    if near:
        return _decide_near(check, near[0])
    if repeats:
        reason = f"contradicts the draft {repeats[0].text!r}: {_listed(repeats[0].pair.conflicts)}"
        return Verdict("conflict", Choice("create"), False, reason, repeat=repeats[0])
    return _decide_new(check)


def known_matches(check: DraftCheck, threshold: float | None = None) -> list[DraftMatch]:
    """Return the matches that make a draft known, best first; of equal scores, conflicts last."""
    own = [match for match in _reaching(check.matches, threshold) if match.is_own]
    return sorted(own, key=lambda match: (-match.known.score, bool(match.known.conflicts)))


def _decide_new(check: DraftCheck) -> Verdict:
    is_sure, entity = False, check.entity
    if entity is None:
        reason = "its entity is unknown; choose one"
    elif not entity.path:
        reason = f"{entity.name} has no page yet; create one first"
    elif not entity.is_named and check.draft.is_guessed:
        reason = f"nothing similar enough is known about {entity.name}, its likely entity"
    else:
        is_sure, reason = True, f"nothing similar enough is known about {entity.name}"
    if (other := check.of_another) is not None:
        reason += f"; the same is said of {other.known.entity_name}: {other.known.text!r}"
    return Verdict("new", Choice("create"), is_sure, reason)


def _decide_near(check: DraftCheck, match: DraftMatch) -> Verdict:
    known = match.known
    ids = (known.fact_id,) if known.fact_id is not None else ()
    if known.conflicts:
        reason = f"contradicts {known.text!r}{_kind(check, match)}: {_listed(known.conflicts)}"
        is_replaced = _has_same_kind(check, match)
        proposal = Choice("supersede", ids) if is_replaced else Choice("create")
        return Verdict("conflict", proposal, False, reason, match)
    if not _has_same_kind(check, match):
        reason = f"is similar to {known.text!r}{_kind(check, match)}"
        return Verdict("near", Choice("skip"), False, reason, match)
    existing = match.written or known.text
    merged = one_sentence(check.written or check.draft.text, existing)
    if merged == existing:
        reason = f"adds nothing to {known.text!r}"
        return Verdict("near", Choice("skip"), False, reason, match)
    if not merged:
        reason = f"is similar to {known.text!r}, and each says something that the other does not"
        return Verdict("near", Choice("create"), False, reason, match)
    reason = f"is similar to {known.text!r}"
    return Verdict("near", Choice("merge", ids, merged), False, reason, match)


def _decide_stored(check: DraftCheck, threshold: float | None) -> Verdict:
    near = _reaching(check.matches, threshold)
    older = [match for match in near if not match.known.conflicts] or near
    if not older:
        return Verdict("new", Choice("skip"), True, "no other fact says the same")
    state: State = "conflict" if older[0].known.conflicts else "near"
    if state == "near" and all(match.known.relation == "exact" for match in older):
        state = "exact"
    own = [match for match in older if match.is_own]
    best = (own or older)[0].known
    if state == "conflict":
        place = "" if own else f" on the page of {best.entity_name}"
        reason = f"contradicts {best.text!r}{place}: {_listed(best.conflicts)}"
    elif not own:
        reason = f"is also on the page of {best.entity_name}"
    elif check.draft.date > best.date:
        reason = f"is newer than {best.text!r}"
    else:
        reason = f"says the same as {best.text!r}"
    if not own:  # a repetition on another page may be intended
        return Verdict(state, Choice("skip"), False, reason, older[0])
    ids = tuple(match.known.fact_id for match in own if match.known.fact_id is not None)
    return Verdict(state, Choice("supersede", ids), False, reason, own[0])


def _is_equal(check: DraftCheck, repeat: BatchMatch) -> bool:
    return repeat.pair.is_same and repeat.kind == check.draft.kind


def _has_same_kind(check: DraftCheck, match: DraftMatch) -> bool:
    return match.known.match_type == check.draft.kind


def _kind(check: DraftCheck, match: DraftMatch) -> str:
    if _has_same_kind(check, match):
        return ""
    kinds = {"fact": "a fact", "open_item": "an open item", "field": match.known.field}
    return f" ({kinds.get(match.known.match_type, 'a passage')})"


def _reaching(matches: Sequence[DraftMatch], threshold: float | None) -> list[DraftMatch]:
    return [
        match
        for match in matches
        if match.known.score >= (match.known.threshold if threshold is None else threshold)
    ]


def _listed(conflicts: Sequence[Conflict]) -> str:
    return ", ".join(f"{conflict.left} ≠ {conflict.right}" for conflict in conflicts)

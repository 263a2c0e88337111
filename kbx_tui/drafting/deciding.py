"""The verdict on a draft: its state and a proposal, from a check and a threshold. Pure.

Every way to write a fact uses it. A match counts if it is judged to say the same, to say more or
less, or to contradict the draft, or if its score reaches the threshold and the judgement is not
certain that it says something else.

| the decisive match | of the same section | of another section |
|---|---|---|
| exact, or an earlier draft says the same | skip | skip |
| duplicate | skip; merge if the draft has more words or values | skip; tick if it is done |
| refines | merge; skip if the draft says less | create; skip if it says less; tick |
| conflict | supersede; skip if the draft is older | create; tick |
| none of these, but as similar as a duplicate | create | skip |
| no match | create | create |

A draft that gives a longer time than the match is created: what lasts may fill it.

Only a proposal that can lose nothing is sure: to skip an equal text of the same day, to merge one
that repeats the known line and goes on after a comma or the like, and to create one of an entity of
which nothing is known, or that adds to what may be many and is far from all that is known. A draft
that is hedged, denies, limits or changes something is not, nor one whose entity is guessed by a
fact. Everything else is written only if the user insists.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile

from kbx_tui.drafting.drafts import BatchMatch, Choice, DraftCheck, DraftMatch, State, Verdict
from kbx_tui.drafting.texts import merged_text, one_sentence, transfer_markup
from kbx_tui.knowledge.folding import stem, tokens
from kbx_tui.similarity.compared_words import analyse_words, word_set
from kbx_tui.similarity.conflict_guard import NEGATION, adds_values, covers_more
from kbx_tui.similarity.judging import ADDS, CERTAIN, CHANGE, LIMITED, is_more_exact
from kbx_tui.similarity.pair_score import FLOOR, is_near, require_threshold


def decide(check: DraftCheck, threshold: float | None = None) -> Verdict:
    """Return state and proposal at a threshold, 0..1; None uses that of each match's type.

    Only matches of the draft's own entity count, or all matches if it has no entity. What an agent
    proposes is never sure. Raises OutOfRange.
    """
    verdict = _decide(check, threshold)
    if (asked := check.draft.asked) is None:
        return verdict
    verdict = replace(verdict, is_sure=False)
    asks = _ASKS.get(asked.choice.action, "")
    if asked.choice.action in ("merge", "supersede"):
        if verdict.state in ("exact", "repeated"):
            return verdict
        asks = f"{asks}: {verdict.reason}"
    if not asks:
        return verdict
    return replace(verdict, proposal=asked.choice, reason=f"{asked.by} asks to {asks}")


_ASKS = {
    "merge": "reword a fact",
    "supersede": "replace a fact",
    "strike": "strike out this fact",
    "delete": "delete this fact",
}


def _decide(check: DraftCheck, threshold: float | None) -> Verdict:
    if threshold is not None:
        require_threshold(threshold)
    if check.draft.stands_for is not None:
        return _decide_stored(check, threshold)
    near = known_matches(check, threshold)
    repeats = [
        repeat
        for repeat in check.repeats
        if repeat.pair.is_known(repeat.threshold if threshold is None else threshold)
    ]
    exact = next((match for match in near if match.known.relation == "exact"), None)
    compatible = [repeat for repeat in repeats if _repeats(repeat)]
    same = min(compatible, key=lambda repeat: not _is_equal(check, repeat), default=None)
    if exact:
        place = f"{exact.known.source_path}:{exact.known.line}"
        reason = f"already done, in {place}" if exact.known.done else f"already in {place}"
        is_sure = _is_placed(check) and _has_same_kind(check, exact) and not exact.known.done
        if check.draft.date and exact.known.date not in ("", check.draft.date):
            is_sure, reason = False, f"{reason}, of {exact.known.date}"  # what happened twice?
        return Verdict("exact", Choice("skip"), is_sure, f"{reason}{_kind(check, exact)}", exact)
    if same:
        reason = f"says the same as the draft {same.text!r}"
        # Only an equal text is dropped unseen.
        is_sure = _is_equal(check, same)
        return Verdict("repeated", Choice("skip"), is_sure, reason, repeat=same)
    if near:
        return _decide_near(check, near[0])
    if repeats:
        return _decide_beside_draft(repeats[0])
    return _decide_new(check)


def known_matches(check: DraftCheck, threshold: float | None = None) -> list[DraftMatch]:
    """Return the matches that make a draft known, the decisive one first.

    That is an exact one, then the one whose judgement is most certain, then the most similar.
    """
    own = [match for match in _counting(check.matches, threshold) if match.is_own]
    return sorted(own, key=_decisiveness)


def _decisiveness(match: DraftMatch) -> tuple[bool, bool, float, float]:
    known = match.known
    is_undecided = known.judgement.relation == "different"
    return known.score < 1.0, is_undecided, -known.judgement.certainty, -known.score


def _decide_new(check: DraftCheck) -> Verdict:
    is_sure, entity = False, check.entity
    if entity is None:
        reason = "its entity is unknown; choose one"
    elif not entity.path:
        reason = f"{entity.name} has no page yet; create one first"
    elif not _is_placed(check):
        reason = f"no fact, open item or field of {entity.name}, its likely entity, is similar"
    elif nearest := _nearest(check):
        reason = f"perhaps not new: compare it with {nearest!r}"
    else:
        is_sure = check.of_another is None and _is_surely_new(check)
        reason = f"no fact, open item or field of {entity.name} is similar"
    if (other := check.of_another) is not None:
        reason += f"; the same is said of {other.known.entity_name}: {other.known.text!r}"
    return Verdict("new", Choice("create"), is_sure, reason)


def _is_placed(check: DraftCheck) -> bool:
    """Return whether the entity was chosen or is named, not guessed by what is known of it."""
    entity = check.entity
    return entity is not None and (entity.is_named or not check.draft.is_guessed)


APART = 0.25
"""Cosine from which two texts may say one thing in other words; docs/similarity.md has figures."""


def _is_surely_new(check: DraftCheck) -> bool:
    """Return whether a draft that resembles nothing repeats and contradicts nothing either.

    Neither the score nor the model can tell: both take what is said in other words for something
    else. So it takes an entity of which nothing is known, or a text that adds to what may be many
    and is far from all else.
    """
    if any(pattern.search(check.text) for pattern in (_HEDGED, CHANGE, LIMITED)):
        return False
    is_addition = check.draft.kind == "open_item" or ADDS.match(check.text)
    return check.closest is None or (bool(is_addition) and check.closest < APART)


_HEDGED = re.compile(
    r"(?i)\?|\b(?:maybe|perhaps|possibly|probably|apparently|allegedly|supposedly|might|i think"
    r"|i guess|i believe|not sure|unsure|unclear|unconfirmed|rumou?r(?:s|ed)?|tbc|tbd)\b"
)
"""Words of a text that does not stand by what it says."""


def _nearest(check: DraftCheck) -> str:
    """Return the most similar text of the entity or an earlier draft; empty if none is similar.

    Texts that share few words are sometimes judged different with certainty, and say the same; so
    what is similar by its score is looked at, whatever the judgement.
    Other texts are in a check only where the model sees a relation or is in doubt.
    """
    known = [(match.known.score, match.known.text) for match in check.matches if match.is_own]
    known += [(each.pair.score, each.text) for each in check.repeats if each.pair.score >= FLOOR]
    return max(known, default=(0.0, ""))[1]


def _decide_near(check: DraftCheck, match: DraftMatch) -> Verdict:
    known, relation = match.known, match.known.relation
    ids = (known.fact_id,) if known.fact_id is not None else ()
    said = f"{known.text!r}{_kind(check, match)}"
    state: State = "conflict" if relation == "conflict" else "near"
    if relation == "conflict":
        reason = f"contradicts {said}: {known.judgement.reason}"
    elif relation == "duplicate":
        reason = f"says the same as {said}"
    else:
        reason = f"is similar to {said}"
    if not _has_same_kind(check, match):
        if _is_done_by(check, match):
            return Verdict(state, Choice("tick", ids), False, f"{said} is done", match)
        says_more = _count_words(check.text) > _count_words(f"{known.field} {known.text}")
        adds = says_more and (relation == "refines" or known.field)
        proposal = Choice("create" if relation == "conflict" or adds else "skip")
        return Verdict(state, proposal, False, reason, match)
    if relation == "conflict":
        if check.draft.date and check.draft.date < known.date:
            return Verdict(state, Choice("skip"), False, f"{reason}; it is older", match)
        proposal = Choice("supersede", ids) if ids else Choice("create")
        return Verdict(state, proposal, False, reason, match)
    return _decide_alike(check, match, ids, reason)


def _decide_alike(
    check: DraftCheck, match: DraftMatch, ids: tuple[int, ...], reason: str
) -> Verdict:
    known, text = match.known, check.written or check.draft.text
    existing = match.written or known.text
    by_model = known.pair.judged is not None
    is_same = by_model and known.relation == "duplicate"
    said, stored = known.pair.left, known.pair.right  # both with the subject if one names it
    if covers_more(said, stored):
        reason = f"speaks of a longer time than {known.text!r}"
        return Verdict("near", Choice("create"), False, reason, match)
    if is_more_exact(stored, said):
        reason = f"says nothing more exactly than {known.text!r}"
        return Verdict("near", Choice("skip"), False, reason, match)
    if is_more_exact(said, stored):
        merged = transfer_markup(text, existing) or merged_text(text, existing)
        reason = f"says more exactly what {known.text!r} says"
        return Verdict("near", Choice("merge", ids, merged), False, reason, match)
    says_more = by_model and (known.relation == "refines" or adds_values(said, stored))
    is_same &= not says_more
    if is_same and _count_words(said) <= _count_words(stored):
        return Verdict("near", Choice("skip"), False, reason, match)
    merged = one_sentence(text, existing)
    if is_same and _count_words(merged) > max(map(_count_words, (text, existing))):
        merged = ""  # joined, the two would say one thing twice
    if merged == existing:
        reason = f"adds nothing to {known.text!r}"
        return Verdict("near", Choice("skip"), False, reason, match)
    if merged:
        is_sure = _goes_on_from(check, match) and known.judgement.certainty >= CERTAIN
        return Verdict("near", Choice("merge", ids, merged), is_sure, reason, match)
    if says_more:
        if _count_words(said) >= _count_words(stored):  # on a tie nothing may be lost
            proposal = Choice("merge", ids, merged_text(text, existing))
            return Verdict("near", proposal, False, f"says more than {known.text!r}", match)
        reason = f"says less than {known.text!r}"
        return Verdict("near", Choice("skip"), False, reason, match)
    if is_same:
        return Verdict("near", Choice("skip"), False, reason, match)
    reason = f"is similar to {known.text!r}, and each says something that the other does not"
    return Verdict("near", Choice("create"), False, reason, match)


_BREAK = re.compile(r"[,;:(–—]|[.!] ")


def _goes_on_from(check: DraftCheck, match: DraftMatch) -> bool:
    """Return whether the draft repeats a fact that it is judged to refine, and adds to it.

    The same words are not enough: `Reports to Ann's deputy`, `Erin covers for her`.
    """
    text, known = check.text, match.known.text
    breaks = [found.start() for found in _BREAK.finditer(text)]
    before = len(_BREAK.findall(known))
    if not _is_placed(check) or match.known.relation != "refines" or len(breaks) <= before:
        return False
    repeated, added = text[: breaks[before]], text[breaks[before] :]
    is_doubtful = _HEDGED.search(text) or CHANGE.search(text) or LIMITED.search(added)
    return _statement(repeated) == _statement(known) and not is_doubtful


_SUBJECT = word_set("i he she it they we is are the a an")


def _statement(text: str) -> tuple[str, ...]:
    return tuple(dropwhile(_SUBJECT.__contains__, tokens(text)))


def _count_words(text: str) -> int:
    return len(analyse_words(text).content)


def _decide_beside_draft(repeat: BatchMatch) -> Verdict:
    if repeat.pair.relation == "conflict":
        reason = f"contradicts the draft {repeat.text!r}: {repeat.pair.judgement.reason}"
        return Verdict("conflict", Choice("create"), False, reason, repeat=repeat)
    reason = f"is similar to the draft {repeat.text!r}"
    return Verdict("near", Choice("create"), False, reason, repeat=repeat)


def _decide_stored(check: DraftCheck, threshold: float | None) -> Verdict:
    near = _counting(check.matches, threshold)
    older = [match for match in near if match.known.relation != "conflict"] or near
    if not older:
        return Verdict("new", Choice("skip"), True, "no other fact says the same")
    state: State = "conflict" if older[0].known.relation == "conflict" else "near"
    if state == "near" and all(match.known.relation == "exact" for match in older):
        state = "exact"
    own = [match for match in older if match.is_own]
    best = (own or older)[0].known
    if state == "conflict":
        place = "" if own else f" on the page of {best.entity_name}"
        reason = f"contradicts {best.text!r}{place}: {best.judgement.reason}"
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


def _repeats(repeat: BatchMatch) -> bool:
    pair = repeat.pair
    if pair.judged is not None and not pair.is_same:
        return pair.judged.relation == "same"
    return pair.relation != "conflict"


def _is_equal(check: DraftCheck, repeat: BatchMatch) -> bool:
    is_of_same_day = repeat.date == check.draft.date
    return repeat.pair.is_same and repeat.kind == check.draft.kind and is_of_same_day


def _has_same_kind(check: DraftCheck, match: DraftMatch) -> bool:
    return match.known.match_type == check.draft.kind


_DONE = word_set(
    """done sent written wrote made met paid bought held told given gave taken took found built
    chosen chose drawn drew spoke spoken put read ran got completed finished resolved delivered
    settled sorted"""
)
"""Past forms with which a fact says that an open item is done, whatever its verb; other past forms
say so only of the item's own verb."""
_NOT_DONE = re.compile(
    NEGATION.pattern + r"|\b(?:will|would|shall|should|must|may be|can|could|to be|being|needs?|if"
    r"|when|unless|yet|still|nearly|almost|half|part(?:ly|ially)|pending"
    r"|fail(?:s|ed)?|forgot(?:ten)?|refused|declined)\b|['’]ll\b"
)
"""Words of a text by which a past form does not say that something is done."""


def _is_done_by(check: DraftCheck, match: DraftMatch) -> bool:
    """Return whether a fact says that an open item is done."""
    known, text = match.known, check.text
    is_open = known.match_type == "open_item" and not known.done
    if not is_open or check.draft.kind != "fact":
        return False
    is_denied = any(conflict.kind == "negation" for conflict in known.conflicts)
    if is_denied or _NOT_DONE.search(text) or _HEDGED.search(text):
        return False
    words, item = set(tokens(text)), set(tokens(known.text))
    to_do = {stem(word) for word in item}
    return not words.isdisjoint(_DONE - item) or any(
        word.endswith("ed") and stem(word) != word and stem(word) in to_do for word in words - item
    )


def _kind(check: DraftCheck, match: DraftMatch) -> str:
    if _has_same_kind(check, match):
        return ""
    kinds = {"fact": "a fact", "open_item": "an open item", "field": match.known.field}
    return f" ({kinds.get(match.known.match_type, 'a passage')})"


def _counting(matches: Sequence[DraftMatch], threshold: float | None) -> list[DraftMatch]:
    return [
        match
        for match in matches
        if (is_near(match.known.pair) or match.known.field or _is_judged(match))
        and match.known.pair.is_known(match.known.threshold if threshold is None else threshold)
    ]


def _is_judged(match: DraftMatch) -> bool:
    """Return whether the pair model is certain that the texts are related, with or without words or
    vectors in common."""
    judged = match.known.pair.judged
    return judged is not None and judged.relation != "different" and judged.certainty >= CERTAIN

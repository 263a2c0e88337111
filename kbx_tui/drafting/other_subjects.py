"""The same statement about another entity: `Alice leads the mobile team`, but Inês leads it. Pure.

Whether a statement can be true of one entity only, no rule can tell from its words. A hint is worth
its place where it can be: the base says all of it of exactly one other entity of the same type.
What it says of several, as that they work remotely, is true of many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kbx_tui.drafting.checks import DraftMatch
from kbx_tui.knowledge.facts.strip_subject import strip_subject
from kbx_tui.knowledge.records import Entity
from kbx_tui.similarity.conflicts.conflict_guard import contradict
from kbx_tui.similarity.nearby import NearFact
from kbx_tui.similarity.scoring.compared_words import analyse_words
from kbx_tui.similarity.subject_index import SubjectIndex

LEAST_WORDS = 2
"""Content words below which a statement says too little to be the same: `retired`."""


def said_of_another(
    statement: str,
    owner: Entity,
    near: Sequence[NearFact],
    entities: Mapping[str, Entity],
    subjects: SubjectIndex,
) -> DraftMatch | None:
    """Return the best fact of `near` that says a statement of another entity, if only of one.

    `statement` is the draft without the name of its owner; `near` are facts near to it, best first.
    """
    words = analyse_words(statement).content
    if len(words) < LEAST_WORDS:
        return None
    found: dict[str, DraftMatch] = {}
    for fact in near:
        known = fact.match
        subject = subjects.subject_of(known.text) or entities.get(fact.entity_id)
        if subject is None or subject.type != owner.type or known.match_type != "fact":
            continue
        said = strip_subject(known.text, subject)
        if words <= analyse_words(said).content and not contradict(statement, said):
            named = replace(known, entity_name=subject.name)
            found.setdefault(subject.id, DraftMatch(named, is_own=False, is_of_another=True))
    if owner.id in found or len(found) != 1:
        return None
    return next(iter(found.values()))

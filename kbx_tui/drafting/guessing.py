"""Guesses at the entity of a draft: by names in its text, else by the nearest fact. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kbx_tui.drafting.checks import EntityGuess
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import EntityCandidate
from kbx_tui.search.retrieval.entity_pass import EntityPass
from kbx_tui.similarity.nearby import NearFact
from kbx_tui.similarity.subject_index import SubjectIndex

MAX_GUESSES = 5
"""Maximum number of candidates shown."""


def guess_by_name(
    text: str, entity_pass: EntityPass, entities: Sequence[Entity], subjects: SubjectIndex
) -> tuple[EntityGuess, ...]:
    """Return the entities whose names or roles the text mentions, best first.

    An entity whose whole name the text begins with comes first, even if that is also an ordinary
    word (`Platform owns deploys`). Then named entities in the order of their mentions: `Alice leads
    the migration` is about Alice.
    """
    matches = entity_pass.names.find(text)
    first_mention: dict[str, int] = {}
    for match in matches:
        entity_id = entities[match.entity].id
        first_mention[entity_id] = min(match.start, first_mention.get(entity_id, match.start))
    candidates = sorted(
        entity_pass.find(text, matches, [], None),
        key=lambda candidate: (
            not candidate.named,
            first_mention[candidate.id] if candidate.named else 0,
            -candidate.score,
        ),
    )
    guesses = [_guess(candidate) for candidate in candidates[:MAX_GUESSES]]
    subject = subjects.subject_of(text)
    if subject is None:
        return tuple(guesses)
    first = entity_guess(subject, f"begins with {subject.name!r}")
    return (first, *(guess for guess in guesses if guess.id != subject.id))


def guess_by_fact(
    near: Sequence[NearFact], entities: Mapping[str, Entity]
) -> tuple[EntityGuess, ...]:
    """Return the entities that have a fact similar to a text, best first."""
    guesses: dict[str, EntityGuess] = {}
    for fact in near:
        entity = entities.get(fact.entity_id)
        if entity and fact.match.score >= fact.match.threshold:
            reason = f"its fact {fact.match.text!r} is the nearest"
            guess = replace(entity_guess(entity, reason, fact.match.score), is_named=False)
            guesses.setdefault(entity.id, guess)
    return tuple(guesses.values())[:MAX_GUESSES]


def entity_guess(entity: Entity | EntityCandidate, reason: str, score: float = 1.0) -> EntityGuess:
    """Return an entity as a guess, by default a certain one."""
    return EntityGuess(entity.id, entity.name, entity.type, entity.path, score, reason)


def confident_guess(guesses: Sequence[EntityGuess]) -> EntityGuess | None:
    """Return the best guess, None unless the text names it and nothing else has that name."""
    best = guesses[0] if guesses else None
    return best if best and best.is_named and not best.is_ambiguous else None


def _guess(candidate: EntityCandidate) -> EntityGuess:
    signal = candidate.signals[0]  # the strongest
    reason = f"{signal.kind.replace('_', ' ')} {signal.detail!r}"
    guess = entity_guess(candidate, reason, candidate.score)
    return replace(guess, is_named=candidate.named, is_ambiguous=signal.ambiguous)

"""Whom a draft is about: whom its text names, else whose fact it is nearest to. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.drafting.checks import EntityGuess
from kbx_tui.knowledge.folding import name_key, tokens
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import EntityCandidate
from kbx_tui.search.retrieval.entity_pass import EntityPass
from kbx_tui.similarity.nearby import NearFact

MOST = 5
"""Candidates shown."""
LONGEST_NAME = 8
"""Words of the longest name a text is looked at for."""


class Subjects:
    """Entities by the names a text may begin with."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._known = {entity.id: entity for entity in entities}
        self._by_name: dict[str, set[str]] = {}
        for entity in entities:
            for name in (entity.name, *entity.aliases):
                self._by_name.setdefault(name_key(name), set()).add(entity.id)

    def of(self, text: str) -> Entity | None:
        """Return the only entity whose name or alias a text begins with, the longest such name."""
        words = tokens(text)
        for count in range(min(len(words), LONGEST_NAME), 0, -1):
            found = self._by_name.get(" ".join(words[:count]))
            if found:
                return self._known[next(iter(found))] if len(found) == 1 else None
        return None


def guess_by_name(
    text: str, entity_pass: EntityPass, entities: Sequence[Entity], subjects: Subjects
) -> tuple[EntityGuess, ...]:
    """Return whom a text may be about, best first: pass 1 by names and roles.

    First the one whose whole name the text begins with, be it a word as well (`Platform owns
    deploys`); else of several that are named outright the one named first: `Alice leads the
    migration` is about Alice.
    """
    matches = entity_pass.names(text)
    starts: dict[str, int] = {}
    for match in matches:
        known = entities[match.entity].id
        starts[known] = min(match.start, starts.get(known, match.start))
    found = entity_pass.find(text, matches, [], None)
    ordered = sorted(
        found, key=lambda one: (not one.named, starts[one.id] if one.named else 0, -one.score)
    )
    guesses = [_guess(one) for one in ordered[:MOST]]
    subject = subjects.of(text)
    if subject is None:
        return tuple(guesses)
    first = EntityGuess(
        subject.id, subject.name, subject.type, subject.path, 1.0, f"begins with {subject.name!r}"
    )
    return (first, *(one for one in guesses if one.id != subject.id))


def guess_by_fact(near: Sequence[NearFact], entities: dict[str, Entity]) -> tuple[EntityGuess, ...]:
    """Return whose facts say the same as a text, best first: those above their threshold."""
    guesses: dict[str, EntityGuess] = {}
    for one in near:
        entity = entities.get(one.entity_id)
        if entity and one.match.score >= one.match.threshold:
            reason = f"its fact {one.match.text!r} is the nearest"
            guess = EntityGuess(
                entity.id, entity.name, entity.type, entity.path, one.match.score, reason,
                is_named=False,
            )  # fmt: skip
            guesses.setdefault(entity.id, guess)
    return tuple(guesses.values())[:MOST]


def sure_guess(guesses: Sequence[EntityGuess]) -> EntityGuess | None:
    """Return the guess to go on with; None where the text says no name, or one of several."""
    first = guesses[0] if guesses else None
    return first if first and first.is_named and not first.is_ambiguous else None


def _guess(one: EntityCandidate) -> EntityGuess:
    strongest = one.signals[0]
    return EntityGuess(
        id=one.id,
        name=one.name,
        type=one.type,
        path=one.path,
        score=one.score,
        reason=f"{strongest.kind.replace('_', ' ')} {strongest.detail!r}",
        is_named=one.named,
        is_ambiguous=strongest.ambiguous,
    )

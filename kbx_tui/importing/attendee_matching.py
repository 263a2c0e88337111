"""Who the attendees of an imported meeting are among the people of a base. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from kbx_tui.knowledge.entities.entity_resolver import EntityResolver
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.records import Attendee, Entity

SIMILAR = 88.0
"""Similarity of two names, 0..100, from which one may be a misspelling of the other. Two letters
exchanged in a name of twelve give 91, two people of one family name at most 80."""


@dataclass(frozen=True, slots=True)
class AttendeeQuestion:
    """An attendee who may be one of some people."""

    attendee: Attendee
    candidates: tuple[Entity, ...]
    """The most likely first."""
    title: str
    """Title of the first document that names them."""


Answer = Callable[[AttendeeQuestion], Entity | None]
"""Returns who an attendee is; None keeps the name as it is written."""


def keep_as_written(_question: AttendeeQuestion) -> None:
    """Answer no question: the safe choice."""


class AttendeeMatcher:
    """Matches attendees to people; asks about each uncertain one once."""

    def __init__(self, people: Sequence[Entity], answer: Answer = keep_as_written) -> None:
        self._people, self._answer = people, answer
        self._resolver = EntityResolver(people)
        self._answers: dict[tuple[str, str], Entity | None] = {}
        self.questions: list[AttendeeQuestion] = []
        """Every question that came up."""
        self.unknown: list[Attendee] = []
        """Attendees who are nobody here and resemble nobody, each once."""

    def match(self, attendee: Attendee, title: str) -> Attendee:
        """Return the attendee by the name of their page, or as they are written."""
        person = self._known(attendee)
        if person is None:
            key = (name_key(attendee.name), attendee.email.lower())
            if key not in self._answers:
                self._answers[key] = self._ask(attendee, title)
            person = self._answers[key]
        if person is None:
            return attendee
        return Attendee(person.name, attendee.email or next(iter(person.emails), ""))

    def _known(self, attendee: Attendee) -> Entity | None:
        """Return the one person that an attendee certainly is."""
        indices = self._resolver.by_attendee(attendee)
        if not indices and (name := _name_in_address(attendee)):
            indices = self._resolver.by_attendee(Attendee(name))
        return self._people[indices[0]] if len(indices) == 1 else None

    def _ask(self, attendee: Attendee, title: str) -> Entity | None:
        candidates = self._candidates(attendee)
        if not candidates:
            self.unknown.append(attendee)
            return None
        question = AttendeeQuestion(attendee, candidates, title)
        self.questions.append(question)
        return self._answer(question)

    def _candidates(self, attendee: Attendee) -> tuple[Entity, ...]:
        """Return those of the same name, the same first or last name, or a similar name."""
        if indices := self._resolver.by_attendee(attendee):
            return tuple(self._people[index] for index in indices)
        key = name_key(_name_in_address(attendee) or attendee.name)
        if not key:
            return ()
        scored = [(score, person) for person in self._people if (score := _likeness(key, person))]
        scored.sort(key=lambda pair: (-pair[0], pair[1].id))
        return tuple(person for _, person in scored[:9])


def _likeness(key: str, person: Entity) -> float:
    """Return how much a name resembles that of a person, 0..100; 0 if not enough."""
    names = [name_key(name) for name in (person.name, *person.aliases)]
    words = names[0].split()
    if key in (words[:1] + words[-1:]):
        return 99.0
    best = max((fuzz.ratio(key, name) for name in names), default=0.0)
    return best if best >= SIMILAR and len(key) > 4 else 0.0


def _name_in_address(attendee: Attendee) -> str:
    """Return the name in `alice.chen@…` of an attendee who has no other name, else nothing."""
    if "@" not in attendee.name:
        return ""
    local = attendee.name.split("@")[0].split("+")[0]
    name = " ".join(part for part in local.replace("_", ".").replace("-", ".").split(".") if part)
    return name if " " in name else ""

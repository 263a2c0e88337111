"""A text to compare with stored facts, with and without the name of the entity it is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kbx_tui.embedding.embedder import Vector
from kbx_tui.knowledge.facts.strip_subject import strip_subject
from kbx_tui.knowledge.records import Entity
from kbx_tui.similarity.fact_vectors import FactVectors, Flags
from kbx_tui.similarity.text_vectors import TextVectors


@dataclass(frozen=True, slots=True)
class CandidateText:
    """A text with its unit vector, as given and as compared with facts of its own entity.

    Those are stored without the entity's name too. Facts of others are compared with the whole
    text: what Alice prefers says nothing about Bob.
    """

    text: str
    vector: Vector
    owner: str = ""
    """Id of the entity it is about; empty when that is not known."""
    own_text: str = ""
    """The text without the entity's name at its beginning; empty when it does not begin with it."""
    own_vector: Vector | None = None
    """The unit vector of `own_text`."""

    def compared_with(self, entity_id: str) -> tuple[str, Vector]:
        """Return text and vector as compared with what is known about an entity."""
        if self.own_vector is not None and entity_id == self.owner:
            return self.own_text, self.own_vector
        return self.text, self.vector

    def variants(
        self, facts: FactVectors, within: Flags | None
    ) -> Iterator[tuple[str, Vector, Flags | None]]:
        """Yield text and vector with a mask of the facts they are compared with; None for all."""
        if self.own_vector is None:
            yield self.text, self.vector, within
            return
        own = facts.owned_by(self.owner)
        for text, vector, mask in (
            (self.own_text, self.own_vector, own),
            (self.text, self.vector, ~own),
        ):
            mask = mask if within is None else mask & within
            if mask.any():
                yield text, vector, mask


def candidate_texts(
    texts: Sequence[str], subjects: Sequence[Entity | None], vectors: TextVectors
) -> Iterator[CandidateText]:
    """Yield each text, with and without the name of the entity it is about."""
    stripped = [strip_subject(text, subject) for text, subject in zip(texts, subjects, strict=True)]
    rows = vectors.of([*texts, *stripped])
    for row, (text, own, subject) in enumerate(zip(texts, stripped, subjects, strict=True)):
        owner = subject.id if subject else ""
        if own == text:
            yield CandidateText(text, rows[row], owner)
        else:
            yield CandidateText(text, rows[row], owner, own, rows[len(texts) + row])

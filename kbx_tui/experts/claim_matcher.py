"""Claims and names made ready to be matched with a topic, once per generation. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from kbx_tui.experts.claims import Claim
from kbx_tui.experts.topic import Topic, stems_of
from kbx_tui.knowledge.folding import fold, name_key
from kbx_tui.knowledge.records import Entity


class Matcher:
    """Knows where each word stands and whom each claim is about: a topic costs what it matches."""

    def __init__(self, claims: Sequence[Claim], entities: Iterable[Entity]) -> None:
        self.claims = claims
        self._with_stem: dict[str, list[int]] = {}
        self._about: dict[str, list[int]] = {}
        for at, claim in enumerate(claims):
            for stem in stems_of(claim.text):
                self._with_stem.setdefault(stem, []).append(at)
            for entity_id in claim.entity_ids:
                self._about.setdefault(entity_id, []).append(at)
        self._names = [
            (f" {key} ", entity.id)
            for entity in entities
            for key in map(name_key, (entity.name, *entity.aliases))
            if key
        ]

    def matches(self, topic: Topic) -> dict[int, float]:
        """Return the positions of the claims on a topic, ascending, with the share of its words.

        The share is above 0, at most 1; 1 for what is about an entity that the topic names.
        """
        found: Counter[int] = Counter()
        for stem in topic.stems:
            found.update(self._with_stem.get(stem, ()))
        for run in topic.signs:
            found.update(at for at, claim in enumerate(self.claims) if run in fold(claim.text))
        shares = {at: count / topic.size for at, count in found.items()}
        for entity_id in self.named(topic):
            shares |= dict.fromkeys(self._about.get(entity_id, ()), 1.0)
        return dict(sorted(shares.items()))

    def named(self, topic: Topic) -> frozenset[str]:
        """Return the ids of entities one of whose names stands in the topic, or holds it all."""
        whole = f" {name_key(topic.text)} "
        return frozenset(
            entity_id for key, entity_id in self._names if key in whole or whole in key
        )

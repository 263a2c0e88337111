"""Finds first names and surnames that a query misspells: `castelane` for Ruth Castellane.

Only words that no document holds, and only where the query asks about someone: any other word may
be a topic.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from rapidfuzz import fuzz, process

from kbx_tui.index.entities.entity_column import EntityColumn
from kbx_tui.index.entities.name_segments import SIMILAR
from kbx_tui.index.entities.stored_names import SHORTEST_TO_COMPARE
from kbx_tui.knowledge.folding import folded_words
from kbx_tui.search.evidence.evidence import Signal
from kbx_tui.search.query.names.name_match import AMBIGUOUS, TYPO_WEIGHT, NameMatch, TextsWith
from kbx_tui.search.query.names.query_words import QueryWords

MOST_ENTITIES = 10_000
"""Entities of a base whose names are all read, once; in a larger one no part is looked for."""


class MisspelledParts:
    """The first names and surnames of the people among some entities."""

    def __init__(self, entities: EntityColumn, texts_with: TextsWith) -> None:
        self._entities, self._texts_with = entities, texts_with

    def find(self, query: QueryWords) -> list[NameMatch]:
        """Return the people whose first name or surname an unused word of a query misspells."""
        matches: list[NameMatch] = []
        for index, word in enumerate(query.folded):
            if len(word) < SHORTEST_TO_COMPARE or not query.is_free(index, 1):
                continue
            if not query.is_in_place_of_name(index) or self._texts_with(word):
                continue
            similarity, people = self._most_similar(word)
            if not people:
                continue
            start, end = query.use(index, 1)
            text, alone = query.text_of(index, 1), len(people) == 1
            score = TYPO_WEIGHT * similarity / 100.0 * (1.0 if alone else AMBIGUOUS)
            for person in people:
                name = self._entities[person].name
                signal = Signal("fuzzy", score, f"{text} ~ {name}", ambiguous=not alone)
                matches.append(NameMatch(person, signal, start, end, alone))
        return matches

    def _most_similar(self, word: str) -> tuple[float, list[int]]:
        """Return the similarity, 0..100, and the people with the part most similar to a word.

        Nobody if none is similar, or if the word is such a part: then it was not meant as a name.
        """
        if word in self._holders:
            return 0.0, []
        best = process.extractOne(
            word, self._holders.keys(), scorer=fuzz.ratio, score_cutoff=SIMILAR
        )
        return (0.0, []) if best is None else (best[1], self._holders[best[0]])

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        """People, by index, by each part that is long enough to be compared."""
        holders: dict[str, list[int]] = defaultdict(list)
        people = enumerate(self._entities.types)
        for number, kind in people if len(self._entities) <= MOST_ENTITIES else ():
            names = self._entities[number].name.split() if kind == "person" else []
            if len(names) < 2:
                continue
            for part in {"".join(folded_words(name)) for name in (names[0], names[-1])}:
                if len(part) >= SHORTEST_TO_COMPARE - 1:
                    holders[part].append(number)
        return dict(holders)

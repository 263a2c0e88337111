"""Finds the entities that a query names, deterministically: names, aliases, parts of names, typos.

Words are matched in this order, each used once: full names and aliases, longest first; misspelled
names of several words; surnames and first names; names misspelled or written as one word.

Disambiguation. A name that may also be an ordinary word ("platform", "the Blasius equation") is
only a hint, with a score below the threshold, unless it is written or used as a name: `_is_meant`.
Entities that share a name get the same score, and none counts as named outright.

The documents of the base decide first where they can (`name_priors`): people type in small letters,
so a capital in the query may support a name but never decides against what the base says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Self

from kbx_tui.index.entities.entity_column import NO_STATE, EntityColumn
from kbx_tui.index.entities.make_names import make_names
from kbx_tui.index.entities.stored_names import StoredNames
from kbx_tui.index.snapshot import NameVotes
from kbx_tui.knowledge.entities.common_words import is_common_word
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import Signal
from kbx_tui.search.query.english_words import FUNCTION_WORDS, NAMES_THAT_ARE_WORDS, has_topic
from kbx_tui.search.query.misspelled_names import MisspelledNames
from kbx_tui.search.query.name_index import FoundNames, IndexedName, NameIndex, lengths_of
from kbx_tui.search.query.name_match import AMBIGUOUS, HINT, NameMatch
from kbx_tui.search.query.name_parts import NamePartMatcher
from kbx_tui.search.query.name_priors import NamePriors
from kbx_tui.search.query.query_words import QueryWords

TYPO_WEIGHT = 0.9


class NameMatcher:
    """Finds the names of some entities in queries."""

    def __init__(
        self,
        entities: EntityColumn,
        names: StoredNames,
        votes: Mapping[str, NameVotes] = MappingProxyType({}),
    ) -> None:
        """`votes` show how the documents use the words of these names, by folded word."""
        self._priors = NamePriors(votes)
        self._types = entities.types
        self._names = NameIndex(names)
        self._misspelled = MisspelledNames(entities, names)
        self._begun: tuple[QueryWords, FoundNames, list[NameMatch]] | None = None
        """What the last `find_full_names` found, which `find` continues."""

    @classmethod
    def of(
        cls, entities: Iterable[Entity], votes: Mapping[str, NameVotes] = MappingProxyType({})
    ) -> Self:
        """Return one of entities that are not those of an index, by their index."""
        column = EntityColumn.of(entities)
        return cls(column, make_names(column, NO_STATE), votes)

    def find(self, query: str) -> list[NameMatch]:
        """Return the names in a query; no two use the same word."""
        (words, names, matches), self._begun = self._begin(query), None
        parts = NamePartMatcher(names, self._priors)
        matches += self._find_typos(words, sizes=(2, 3))
        matches += parts.find_surnames(words)
        people = [m for m in matches if m.named and self._types[m.entity] == "person"]
        spans = [(match.start, match.end) for match in people]
        matches += parts.find_first_names(words, spans)
        matches += self._find_typos(words, sizes=(1,))
        return self._promote_hints(words, matches)

    def find_full_names(self, query: str) -> list[NameMatch]:
        """Return only the full names and aliases in a query; much faster than `find`."""
        self._begun = self._begin(query)
        return list(self._begun[-1])

    def _begin(self, query: str) -> tuple[QueryWords, FoundNames, list[NameMatch]]:
        if self._begun is not None and self._begun[0].text == query:
            return self._begun
        words = QueryWords(query)
        names = self._names.find(words.folded)
        return words, names, self._find_full(words, names)

    def _promote_hints(self, query: QueryWords, matches: list[NameMatch]) -> list[NameMatch]:
        """Return the matches, with hints that the context supports counted as named outright.

        A hint at a project counts if another entity is named outright (`what did alice decide about
        the migration`), any hint if the query has no other topic (`platform migration`).
        """
        only_names = not has_topic(
            word.folded
            for word in query.words
            if not any(match.start <= word.start < match.end for match in matches)
        )
        projects = any(match.named for match in matches)
        return [
            replace(match, signal=replace(match.signal, score=1.0), named=True)
            if match.signal.kind == "name"
            and (only_names or (projects and self._types[match.entity] == "project"))
            else match
            for match in matches
        ]

    def _find_full(self, query: QueryWords, found: FoundNames) -> list[NameMatch]:
        matches = []
        for index, size, folded in query.free_ranges(lengths_of(found.full)):
            names = found.full.get(folded)
            if not names:
                continue
            text = query.text_of(index, size)
            is_acronym = len(text) > 1 and text.isupper()
            is_word = size == 1 and folded[0] in FUNCTION_WORDS
            if is_word and not (is_acronym or query.asks_who(index)):
                continue
            meant = [
                name for name in names if size > 1 or self._is_meant(query, index, found, name)
            ]
            start, end = query.use(index, size)
            shared = size == 1 and len(meant) > 1 and all(n.kind == "alias" for n in meant)
            for name in names:
                decides = size == 1 and (
                    self._types[name.entity] != "project" or self._priors.is_name(folded[0])
                )
                prior = self._priors.explain(folded[0]) if decides else ""
                score = (AMBIGUOUS if shared else 1.0) if name in meant else HINT
                ambiguous = shared and name in meant
                signal = Signal(name.kind, score, text, ambiguous=ambiguous, taught=prior)
                matches.append(NameMatch(name.entity, signal, start, end, score == 1.0))
        return matches

    def _is_meant(
        self, query: QueryWords, index: int, found: FoundNames, name: IndexedName
    ) -> bool:
        """Return whether a single word of the query is the name rather than an ordinary word."""
        word, kind = query.words[index], self._types[name.entity]
        if kind in (query.before(index), query.after(index + 1)):
            return True  # `team platform`, `the platform team`
        if kind == "person" and query.asks_who(index):
            return True
        is_first = name.entity in found.first_names.get(word.folded, ())
        is_acronym = len(name.text) <= 3 and name.text.isupper() and not is_first  # `LEO` of Leo
        is_other = is_acronym and fold(name.text) == word.folded and name.text != word.text
        if query.is_compound(index, 1):
            return False
        if is_other:  # `jhd` for JHD, but `us` and `api`
            return query.all_lower and query.is_subject(index, 1)
        if kind == "person" and query.is_in_place_of_word(index):
            return False
        if self._priors.is_name(word.folded):
            return True
        if kind != "project" and self._priors.is_word(word.folded):
            return query.is_surely_asked_about(index, 1)
        if query.all_lower and word.text.lower() != word.text.upper():  # some scripts have no case
            is_single_name = kind == "person" and name.kind == "name"
            may_be_a_word = word.folded in NAMES_THAT_ARE_WORDS if is_first else is_single_name
            may_be_a_word = may_be_a_word or is_common_word(word.folded)
            return not may_be_a_word or query.is_asked_about(index, 1)
        if not is_common_word(word.folded):
            return True
        written_as_name = word.text == name.text and word.is_capitalised and index > 0
        return written_as_name or query.is_asked_about(index, 1)

    def _find_typos(self, query: QueryWords, sizes: Sequence[int]) -> list[NameMatch]:
        ranges = [
            (index, size, "".join(folded))
            for index, size, folded in query.free_ranges(sizes)
            if FUNCTION_WORDS.isdisjoint(folded)
        ]
        matches = []
        for number, similarity, names in self._misspelled.find([joined for *_, joined in ranges]):
            index, size, _ = ranges[number]
            if not query.is_free(index, size):
                continue
            start, end = query.use(index, size)
            text, alone = query.text_of(index, size), len(names) == 1
            for entity, name in names:
                score = TYPO_WEIGHT * similarity / 100.0
                signal = Signal("fuzzy", score, f"{text} ~ {name}", ambiguous=not alone)
                matches.append(NameMatch(entity, signal, start, end, alone))
        return matches

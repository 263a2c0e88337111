"""Finds the entities that a query names, deterministically: names, aliases, parts of names, typos.

Words are matched in this order, each used once: full names and aliases, longest first; misspelled
names of several words; surnames and first names; names misspelled or written as one word;
misspelled parts of names.

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
from kbx_tui.knowledge.folding import fold, folded_words
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import Signal
from kbx_tui.search.query.english_words import FUNCTION_WORDS, NAMES_THAT_ARE_WORDS, has_topic
from kbx_tui.search.query.names.misspelled_names import MisspelledNames
from kbx_tui.search.query.names.misspelled_parts import MisspelledParts
from kbx_tui.search.query.names.name_index import FoundNames, IndexedName, NameIndex, lengths_of
from kbx_tui.search.query.names.name_match import (
    AMBIGUOUS,
    HINT,
    TYPO_WEIGHT,
    NameMatch,
    TextsWith,
    no_texts,
)
from kbx_tui.search.query.names.name_parts import NamePartMatcher
from kbx_tui.search.query.names.name_priors import NamePriors
from kbx_tui.search.query.names.query_words import QueryWords

SHORTEST_IN_USER_NAME = 4
"""Letters of a part of a name that show an alias to be made of it; fewer are in many words."""


class NameMatcher:
    """Finds the names of some entities in queries."""

    def __init__(
        self,
        entities: EntityColumn,
        names: StoredNames,
        votes: Mapping[str, NameVotes] = MappingProxyType({}),
        texts_with: TextsWith = no_texts,
    ) -> None:
        """`votes` show how the documents use the words of these names, by folded word."""
        self._texts_with = texts_with
        self._priors = NamePriors(votes)
        self._entities, self._types = entities, entities.types
        self._names = NameIndex(names)
        self._misspelled = MisspelledNames(entities, names)
        self._misspelled_parts = MisspelledParts(entities, texts_with)
        self._begun: tuple[QueryWords, FoundNames, list[NameMatch]] | None = None
        """What the last `find_full_names` found, which `find` continues."""

    @classmethod
    def of(
        cls,
        entities: Iterable[Entity],
        votes: Mapping[str, NameVotes] = MappingProxyType({}),
        texts_with: TextsWith = no_texts,
    ) -> Self:
        """Return one of entities that are not those of an index, by their index."""
        column = EntityColumn.of(entities)
        return cls(column, make_names(column, NO_STATE), votes, texts_with)

    def find(self, query: str) -> list[NameMatch]:
        """Return the names in a query; no two use the same word."""
        (words, names, matches), self._begun = self._begin(query), None
        parts = NamePartMatcher(names, self._priors, self._entities, self._texts_with)
        matches += self._find_typos(words, sizes=(2, 3))
        matches += parts.find_surnames(words)
        people = [m for m in matches if m.named and self._types[m.entity] == "person"]
        spans = [(match.start, match.end) for match in people]
        matches += parts.find_first_names(words, spans)
        matches += self._find_typos(words, sizes=(1,))
        matches += self._misspelled_parts.find(words)
        return self._promote_hints(words, self._promote_listed(words, matches))

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

    def _promote_listed(
        self, query: QueryWords, matches: Sequence[NameMatch]
    ) -> Sequence[NameMatch]:
        """Return the matches, with hints in a list with a person named outright as such, too.

        `Trudeau and Scheer`, if only Scheer is certainly a name here. Of first names `name_parts`
        decides.
        """
        doubtful = {
            number
            for number, match in enumerate(matches)
            if match.signal.score == HINT
            and match.signal.kind in ("surname", "alias")
            and not match.signal.ambiguous
            and self._types[match.entity] == "person"
        }
        if not doubtful:
            return matches
        spans = [
            (match.start, match.end)
            for match in matches
            if match.named and self._types[match.entity] == "person"
        ]
        index_of = {word.end: index for index, word in enumerate(query.words)}
        return [
            _certain(match)
            if number in doubtful and query.is_listed_with(index_of[match.end], spans)
            else match
            for number, match in enumerate(matches)
        ]

    def _promote_hints(self, query: QueryWords, matches: Sequence[NameMatch]) -> list[NameMatch]:
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
            _certain(match)
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
                decides = decides and not self._is_user_name(name)
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
            return query.all_lower and self._is_acronym_asked_about(query, index)
        if kind == "person" and query.is_in_place_of_word(index):
            return False
        if self._priors.is_name(word.folded) or self._is_user_name(name):
            return True
        if kind != "project" and self._priors.is_word(word.folded):
            return query.is_surely_asked_about(index, 1)
        if query.all_lower and word.text.lower() != word.text.upper():  # some scripts have no case
            is_single_name = kind == "person" and name.kind == "name"
            may_be_a_word = word.folded in NAMES_THAT_ARE_WORDS if is_first else is_single_name
            may_be_a_word = may_be_a_word or is_common_word(word.folded)
            if kind == "person" and name.text[:1].isupper():  # not a user name
                may_be_a_word = may_be_a_word or self._priors.may_be_word(word.folded)
            return not may_be_a_word or query.is_asked_about(index, 1)
        if not is_common_word(word.folded):
            return True
        written_as_name = word.text == name.text and word.is_capitalised and index > 0
        return written_as_name or query.is_asked_about(index, 1)

    def _is_user_name(self, name: IndexedName) -> bool:
        """Return whether an alias is made of a part of the name and more: `jasnell` of James Snell.

        It hardly is an ordinary word, although a base always writes it in small letters.
        """
        if name.kind != "alias" or self._types[name.entity] != "person":
            return False
        alias, parts = fold(name.text), folded_words(self._entities[name.entity].name)
        return any(
            len(part) >= SHORTEST_IN_USER_NAME and part in alias and part != alias for part in parts
        )

    def _is_acronym_asked_about(self, query: QueryWords, index: int) -> bool:
        """Return whether the query asks about an acronym in small letters.

        One that nobody uses as a word, `did jhd support it`, needs a single sign that it is a name.
        """
        is_word = self._priors.may_be_word(query.folded[index])
        return query.is_subject(index, 1) or (not is_word and query.is_agent(index, 1))

    def _find_typos(self, query: QueryWords, sizes: Sequence[int]) -> list[NameMatch]:
        ranges = [
            (index, size, "".join(folded))
            for index, size, folded in query.free_ranges(sizes)
            if FUNCTION_WORDS.isdisjoint(folded)
        ]
        matches = []
        texts = [joined for *_, joined in ranges]
        for number, similarity, names in self._misspelled.find(texts):
            index, size, _ = ranges[number]
            if not query.is_free(index, size):
                continue
            names = [name for name in names if not self._is_other_word(texts[number], name[1])]
            if not names:
                continue
            start, end = query.use(index, size)
            text = query.text_of(index, size)
            meant = [self._may_be_misspelt(query, index, name) for name in names]
            ambiguous = len(names) > 1
            for (entity, name), is_meant in zip(names, meant, strict=True):
                score = (TYPO_WEIGHT if is_meant else HINT) * similarity / 100.0
                signal = Signal("fuzzy", score, f"{text} ~ {name}", ambiguous=ambiguous)
                is_named = is_meant and not ambiguous
                matches.append(NameMatch(entity, signal, start, end, is_named))
        return matches

    def _may_be_misspelt(self, query: QueryWords, index: int, name: tuple[int, str]) -> bool:
        """Return whether a word similar to a name counts as that, as the name itself would.

        `platforms` is rather the word, if `platform` is, where a team is called Platform.
        """
        words, kind = folded_words(name[1]), self._types[name[0]]
        if len(words) > 1 or kind in (query.before(index), query.after(index + 1)):
            return True
        is_word = kind != "project" and self._priors.is_word(words[0])
        is_word = is_word or is_common_word(words[0])
        return not is_word or query.is_asked_about(index, 1)

    def _is_other_word(self, text: str, name: str) -> bool:
        """Return whether a word similar to a name is rather a word of its own.

        More documents hold it than the name, written as one word too: `consensus`, where a team is
        called Consensys, and `grading`, where someone is G. Radin.
        """
        return self._texts_with(text) > self._texts_with("".join(folded_words(name)))


def _certain(match: NameMatch) -> NameMatch:
    return replace(match, signal=replace(match.signal, score=1.0), named=True)

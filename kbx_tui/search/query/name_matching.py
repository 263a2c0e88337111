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

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.index.stored_entities import EntityColumn
from kbx_tui.index.stored_names import StoredNames, Words, make_names
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.entity_names import is_common_word
from kbx_tui.knowledge.folding import fold, folded_words
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import Signal, SignalKind
from kbx_tui.search.query.english_words import FUNCTION_WORDS, NAMES_THAT_ARE_WORDS, has_topic
from kbx_tui.search.query.misspelled_names import MisspelledNames, MisspelledParts
from kbx_tui.search.query.name_index import (
    MOST_NAMESAKES,
    SEVERAL,
    FoundNames,
    IndexedName,
    NameIndex,
    NamePriors,
    lengths_of,
)
from kbx_tui.search.query.named_query import (
    AMBIGUOUS,
    HINT,
    TYPO_WEIGHT,
    NameMatch,
    TextsWith,
    matches_of_part,
    no_texts,
)
from kbx_tui.search.query.query_words import TITLES, QueryWords

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


TERM_SHARE = 0.25
"""Share of the documents with a word that write another beside it, if both are a term. Chosen by
the experiment "bases that nobody tuned on" in docs/quality.md."""

Holder = tuple[int, SignalKind]
"""A person and which part of their name a word is."""


class NamePartMatcher:
    """Finds the parts of the names of some people in one query."""

    def __init__(
        self,
        names: FoundNames,
        priors: NamePriors,
        entities: EntityColumn,
        texts_with: TextsWith,
    ) -> None:
        """`names` are those of the query that is searched."""
        self._names, self._texts_with = names, texts_with
        self._priors = priors
        self._entities = entities

    def find_surnames(self, query: QueryWords) -> list[NameMatch]:
        matches: list[NameMatch] = []
        for index, size, folded in query.free_ranges(lengths_of(self._names.surnames)):
            people = self._names.surnames.get(folded)
            if not people:
                continue
            is_titled = query.before(index) in TITLES
            if initials := self._initials_before(query, index):
                people = [p for p in people if self._names.initials[p].startswith(initials)]
            elif size == 1 and folded[0] in self._names.first_names and not is_titled:
                continue  # `find_first_names` looks for all who have that name
            elif not self._may_be_surname(query, index, size):
                continue
            if people:
                first, length = index - len(initials), size + len(initials)
                certain = bool(initials) or self._is_surname(query, index, size)
                certain = certain and not (size == 1 and self._is_in_term(query, index, people))
                prior = self._priors.explain(folded[0]) if size == 1 and not initials else ""
                holders: list[Holder] = [(each, "surname") for each in people[:MOST_NAMESAKES]]
                matches += matches_of_part(query, first, length, holders, certain, prior)
        return matches

    def _initials_before(self, query: QueryWords, index: int) -> str:
        """Return the unused initials before a surname: `J. R. Miller`."""
        first = index
        while first and query.is_initial(first - 1) and query.is_free(first - 1, 1):
            first -= 1
        initials = "".join(query.folded[first:index])
        return initials if initials not in ("a", "i") or query.words[first].is_capitalised else ""

    def _may_be_surname(self, query: QueryWords, index: int, size: int) -> bool:
        word = query.words[index]
        if query.before(index) in TITLES:
            return True
        is_word = query.is_compound(index, size) or word.folded in FUNCTION_WORDS
        if is_word or self._is_part_of_longer_name(query, index, size):
            return False
        if size > 1 and self._is_hardly_phrase(query.folded[index : index + size]):
            return True
        if size == 1 and self._priors.is_name(word.folded):
            return True
        if query.all_lower:
            if not is_common_word(word.folded):
                return self._is_asked_about(query, index, size)
            if size > 1:
                return False
            if self._priors.is_likelier_word(word.folded):
                return self._is_source(query, index, size)
            is_verb = query.before(index) == "to"  # or part of a phrase: `up to date`
            return query.is_surely_asked_about(index, size) or (
                not is_verb and self._is_asked_about(query, index, size)
            )
        return word.is_capitalised and (index > 0 or not is_common_word(word.folded))

    def _is_part_of_longer_name(self, query: QueryWords, index: int, size: int) -> bool:
        """Return whether an adjacent word makes a surname part of another name: `Gerard Salton`.

        Not one after it that documents hold, but never right after it, and that names nobody:
        `Salton LaTeX macros`.
        """
        after = query.after(index + size)
        if query.may_be_first_name(index - 1) or not query.may_be_surname(index + size):
            return query.may_be_first_name(index - 1)
        if self._is_known(after):
            return True
        last = query.folded[index + size - 1]
        return not self._texts_with(after) or self._texts_with(last, after) > 0

    def _is_surname(self, query: QueryWords, index: int, size: int) -> bool:
        """Return whether words that may be a surname are one."""
        word = query.folded[index]
        if query.is_in_place_of_word(index):
            return False
        if size == 1 and self._priors.is_name(word):
            return True
        if size > 1 and self._is_hardly_phrase(query.folded[index : index + size]):
            return True
        return self._is_asked_about(query, index, size)

    def _is_in_term(self, query: QueryWords, index: int, people: Iterable[int]) -> bool:
        """Return whether a name of `people` is in a term of the base: `Hamming distance`.

        A quarter of the documents with the word must write it beside its neighbour, and two at
        least. A name beside another, as in lists of attendees, is not a term, nor are the words of
        one name.
        """
        word, before, after = query.folded[index], query.before(index), query.after(index + 1)
        pairs = [(word, after, after)] if query.is_modifier(index, 1) else []
        pairs += [(before, word, before)] if query.is_after_topic(index) else []
        least = max(SEVERAL, TERM_SHARE * self._texts_with(word)) if pairs else 0.0
        return any(
            not self._is_known(neighbour)
            and self._texts_with(first, second) >= least
            and not any(neighbour in self._words_of(person) for person in people)
            for first, second, neighbour in pairs
        )

    def _is_known(self, word: str) -> bool:
        """Return whether a word is a first name or surname of someone."""
        return word in self._names.first_names or (word,) in self._names.surnames

    def _is_hardly_phrase(self, words: Sequence[str]) -> bool:
        """Return whether words of one name hardly are a phrase: `Finch-Saunders`.

        `Follow-up` is one, and may be the name of someone in a list of attendees.
        """
        return any(
            len(word) > 1 and word not in FUNCTION_WORDS and not self._priors.may_be_word(word)
            for word in words
        )

    def _is_asked_about(self, query: QueryWords, index: int, size: int) -> bool:
        """Return whether the query asks about what may be a name.

        The more a base uses it as a word, the more the query must show.
        """
        word = query.folded[index]
        if size > 1 or query.asks_who(index):
            return query.is_asked_about(index, size)
        if self._priors.is_word(word):
            return query.is_surely_asked_about(index, size) or self._is_source(query, index, size)
        is_verb = query.is_infinitive(index)
        if self._priors.may_be_word(word) and (is_verb or query.is_modifier(index, size)):
            return query.is_surely_asked_about(index, size)
        is_owner = self._priors.is_likelier_name(word) and query.is_possessive(index)
        return is_owner or query.is_asked_about(index, size)

    def _is_source(self, query: QueryWords, index: int, size: int) -> bool:
        """Return whether a word that is a name here now and then is where only a name ends."""
        is_hardly_name = self._priors.is_hardly_name(query.folded[index])
        return not is_hardly_name and query.is_source(index, size)

    def find_first_names(
        self, query: QueryWords, people: Sequence[tuple[int, int]]
    ) -> list[NameMatch]:
        """Return the first names in a query; `people` are spans of those named outright before."""
        matches = self._find_double_first_names(query)
        doubtful = []
        for index, word in enumerate(query.words):
            asks_who = query.asks_who(index)
            namesakes = self._namesakes(query, index)
            if (
                not namesakes
                or query.used[index]
                or (word.folded in FUNCTION_WORDS and not asks_who)
            ):
                continue
            if len(word.folded) == 1 or query.is_compound(index, 1):
                continue
            is_name, is_word = self._priors.is_name(word.folded), self._priors.is_word(word.folded)
            asked_about = asks_who or self._is_asked_about(query, index, 1)
            may_be_a_word = not is_name and not asks_who
            may_be_a_word &= is_word or word.folded in NAMES_THAT_ARE_WORDS
            lower_case_name = (asked_about or is_name) and not may_be_a_word  # `did bob say`
            is_doubtful = may_be_a_word and (is_word or index == 0 or query.all_lower)
            if query.is_in_place_of_word(index) or (is_doubtful and not asked_about):
                doubtful.append(index)
            elif word.is_capitalised or query.all_lower or lower_case_name:
                certain = not query.all_lower or asked_about or is_name
                certain |= not self._priors.may_be_word(word.folded)
                certain = certain and not self._is_someone_else(query, index)
                certain = certain and not self._is_in_term(query, index, dict(namesakes))
                prior = self._priors.explain(word.folded)
                matches += matches_of_part(query, index, 1, namesakes, certain, prior)
        found = [(match.start, match.end) for match in matches if match.named]
        listed = self._listed(query, doubtful, [*people, *found])
        for index in doubtful:
            certain, namesakes = index in listed, self._namesakes(query, index)
            prior = self._priors.explain(query.folded[index])
            matches += matches_of_part(query, index, 1, namesakes, certain, prior)
        return matches

    def _namesakes(self, query: QueryWords, index: int) -> list[Holder]:
        """Return the people with a word as first name, and those with it as surname."""
        word = query.folded[index]
        holders: dict[int, SignalKind] = {}
        if first_names := self._names.first_names.get(word):
            if not query.is_part_of_longer_name(index, 1):
                surnames = self._names.surnames.get((word,), ())
                holders = dict.fromkeys(surnames[:MOST_NAMESAKES], "surname")
            holders |= dict.fromkeys(first_names, "first_name")
        return list(holders.items())

    def _find_double_first_names(self, query: QueryWords) -> list[NameMatch]:
        """Return the first names of two words in a query: `Jean-Yves`."""
        matches: list[NameMatch] = []
        for index, word in enumerate(query.folded):
            first_names = self._names.first_names.get(word)
            if not first_names or not query.is_hyphenated(index) or not query.is_free(index, 2):
                continue
            words = tuple(query.folded[index : index + 2])
            people = [each for each in first_names if self._first_name(each) == words]
            if people:
                certain = self._is_hardly_phrase(words) or self._is_asked_about(query, index, 2)
                certain = certain and not self._is_someone_else(query, index + 1)
                holders: list[Holder] = [(each, "first_name") for each in people]
                matches += matches_of_part(query, index, 2, holders, certain, "")
        return matches

    def _words_of(self, person: int) -> Words:
        return folded_words(self._entities[person].name)

    def _first_name(self, person: int) -> Words:
        return folded_words(self._entities[person].name.split()[0])

    def _listed(
        self, query: QueryWords, doubtful: Sequence[int], people: list[tuple[int, int]]
    ) -> set[int]:
        """Return which first names are listed with a person named outright: `Grace and Alice`.

        Their spans are added to `people`.
        """
        listed = set()
        for index in (*doubtful, *reversed(doubtful)):  # `Grace, Mark and Alice`, and back
            word = query.words[index]
            if query.is_listed_with(index, people) and not self._is_someone_else(query, index):
                listed.add(index)
                people.append((word.start, word.end))
        return listed

    def _is_someone_else(self, query: QueryWords, index: int) -> bool:
        """Return whether an unknown surname follows a first name."""
        if not query.may_be_surname(index + 1):
            return False
        word = query.folded[index + 1]
        known = self._is_known(word) or (word,) in self._names.full
        return not known and query.has_other_surname(index)

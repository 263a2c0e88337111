"""Finds the entities that a query names, deterministically: names, aliases, parts of names, typos.

Words are matched in this order, each used once: full names and aliases, longest first; misspelt
names of several words; surnames and first names; names misspelt or written as one word;
misspelt parts of names. Entities that share a name get the same score, and none counts as named
outright.

Whether a single word is a name or an ordinary word:

    the base uses it     it is named by
    -------------------  ---------------------------------------------------------------------
    as a name            any use, but not as in `a young person` or `grace period`
    rather as a word     one sign, `did rich say`, and no noun after it: `from rich data`
    as a word            two signs, `did bill say`; nothing else asked; the end after a source
    not, or both alike   a capital where there are others, or one sign

A sign is a word before or after it, `'s` or a capital (`query_words`): people type in small
letters, so a capital may support a name but never decides against what the base says. What is not
named is a hint, with a score below the threshold: "platform", "the Blasius equation".

A first name followed by an unknown surname is only a hint too: `Ruth Castellane` if only Ruth
Miller is known. A capital alone does not make a surname, `Ruth Kubernetes migration` asks for Ruth:
the words around the two must show that they are one name (`QueryWords.has_other_surname`). In
doubt, the known person is meant. A word that is the first name of some and the surname of others
may mean any of them: `David` asks for Hefin David no more than for David Rees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress
from types import MappingProxyType
from typing import Self

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.index.stored_names import SHORTEST_TO_COMPARE, StoredNames, make_names
from kbx_tui.index.stored_records import EntityColumn
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.entity_names import TITLES, is_common_word
from kbx_tui.knowledge.folding import ENGLISH, fold, folded_words
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import Signal, SignalKind
from kbx_tui.search.query.name_index import (
    MOST_NAMESAKES,
    SEVERAL,
    IndexedName,
    InflectedNames,
    MisspeltNames,
    MisspeltParts,
    NameIndex,
    NamePriors,
    lengths_of,
)
from kbx_tui.search.query.query_terms import AMBIGUOUS, HINT, TYPO_WEIGHT, NameMatch
from kbx_tui.search.query.query_words import (
    ARTICLES,
    ASKING_AFTER,
    DOCUMENT_WORDS,
    FOR_MEETINGS,
    FUNCTION_WORDS,
    NAMES_THAT_ARE_WORDS,
    OF_AGENTS,
    OF_WORDS,
    QueryWords,
    topic_words_of,
)

SHORTEST_IN_USER_NAME = 4
"""Letters of a part of a name that show an alias to be made of it; fewer are in many words."""

MOST_MATCHES, FEW_NAMESAKES = 10_000, 20
"""Matches in a query above which only so many people of one name are added."""

LONGEST_ACRONYM = 3
LONGEST_ROLE = 5

WORDS_OF_A_LETTER = frozenset("aiавикосуя")
"""Words of one letter in English and Russian: in small letters they are not initials."""

_MEETING_NOUNS = FOR_MEETINGS & DOCUMENT_WORDS  # no verb: `discussed support for windows`

TERM_SHARE = 0.25
"""Share of the documents with a word that write another beside it, if both are a term. Chosen by
the experiment "bases that nobody tuned on" in docs/quality.md."""

TextsWith = Callable[[str, str], int]
"""Returns how many documents hold a folded word, with another directly after it unless empty."""

Holder = tuple[int, SignalKind]
"""A person and which part of their name a word is."""


class NameMatcher:
    def __init__(
        self,
        entities: EntityColumn,
        names: StoredNames,
        votes: Mapping[str, NameVotes] = MappingProxyType({}),
        texts_with: TextsWith = lambda *_: 0,
        language: str = ENGLISH,
    ) -> None:
        """`votes` show how the documents use the words of these names, by folded word.

        `language` is the one that most documents are in.
        """
        self.entities, self.texts_with = entities, texts_with
        self.priors, self.names = NamePriors(votes), NameIndex(names)
        self.misspelt = MisspeltNames(entities, names)
        self.misspelt_parts = MisspeltParts(entities)
        self.inflected = InflectedNames(entities, language, lambda word: texts_with(word, "") > 0)

    @classmethod
    def of(
        cls,
        entities: Iterable[Entity],
        votes: Mapping[str, NameVotes] = MappingProxyType({}),
        texts_with: TextsWith = lambda *_: 0,
        language: str = ENGLISH,
    ) -> Self:
        column = EntityColumn.of(entities)
        return cls(column, make_names(column, NO_STATE), votes, texts_with, language)

    def find(self, query: str) -> list[NameMatch]:
        """Return the names in a query; no two use the same word."""
        return QueryNames(self, query).all


class QueryNames:
    """The names found in one query: those in full on construction, the others when asked for."""

    def __init__(self, base: NameMatcher, text: str) -> None:
        self.query, self.matches = QueryWords(text, base.inflected.base_form), list[NameMatch]()
        self._base, self._names = base, base.names.find(self.query.folded)
        self._entities, self._types = base.entities, base.entities.types
        self._priors, self._texts_with = base.priors, base.texts_with
        self._find_full_names()

    def likely(self) -> Sequence[NameMatch]:
        """Return those in full if they are likely to be all: it takes half the time."""
        parts = {*self._names.first_names, *chain.from_iterable(self._names.surnames)}
        words = zip(self.query.folded, self.query.used, strict=True)
        has_other_part = any(word in parts and not used for word, used in words)
        are_certain = all(match.named for match in self.matches)
        return tuple(self.matches) if are_certain and not has_other_part else self.all

    @cached_property
    def all(self) -> list[NameMatch]:
        self._find_misspelt(sizes=(2, 3))
        self._find_roles()
        self._find_surnames()
        self._find_first_names()
        self._find_misspelt(sizes=(1,))
        self._find_misspelt_parts()
        self._promote_listed()
        self._promote_hints()
        return self.matches

    @property
    def _room(self) -> int:
        """How many of one name may be added, so that a name said again and again takes no time."""
        return max(MOST_MATCHES - len(self.matches), FEW_NAMESAKES)

    def _add_part(
        self, index: int, size: int, people: Sequence[Holder], certain: bool, prior: str = ""
    ) -> None:
        """Add a match for each person with this part of a name; a single one is named outright."""
        start, end = self.query.use(index, size)
        text, alone = self.query.text_of(index, size), len(people) == 1
        score = (1.0 if alone else AMBIGUOUS) if certain else HINT
        for person, kind in people[: self._room]:
            signal = Signal(kind, score, text, ambiguous=not alone, taught=prior)
            self.matches.append(NameMatch(person, signal, start, end, certain and alone))

    # Full names and aliases

    def _find_full_names(self) -> None:
        query = self.query
        for index, size, folded in query.free_ranges(lengths_of(self._names.full)):
            names = self._names.full.get(folded, [])[: self._room]
            if not names:
                continue
            text, word = query.text_of(index, size), folded[0]
            may_be_name = size > 1 or word not in FUNCTION_WORDS or query.asks_who(index)
            if not may_be_name and not (len(text) > 1 and text.isupper()):
                continue
            are_meant = [size > 1 or self._is_meant(index, name) for name in names]
            start, end = query.use(index, size)
            kinds = [name.kind for name in compress(names, are_meant)]
            shared = len(kinds) > 1 and set(kinds) == {"alias"}
            for name, is_meant in zip(names, are_meant, strict=True):
                is_project = self._types[name.entity] == "project"
                decides = size == 1 and (not is_project or self._priors.is_name(word))
                decides = decides and not self._is_user_name(name)
                signal = Signal(
                    name.kind,
                    (AMBIGUOUS if shared else 1.0) if is_meant else HINT,
                    text,
                    ambiguous=shared and is_meant,
                    taught=self._priors.explain(word) if decides else "",
                )
                is_named = signal.score == 1.0
                self.matches.append(NameMatch(name.entity, signal, start, end, is_named))

    def _is_meant(self, index: int, name: IndexedName) -> bool:
        query, priors, kind = self.query, self._priors, self._types[name.entity]
        word = query.words[index]
        beside = query.before(index), query.after(index + 1)
        if kind in beside or (kind == "team" and not _MEETING_NOUNS.isdisjoint(beside)):
            return True  # `team platform`, `the platform team`, `last platform meeting`
        if kind == "project" and query.is_asked_for_state(index):
            return True
        if query.is_compound(index, 1):
            return False
        is_first = name.entity in self._names.first_names.get(word.folded, ())
        is_acronym = len(name.text) <= LONGEST_ACRONYM and name.text.isupper() and not is_first
        if is_acronym and fold(name.text) == word.folded and name.text != word.text:
            # `jhd` may mean JHD, but `us` and `api` are words. So in small letters an acronym needs
            # a word after it as in `X said` or, unless it may be a word, any sign in `OF_AGENTS`.
            is_agent = query.is_in(OF_AGENTS, index) or query.is_possessive(index)
            is_word = priors.may_be_word(word.folded)
            return query.after(index + 1) in ASKING_AFTER or (is_agent and not is_word)
        if kind == "person" and query.is_in(OF_WORDS, index):
            return False
        if priors.is_name(word.folded) or self._is_user_name(name):
            return True
        if kind != "project" and priors.is_word(word.folded):
            return query.is_surely_asked_about(index)
        may_be_a_word = is_common_word(word.folded)
        is_written_as_name = word.is_capitalised and index > 0
        if query.all_lower and word.text.lower() != word.text.upper():  # some scripts have no case
            is_written_as_name = False
            is_single_name = kind == "person" and name.kind == "name"
            is_word_too = word.folded in NAMES_THAT_ARE_WORDS if is_first else is_single_name
            may_be_a_word = may_be_a_word or is_word_too
        return not may_be_a_word or is_written_as_name or query.is_asked_about(index, 1)

    def _is_user_name(self, name: IndexedName) -> bool:
        """Return whether an alias is made of a part of the name and more: `jasnell` of James Snell.

        It hardly is an ordinary word, although a base always writes it in small letters.
        """
        alias, parts = fold(name.text), folded_words(self._entities[name.entity].name)
        return any(
            len(part) >= SHORTEST_IN_USER_NAME and part in alias and part != alias for part in parts
        )

    # Misspelt names

    def _find_misspelt(self, sizes: Sequence[int]) -> None:
        ranges = [
            (index, size, "".join(folded))
            for index, size, folded in self.query.free_ranges(sizes)
            if FUNCTION_WORDS.isdisjoint(folded) and sum(map(len, folded)) >= SHORTEST_TO_COMPARE
        ]
        for number, similarity, similar in self._base.misspelt.find([text for *_, text in ranges]):
            index, size, written = ranges[number]
            names = [name for name in similar if not self._is_other_word(written, name[1])]
            if not names or not self.query.is_free(index, size):
                continue
            start, end = self.query.use(index, size)
            text, ambiguous = self.query.text_of(index, size), len(names) > 1
            for entity, name in names:
                is_meant = self._may_be_misspelt(index, entity, name)
                score = (TYPO_WEIGHT if is_meant else HINT) * similarity / 100.0
                signal = Signal("fuzzy", score, f"{text} ~ {name}", ambiguous=ambiguous)
                self.matches.append(
                    NameMatch(entity, signal, start, end, is_meant and not ambiguous)
                )

    def _may_be_misspelt(self, index: int, entity: int, name: str) -> bool:
        """Return whether a word similar to a name may be a misspelling of the name.

        With a team called Platform, `platforms` is more likely the ordinary word.
        """
        words, kind = folded_words(name), self._types[entity]
        if len(words) > 1 or kind in (self.query.before(index), self.query.after(index + 1)):
            return True
        return not is_common_word(words[0]) or self.query.is_asked_about(index, 1)

    def _is_other_word(self, text: str, name: str) -> bool:
        """Return whether a word similar to a name is more likely a different word.

        It is if more documents hold it than hold the name written as one word: `consensus` in a
        base with a team called Consensys, or `grading` in one with a G. Radin.
        """
        return self._texts_with(text, "") > self._texts_with("".join(folded_words(name)), "")

    def _find_misspelt_parts(self) -> None:
        """Find people by a misspelt part of their name: `castelane` for Ruth Castellane.

        Words are tried that no document holds, where the query asks about someone or writes a name:
        any other word may be a topic.
        """
        query = self.query
        for index, word in enumerate(query.folded):
            if len(word) < SHORTEST_TO_COMPARE or query.used[index]:
                continue
            is_capital = index > 0 and query.words[index].is_capitalised and not query.all_lower
            if not (is_capital or query.is_asked_about(index, 1)) or self._texts_with(word, ""):
                continue
            similarity, people = self._base.misspelt_parts.most_similar(word)
            if not people or self._is_part_of_longer_name(index, 1):
                continue
            start, end = query.use(index, 1)
            text, alone = query.text_of(index, 1), len(people) == 1
            score = TYPO_WEIGHT * similarity / 100.0 * (1.0 if alone else AMBIGUOUS)
            for person in people:
                detail = f"{text} ~ {self._entities[person].name}"
                signal = Signal("fuzzy", score, detail, ambiguous=not alone)
                self.matches.append(NameMatch(person, signal, start, end, alone))

    # Roles

    def _find_roles(self) -> None:
        """Find who alone has a role that is asked about: `what did the head of support say`.

        A shorter name in it is a part of the role: that of a team called Support.
        """
        query = self.query
        in_roles = self._base.names.are_in_roles(query.folded)
        for index, size in query.ranges(range(LONGEST_ROLE, 0, -1) if any(in_roles) else ()):
            if not all(in_roles[index : index + size]):
                continue
            first = index - 1 if query.before(index) in ARTICLES else index
            if not query.is_asked_about(first, size + index - first):
                continue
            start, end = query.words[index].start, query.words[index + size - 1].end
            names = [match for match in self.matches if match.start < end and start < match.end]
            is_longer = all(
                start <= match.start and match.end <= end and match.end - match.start < end - start
                for match in names
            )
            holders = self._base.names.role_holders(tuple(query.folded[index : index + size]))
            if len(holders) == 1 and is_longer:
                self.matches = [match for match in self.matches if match not in names]
                start, end = query.use(index, size)
                signal = Signal("role", 1.0, query.text_of(index, size))
                self.matches.append(NameMatch(holders[0], signal, start, end, named=True))

    # Surnames

    def _find_surnames(self) -> None:
        query, found = self.query, self._names
        for index, size, folded in query.free_ranges(lengths_of(found.surnames)):
            people = found.surnames.get(folded, [])
            initials = self._initials_before(index) if people else ""
            if initials:
                people = [each for each in people if found.initials[each].startswith(initials)]
            elif size == 1 and folded[0] in found.first_names and query.before(index) not in TITLES:
                continue  # `_find_first_names` looks for all who have that name
            certain = bool(initials) or (self._is_surname(index, size) if people else None)
            if not people or certain is None:
                continue
            certain = certain and not (size == 1 and self._is_in_term(index, people))
            prior = self._priors.explain(folded[0]) if size == 1 and not initials else ""
            holders: list[Holder] = [(each, "surname") for each in people[:MOST_NAMESAKES]]
            first, length = index - len(initials), size + len(initials)
            self._add_part(first, length, holders, certain, prior)

    def _initials_before(self, index: int) -> str:
        query, first = self.query, index
        while first and query.is_initial(first - 1) and not query.used[first - 1]:
            first -= 1
        initials = "".join(query.folded[first:index])
        if initials and not query.words[first].is_capitalised:
            is_word = initials in WORDS_OF_A_LETTER or query.words[index].is_capitalised
            return "" if is_word else initials
        return initials

    def _is_surname(self, index: int, size: int) -> bool | None:
        """Return whether words are a surname; None if they do not even look like one."""
        query, word = self.query, self.query.words[index]
        is_word = query.is_compound(index, size) or word.folded in FUNCTION_WORDS
        if is_word or self._is_part_of_longer_name(index, size):
            return None
        is_name, is_asked = self._is_name_here(index, size), self._is_asked_about(index, size)
        is_common = is_common_word(word.folded)
        if not query.all_lower:
            may_be = word.is_capitalised and (index > 0 or not is_common)
        elif is_common and size == 1 and self._priors.is_likelier_word(word.folded):
            may_be = query.is_source(index)
        else:  # not a verb, nor part of a phrase: `up to date`
            may_be = is_asked and not (is_common and query.before(index) == "to")
        if not (is_name or may_be):
            return None
        return (is_name or is_asked) and not query.is_in(OF_WORDS, index)

    def _is_part_of_longer_name(self, index: int, size: int) -> bool:
        """Return whether an adjacent word makes a surname part of another name: `Gerard Salton`.

        A word after it does not if it names nobody and documents hold it, but never directly after
        the surname: `Salton LaTeX macros`.
        """
        query, after = self.query, self.query.after(index + size)
        if query.may_be_first_name(index - 1) or not query.may_be_surname(index + size):
            return query.may_be_first_name(index - 1)
        last = query.folded[index + size - 1]
        is_held = self._texts_with(after, "") > 0 and not self._texts_with(last, after)
        return self._is_known(after) or not is_held

    def _is_in_term(self, index: int, people: Iterable[int]) -> bool:
        """Return whether a name of `people` is in a term of the base: `Hamming distance`.

        A quarter of the documents with the word must write the next one after it, and two at least.
        A name before another, as in lists of attendees, is not a term, nor are the words of one
        name.
        """
        word, after = self.query.folded[index], self.query.after(index + 1)
        if not self.query.is_modifier(index) or self._is_known(after):
            return False
        least = max(SEVERAL, TERM_SHARE * self._texts_with(word, ""))
        is_own = any(after in folded_words(self._entities[person].name) for person in people)
        return not is_own and self._texts_with(word, after) >= least

    def _is_known(self, word: str) -> bool:
        return word in self._names.first_names or (word,) in self._names.surnames

    def _is_name_here(self, index: int, size: int) -> bool:
        """Return whether words count as a name in this base, whatever the query shows.

        Several words, such as `Finch-Saunders`, are taken for a name unless each may be an ordinary
        word: `Follow-up` may be a phrase even if a list of attendees has someone of that name.
        """
        words = self.query.folded[index : index + size]
        if size == 1:
            return self._priors.is_name(words[0])
        return any(w not in FUNCTION_WORDS and not self._priors.may_be_word(w) for w in words)

    def _is_asked_about(self, index: int, size: int) -> bool:
        """Return whether the query asks about what may be a name."""
        query, word = self.query, self.query.folded[index]
        if size > 1:
            return query.is_asked_about(index, size)
        if self._priors.is_word(word):
            return query.is_surely_asked_about(index) or query.is_source(index)
        if self._priors.may_be_word(word) and query.is_modifier(index):
            return query.is_surely_asked_about(index)
        return query.is_possessive(index) or query.is_asked_about(index, 1)

    # First names

    def _find_first_names(self) -> None:
        query, priors = self.query, self._priors
        for index, word in enumerate(query.words):
            people, folded = self._namesakes(word.folded), word.folded
            if not people or query.used[index] or len(folded) == 1:
                continue
            if query.is_compound(index, 1):
                self._find_double_first_name(index)
                continue
            if folded in FUNCTION_WORDS and not query.asks_who(index):
                continue
            is_name = priors.is_name(folded)
            is_word = not is_name and (priors.is_word(folded) or folded in NAMES_THAT_ARE_WORDS)
            is_asked = is_name or self._is_asked_about(index, 1)
            if query.is_in(OF_WORDS, index) or (is_word and not is_asked):
                certain = False
            elif word.is_capitalised or query.all_lower or (is_asked and not is_word):
                certain = not query.all_lower or is_asked or not priors.may_be_word(folded)
                certain = certain and not self._is_someone_else(index)
            else:
                continue
            self._add_part(index, 1, people, certain, priors.explain(folded))

    def _namesakes(self, word: str) -> list[Holder]:
        if not (first_names := self._names.first_names.get(word)):
            return []
        surnames = self._names.surnames.get((word,), [])[:MOST_NAMESAKES]
        holders: dict[int, SignalKind] = dict.fromkeys(surnames, "surname")
        return list((holders | dict.fromkeys(first_names, "first_name")).items())

    def _find_double_first_name(self, index: int) -> None:
        words = tuple(self.query.folded[index : index + 2])
        people: list[Holder] = [
            (person, "first_name")
            for person in self._names.first_names[words[0]]
            if folded_words(self._entities[person].name.split()[0]) == words
        ]
        if people and self.query.is_hyphenated(index) and self.query.is_free(index, 2):
            certain = self._is_name_here(index, 2) and not self._is_someone_else(index + 1)
            self._add_part(index, 2, people, certain)

    def _is_someone_else(self, index: int) -> bool:
        word = self.query.after(index + 1)
        is_known = self._is_known(word) or (word,) in self._names.full
        may_be_surname = self.query.may_be_surname(index + 1) and not is_known
        return may_be_surname and self.query.has_other_surname(index)

    # What other names show

    def _promote_listed(self) -> None:
        """Count hints in a list with a person named outright as such, too.

        `Grace, Mark and Alice`, and `Trudeau and Scheer`, if only Scheer is certainly a name here.
        """
        people = [m for m in self.matches if self._types[m.entity] == "person"]
        spans = dict.fromkeys((match.start, match.end) for match in people if match.named)
        hints = [match for match in people if match.signal.score == HINT]
        doubtful = dict.fromkeys((match.start, match.end) for match in hints)
        if not (spans and doubtful):
            return
        index_of = {word.end: index for index, word in enumerate(self.query.words)}
        meant = dict[tuple[int, int], None]()
        for span in (*doubtful, *reversed(doubtful)):  # a thousand people may share a name
            index = index_of[span[1]]
            if self.query.is_listed_with(index, spans) and not self._is_someone_else(index):
                spans[span] = meant[span] = None
        promoted = {id(match) for match in hints if (match.start, match.end) in meant}
        self.matches = [m.as_meant() if id(m) in promoted else m for m in self.matches]

    def _promote_hints(self) -> None:
        """Count hints that the context supports as named outright.

        A hint at a project counts if another entity is named outright (`what did alice decide about
        the migration`), any hint if the query has no other topic (`platform migration`).
        """
        spans = {(match.start, match.end) for match in self.matches}
        others = (
            word.folded
            for word in self.query.words
            if not any(start <= word.start < end for start, end in spans)
        )
        only_names = not topic_words_of(others)
        projects = any(match.named for match in self.matches)
        self.matches = [
            match.as_meant()
            if match.signal.kind == "name"
            and (only_names or (projects and self._types[match.entity] == "project"))
            else match
            for match in self.matches
        ]

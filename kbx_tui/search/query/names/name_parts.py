"""Finds the people that a query names by a part of their name: surnames and first names.

A first name followed by an unknown surname is only a hint too: `Ruth Castellane` if only Ruth
Miller is known. A capital alone does not make a surname, `Ruth Kubernetes migration` asks for Ruth:
the words around the two must show that they are one name (`QueryWords.has_other_surname`). In
doubt, the known person is meant.

A word that is the first name of some and the surname of others may mean any of them: `David` asks
for Hefin David no more than for David Rees.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kbx_tui.index.entities.entity_column import EntityColumn
from kbx_tui.index.entities.stored_names import Words
from kbx_tui.knowledge.entities.common_words import is_common_word
from kbx_tui.knowledge.folding import folded_words
from kbx_tui.search.evidence.evidence import SignalKind
from kbx_tui.search.query.english_words import FUNCTION_WORDS, NAMES_THAT_ARE_WORDS
from kbx_tui.search.query.names.name_index import MOST_NAMESAKES, FoundNames, lengths_of
from kbx_tui.search.query.names.name_match import NameMatch, TextsWith, matches_of_part
from kbx_tui.search.query.names.name_priors import SEVERAL, NamePriors
from kbx_tui.search.query.names.query_words import TITLES, QueryWords

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

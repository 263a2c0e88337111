"""Finds the entities that a query names, deterministically: names, aliases, parts of names, typos.

Words are matched in this order, each used once: full names and aliases, longest first; misspelled
names of several words; surnames and first names; names misspelled or written as one word.

Disambiguation. A name that may also be an ordinary word ("platform", "the Blasius equation") is
only a hint, with a score below the threshold, unless it is written or used as a name: `_is_meant`.
Entities that share a name get the same score, and none counts as named outright.

The documents of the base decide first where they can (`name_priors`): people type in small letters,
so a capital in the query may support a name but never decides against what the base says.

A first name followed by an unknown surname is only a hint too: `Ruth Castellane` if only Ruth
Miller is known. A capital alone does not make a surname, `Ruth Kubernetes migration` asks for Ruth:
the words around the two must show that they are one name (`QueryWords.has_other_surname`). In
doubt, the known person is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.knowledge.entities.common_words import is_common_word
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import Signal, SignalKind
from kbx_tui.search.query.english_words import FUNCTION_WORDS, NAMES_THAT_ARE_WORDS, has_topic
from kbx_tui.search.query.misspelled_names import MisspelledNames
from kbx_tui.search.query.name_index import LONGEST_NAME, IndexedName, NameIndex
from kbx_tui.search.query.name_priors import NamePriors
from kbx_tui.search.query.query_words import TITLES, QueryWords

AMBIGUOUS = 0.8
"""Score of each entity when several share a name: kept, but not named outright."""

HINT = 0.4
"""Score of a name that the query may use as an ordinary word."""

TYPO_WEIGHT = 0.9


@dataclass(frozen=True, slots=True)
class NameMatch:
    """Words of the query that name an entity."""

    entity: int
    """Index into the entities."""
    signal: Signal
    start: int
    end: int
    """Span in the query, including an honorific before the name."""
    named: bool
    """True when this entity, and no other, is named."""


class NameMatcher:
    """Finds the names of some entities in queries."""

    def __init__(
        self, entities: Sequence[Entity], votes: Mapping[str, NameVotes] = MappingProxyType({})
    ) -> None:
        """`votes` show how the documents use the words of these names, by folded word."""
        self._priors = NamePriors(votes)
        self._types = [entity.type for entity in entities]
        self._names = NameIndex(entities)
        self._misspelled = MisspelledNames(entities)

    def find(self, query: str) -> list[NameMatch]:
        """Return the names in a query; no two use the same word."""
        words = QueryWords(query)
        matches = self._find_full(words)
        matches += self._find_typos(words, sizes=(2, 3))
        matches += self._find_surnames(words)
        matches += self._find_first_names(words, matches)
        matches += self._find_typos(words, sizes=(1,))
        return self._promote_hints(words, matches)

    def find_full_names(self, query: str) -> list[NameMatch]:
        """Return only the full names and aliases in a query; much faster than `find`."""
        return self._find_full(QueryWords(query))

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

    def _find_full(self, query: QueryWords) -> list[NameMatch]:
        matches = []
        longest = min(LONGEST_NAME, len(query.words))
        for index, size, folded in query.free_ranges(range(longest, 0, -1)):
            names = self._names.full.get(folded)
            if not names:
                continue
            text = query.text_of(index, size)
            is_acronym = len(text) > 1 and text.isupper()
            is_word = size == 1 and folded[0] in FUNCTION_WORDS
            if is_word and not (is_acronym or query.asks_who(index)):
                continue
            meant = [name for name in names if size > 1 or self._is_meant(query, index, name)]
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

    def _is_meant(self, query: QueryWords, index: int, name: IndexedName) -> bool:
        """Return whether a single word of the query is the name rather than an ordinary word."""
        word, kind = query.words[index], self._types[name.entity]
        if kind in (query.before(index), query.after(index + 1)):
            return True  # `team platform`, `the platform team`
        if kind == "person" and query.asks_who(index):
            return True
        is_acronym = len(name.text) <= 3 and name.text.isupper()
        is_other = is_acronym and fold(name.text) == word.folded and name.text != word.text
        if is_other or query.is_compound(index, 1):
            return False
        if kind == "person" and query.follows_determiner(index):
            return False
        if self._priors.is_name(word.folded):
            return True
        if kind != "project" and self._priors.is_word(word.folded):
            return query.is_surely_asked_about(index, 1)
        if query.all_lower and word.text.lower() != word.text.upper():  # some scripts have no case
            is_first = name.entity in self._names.first_names.get(word.folded, ())
            is_single_name = kind == "person" and name.kind == "name"
            may_be_a_word = word.folded in NAMES_THAT_ARE_WORDS if is_first else is_single_name
            may_be_a_word = may_be_a_word or is_common_word(word.folded)
            return not may_be_a_word or query.is_asked_about(index, 1)
        if not is_common_word(word.folded):
            return True
        written_as_name = word.text == name.text and word.is_capitalised and index > 0
        return written_as_name or query.is_asked_about(index, 1)

    def _find_surnames(self, query: QueryWords) -> list[NameMatch]:
        matches: list[NameMatch] = []
        longest = self._names.longest_surname
        for index, size, folded in query.free_ranges(range(longest, 0, -1)):
            people = self._names.surnames.get(folded)
            if not people:
                continue
            if initials := self._initials_before(query, index):
                people = [p for p in people if self._names.initials[p].startswith(initials)]
            elif not self._may_be_surname(query, index, size):
                continue
            if people:
                first, length = index - len(initials), size + len(initials)
                certain = bool(initials) or self._is_surname(query, index, size)
                prior = self._priors.explain(folded[0]) if size == 1 and not initials else ""
                matches += _matches_of_part(query, first, length, "surname", people, certain, prior)
        return matches

    def _initials_before(self, query: QueryWords, index: int) -> str:
        """Return the unused initials before a surname: `J. R. Miller`."""
        first = index
        while len(query.before(first)) == 1 and query.is_free(first - 1, 1):
            first -= 1
        initials = "".join(query.folded[first:index])
        return initials if initials not in ("a", "i") or query.words[first].is_capitalised else ""

    def _may_be_surname(self, query: QueryWords, index: int, size: int) -> bool:
        word = query.words[index]
        if query.before(index) in TITLES:
            return True
        is_word = query.is_compound(index, size) or word.folded in FUNCTION_WORDS
        if is_word or query.is_part_of_longer_name(index, size):
            return False
        if size == 1 and self._priors.is_name(word.folded):
            return True
        if query.all_lower:
            return not is_common_word(word.folded) and query.is_asked_about(index, size)
        return word.is_capitalised and (index > 0 or not is_common_word(word.folded))

    def _is_surname(self, query: QueryWords, index: int, size: int) -> bool:
        """Return whether words that may be a surname are one."""
        word = query.folded[index]
        if query.follows_determiner(index):
            return False
        if size == 1 and self._priors.is_name(word):
            return True
        if size == 1 and self._priors.is_word(word):
            return query.is_surely_asked_about(index, size)
        return query.is_asked_about(index, size)

    def _find_first_names(self, query: QueryWords, others: Sequence[NameMatch]) -> list[NameMatch]:
        """Return the first names in a query; `others` are the names matched before."""
        matches: list[NameMatch] = []
        doubtful = []
        for index, word in enumerate(query.words):
            asks_who = query.asks_who(index)
            people = self._names.first_names.get(word.folded, [])
            if not people or query.used[index] or (word.folded in FUNCTION_WORDS and not asks_who):
                continue
            if len(word.folded) == 1 or query.is_compound(index, 1):
                continue
            is_name, is_word = self._priors.is_name(word.folded), self._priors.is_word(word.folded)
            asked_about = asks_who or (
                query.is_surely_asked_about(index, 1) if is_word else query.is_asked_about(index, 1)
            )
            may_be_a_word = not is_name and not asks_who
            may_be_a_word &= is_word or word.folded in NAMES_THAT_ARE_WORDS
            lower_case_name = (asked_about or is_name) and not may_be_a_word  # `did bob say`
            is_doubtful = may_be_a_word and (is_word or index == 0 or query.all_lower)
            if query.follows_determiner(index) or (is_doubtful and not asked_about):
                doubtful.append(index)
            elif word.is_capitalised or query.all_lower or lower_case_name:
                certain = not query.all_lower or asked_about or is_name
                certain |= not is_common_word(word.folded)
                certain = certain and not self._is_someone_else(query, index)
                prior = self._priors.explain(word.folded)
                matches += _matches_of_part(query, index, 1, "first_name", people, certain, prior)
        named = [match for match in (*others, *matches) if match.named]
        listed = self._listed(query, doubtful, named)
        for index in doubtful:
            people = self._names.first_names[query.folded[index]]
            certain = index in listed
            prior = self._priors.explain(query.folded[index])
            matches += _matches_of_part(query, index, 1, "first_name", people, certain, prior)
        return matches

    def _listed(
        self, query: QueryWords, doubtful: Sequence[int], named: Sequence[NameMatch]
    ) -> set[int]:
        """Return which first names are listed with a person named outright: `Grace and Alice`."""
        people = [(m.start, m.end) for m in named if self._types[m.entity] == "person"]
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
        word, names = query.folded[index + 1], self._names
        known = word in names.first_names or (word,) in names.surnames or (word,) in names.full
        return not known and query.has_other_surname(index)

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


def _matches_of_part(
    query: QueryWords,
    index: int,
    size: int,
    kind: SignalKind,
    people: Sequence[int],
    certain: bool,
    prior: str,
) -> list[NameMatch]:
    """Return a match for each person with this part of a name; a single one is named outright.

    `prior` is what the base says of the word, for display.
    """
    start, end = query.use(index, size)
    alone = len(people) == 1
    score = (1.0 if alone else AMBIGUOUS) if certain else HINT
    text = query.text_of(index, size)
    signal = Signal(kind, score, text, ambiguous=not alone, taught=prior)
    return [NameMatch(person, signal, start, end, certain and alone) for person in people]

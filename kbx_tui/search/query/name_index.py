"""Which entities a query names, deterministically: names, aliases, parts of names, typos.

Looked for in this order, each stretch of the query used once: whole names and aliases, longest
first; misspelt names of several words; surnames and first names; names run together or misspelt.

A word that may as well be a subject ("platform", "the Blasius equation") is a hint only, below the
threshold, unless it is written or used as a name: `_is_meant`. Where several bear a name, all get
the same score, and none counts as named outright.

So is a first name of someone else: `Ruth Castellane` where only Ruth Miller is known. A capital is
not enough, `Ruth Kubernetes migration` asks for Ruth: what stands around the two words must show
that they are one name (`QueryWords.has_other_surname`). In doubt the one who is known is meant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from kbx_tui.knowledge.entities.common_words import COMMON_WORDS, HONORIFICS
from kbx_tui.knowledge.entities.spellings import other_spellings
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import Signal, SignalKind
from kbx_tui.search.query.english_words import (
    FUNCTION_WORDS,
    NAMES_THAT_ARE_WORDS,
    Word,
    has_topic,
    words_of,
)
from kbx_tui.search.query.query_words import QueryWords

LONGEST_NAME = 12
"""Words of the longest name looked for."""

AMBIGUOUS = 0.8
"""Score of each bearer when several share a name: kept, equal, none named outright."""

HINT = 0.4
"""Score of a name that the query may as well use as an ordinary word."""

FUZZY_CUTOFF = 88.0
FUZZY_WEIGHT = 0.9
FUZZY_LENGTH = 6
"""Names and words this short are not compared for typos: too many words are one letter away."""

SHORTEST_SURNAME = 2


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A stretch of the query that names an entity."""

    entity: int
    """Index into the entities."""
    signal: Signal
    start: int
    end: int
    """Span in the query, an honorific before the name included."""
    named: bool
    """True when the entity, and no other, is named."""


@dataclass(frozen=True, slots=True)
class _Name:
    entity: int
    kind: SignalKind
    text: str


class NameIndex:
    """All names of all entities, ready to be found in queries."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._types = [entity.type for entity in entities]
        self._exact: dict[tuple[str, ...], list[_Name]] = defaultdict(list)
        self._first: dict[str, list[int]] = defaultdict(list)
        self._last: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._initials: dict[int, str] = {}
        fuzzy: dict[str, _Name] = {}
        for number, entity in enumerate(entities):
            words = self._add(number, "name", entity.name)
            if entity.type == "person" and len(words) > 1:
                self._add_parts(number, entity.name, words)
            if len(joined := "".join(words)) >= FUZZY_LENGTH:
                fuzzy.setdefault(joined, _Name(number, "fuzzy", entity.name))
            for alias in entity.aliases:
                self._add(number, "alias", alias)
        as_written = frozenset(self._exact)
        for number, entity in enumerate(entities):
            if entity.type != "person":
                self._add_spellings(number, entity, as_written)
        self._fuzzy_keys, self._fuzzy_names = list(fuzzy), list(fuzzy.values())
        self._longest_surname = max(map(len, self._last), default=0)

    def find(self, query: str) -> list[NameMatch]:
        """Return what the query names, each stretch of it used once."""
        asked = QueryWords(query)
        matches = self._find_exact(asked)
        matches += self._find_typos(asked, sizes=(2, 3))
        matches += self._find_surnames(asked)
        matches += self._find_first_names(asked, matches)
        matches += self._find_typos(asked, sizes=(1,))
        return self._in_company(asked, matches)

    def find_whole(self, query: str) -> list[NameMatch]:
        """Return the whole names and aliases in a query: a tenth of the work of `find`."""
        return self._find_exact(QueryWords(query))

    def _in_company(self, query: QueryWords, matches: list[NameMatch]) -> list[NameMatch]:
        """Take the own name of an entity for it, though it is a common word: that of a project when
        someone else is named outright (`what did alice decide about the migration`), any when
        there is nothing else to be the topic (`platform migration`).
        """
        spans = [(match.start, match.end) for match in matches]
        beside = (
            word.folded
            for word in query.words
            if not any(start <= word.start < end for start, end in spans)
        )
        only_names = not has_topic(beside)
        projects = any(match.named for match in matches)
        return [
            replace(match, signal=replace(match.signal, score=1.0), named=True)
            if match.signal.kind == "name"
            and (only_names or (projects and self._types[match.entity] == "project"))
            else match
            for match in matches
        ]

    def _add(self, number: int, kind: SignalKind, text: str) -> tuple[str, ...]:
        words = tuple(word.folded for word in words_of(text))
        if words and len(words) <= LONGEST_NAME:
            known = self._exact[words]
            if all(name.entity != number for name in known):
                known.append(_Name(number, kind, text))
        return words

    def _add_spellings(
        self, number: int, entity: Entity, as_written: frozenset[tuple[str, ...]]
    ) -> None:
        """Add names of several words in singular and plural, unless another bears them so.

        Of one word they are left to typos: a plural is more often a word than a name.
        """
        for name in (entity.name, *entity.aliases):
            for written in other_spellings(name) if " " in name else ():
                if tuple(word.folded for word in words_of(written)) not in as_written:
                    self._add(number, "name" if name == entity.name else "alias", written)

    def _add_parts(self, number: int, name: str, words: tuple[str, ...]) -> None:
        given = [word for word in words if word not in HONORIFICS]
        if len(given) < 2:
            return
        self._first[given[0]].append(number)
        surname = tuple(word.folded for word in words_of(name.split()[-1]))
        if len("".join(surname)) >= SHORTEST_SURNAME and len(surname) < len(words):
            self._last[surname].append(number)
            self._initials[number] = "".join(word[0] for word in given[: -len(surname)])

    def _find_exact(self, query: QueryWords) -> list[NameMatch]:
        matches = []
        for size in range(min(LONGEST_NAME, len(query.words)), 0, -1):
            for at in range(len(query.words) - size + 1):
                if not query.is_free(at, size):
                    continue
                window = query.words[at : at + size]
                names = self._exact.get(tuple(word.folded for word in window), [])
                is_word = size == 1 and window[0].folded in FUNCTION_WORDS
                if is_word and not (_shouted(window[0]) or query.asks_who(at)):
                    continue
                if not names:
                    continue
                meant = [name for name in names if size > 1 or self._is_meant(query, at, name)]
                start, end = query.take(at, size)
                written = query.text[window[0].start : window[-1].end]
                shared = size == 1 and len(meant) > 1 and all(n.kind == "alias" for n in meant)
                for name in names:
                    score = (AMBIGUOUS if shared else 1.0) if name in meant else HINT
                    signal = Signal(name.kind, score, written, ambiguous=shared and name in meant)
                    matches.append(NameMatch(name.entity, signal, start, end, score == 1.0))
        return matches

    def _is_meant(self, query: QueryWords, at: int, name: _Name) -> bool:
        """Tell whether a single word of the query is the name rather than an ordinary word."""
        word, kind = query.words[at], self._types[name.entity]
        if kind in (query.before(at), query.after(at + 1)):
            return True  # `team platform`, `the platform team`
        if kind == "person" and query.asks_who(at):
            return True
        if query.is_compound(at, 1):
            return False
        if _is_other_acronym(name.text, word.text):
            return False
        if query.all_lower and word.text.lower() != word.text.upper():  # some scripts have no case
            is_first = name.entity in self._first.get(word.folded, ())
            may_be_a_word = word.folded in NAMES_THAT_ARE_WORDS if is_first else kind == "person"
            may_be_a_word = may_be_a_word or word.folded in COMMON_WORDS
            return not may_be_a_word or query.is_asked_about(at, 1)
        if word.folded not in COMMON_WORDS:
            return True
        written_as_name = word.text == name.text and word.is_capitalised and at > 0
        return written_as_name or query.is_asked_about(at, 1)

    def _find_surnames(self, query: QueryWords) -> list[NameMatch]:
        matches: list[NameMatch] = []
        for size in range(self._longest_surname, 0, -1):
            for at in range(len(query.words) - size + 1):
                window = query.words[at : at + size]
                bearers = self._last.get(tuple(word.folded for word in window))
                if not bearers or not query.is_free(at, size):
                    continue
                initials = self._initials_before(query, at)
                if initials:
                    bearers = [b for b in bearers if self._initials[b].startswith(initials)]
                elif not self._may_be_surname(query, at, size):
                    continue
                if bearers:
                    first = at - len(initials)
                    sure = bool(initials) or query.is_asked_about(at, size)
                    matches += _shared(query, first, size + len(initials), "surname", bearers, sure)
        return matches

    def _initials_before(self, query: QueryWords, at: int) -> str:
        """Return the initials that stand free before a surname: `J. R. Miller`."""
        first = at
        while first and len(query.words[first - 1].folded) == 1 and query.is_free(first - 1, 1):
            first -= 1
        initials = "".join(word.folded for word in query.words[first:at])
        return initials if initials not in ("a", "i") or query.words[first].is_capitalised else ""

    def _may_be_surname(self, query: QueryWords, at: int, size: int) -> bool:
        word = query.words[at]
        if query.before(at) in HONORIFICS - {"the"}:
            return True
        if query.is_compound(at, size) or word.folded in FUNCTION_WORDS:
            return False
        if query.is_within_a_name(at, size):
            return False
        if query.all_lower:
            return word.folded not in COMMON_WORDS and query.is_asked_about(at, size)
        return word.is_capitalised and (at > 0 or word.folded not in COMMON_WORDS)

    def _find_first_names(self, query: QueryWords, found: Sequence[NameMatch]) -> list[NameMatch]:
        matches: list[NameMatch] = []
        doubtful = []
        for at, word in enumerate(query.words):
            asks_who = query.asks_who(at)
            bearers = self._first.get(word.folded, [])
            if not bearers or query.taken[at] or (word.folded in FUNCTION_WORDS and not asks_who):
                continue
            if len(word.folded) == 1 or query.is_compound(at, 1):
                continue
            asked_about = asks_who or query.is_asked_about(at, 1)
            may_be_a_word = word.folded in NAMES_THAT_ARE_WORDS and not asks_who
            typed_small = asked_about and not may_be_a_word  # `did bob say on 17 March`
            if may_be_a_word and (at == 0 or query.all_lower) and not asked_about:
                doubtful.append(at)
            elif word.is_capitalised or query.all_lower or typed_small:
                sure = not query.all_lower or asked_about or word.folded not in COMMON_WORDS
                sure = sure and not self._is_someone_else(query, at)
                matches += _shared(query, at, 1, "first_name", bearers, sure)
        listed = self._listed(query, doubtful, [*found, *matches])
        for at in doubtful:
            bearers = self._first[query.words[at].folded]
            matches += _shared(query, at, 1, "first_name", bearers, at in listed)
        return matches

    def _listed(
        self, query: QueryWords, doubtful: Sequence[int], found: Iterable[NameMatch]
    ) -> set[int]:
        """Return which first names are listed with someone who is named: `Grace and Alice`."""
        people = [
            (match.start, match.end)
            for match in found
            if match.named and self._types[match.entity] == "person"
        ]
        listed = set()
        for at in (*doubtful, *reversed(doubtful)):  # `Grace, Mark and Alice`, and back
            word = query.words[at]
            if query.is_listed_with(at, people) and not self._is_someone_else(query, at):
                listed.add(at)
                people.append((word.start, word.end))
        return listed

    def _is_someone_else(self, query: QueryWords, at: int) -> bool:
        """Tell whether first name `at` is that of another: a surname nobody here bears follows."""
        if not query.may_be_surname_after(at + 1):
            return False
        beside = (query.words[at + 1].folded,)
        known = beside[0] in self._first or beside in self._last or beside in self._exact
        return not known and query.has_other_surname(at)

    def _find_typos(self, query: QueryWords, sizes: Iterable[int]) -> list[NameMatch]:
        words = query.words
        windows = [
            (at, size)
            for size in sizes
            for at in range(len(words) - size + 1)
            if query.is_free(at, size)
            and all(w.folded not in FUNCTION_WORDS for w in words[at : at + size])
        ]
        joined = ["".join(w.folded for w in words[at : at + size]) for at, size in windows]
        long_enough = [i for i, text in enumerate(joined) if len(text) >= FUZZY_LENGTH]
        if not long_enough or not self._fuzzy_keys:
            return []
        scores = self._likeness([joined[i] for i in long_enough])
        matches = []
        for number in np.argsort(-scores.max(axis=1)):
            at, size = windows[long_enough[number]]
            best = float(scores[number].max())
            if best < FUZZY_CUTOFF or not query.is_free(at, size):
                continue
            alike = np.flatnonzero(scores[number] == best)
            start, end = query.take(at, size)
            written = query.text[words[at].start : words[at + size - 1].end]
            for key in alike:
                name = self._fuzzy_names[key]
                signal = Signal(
                    "fuzzy",
                    FUZZY_WEIGHT * best / 100.0,
                    f"{written} ~ {name.text}",
                    ambiguous=len(alike) > 1,
                )
                matches.append(NameMatch(name.entity, signal, start, end, len(alike) == 1))
        return matches

    def _likeness(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how alike texts and names are, 0..100, 0 where one is a mere part of the other.

        `kuchemann` is no misspelt `dkuchemann`: it is a surname, and was looked at as one.
        """
        scores: NDArray[np.float32] = process.cdist(
            texts,
            self._fuzzy_keys,
            scorer=fuzz.ratio,
            score_cutoff=FUZZY_CUTOFF,
            dtype=np.float32,
        )
        for row, column in np.argwhere(scores > 0):
            text, key = texts[row], self._fuzzy_keys[column]
            if text != key and (key.endswith(text) or text.endswith(key)):
                scores[row, column] = 0.0
        return scores


def _shared(
    query: QueryWords, at: int, size: int, kind: SignalKind, bearers: Sequence[int], sure: bool
) -> list[NameMatch]:
    """Return a match for each bearer of a part of a name: the only one is named outright."""
    written = query.text[query.words[at].start : query.words[at + size - 1].end]
    start, end = query.take(at, size)
    alone = len(bearers) == 1
    score = (1.0 if alone else AMBIGUOUS) if sure else HINT
    signal = Signal(kind, score, written, ambiguous=not alone)
    return [NameMatch(bearer, signal, start, end, sure and alone) for bearer in bearers]


def _shouted(word: Word) -> bool:
    return len(word.text) > 1 and word.text.isupper()


def _is_other_acronym(name: str, written: str) -> bool:
    short = len(name) <= 3 and name.isupper()
    return short and fold(name) == fold(written) and name != written

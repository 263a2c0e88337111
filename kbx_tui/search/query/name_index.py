"""The names of one generation: those of entities, also misspelt, and those of documents.

The names of all n-grams of a query are found by one lookup.

    P(name) = (documents that use it as a name + p) / (documents that use it + 1)

Counted at indexing (`knowledge/entity_names`); p is what English says of a word that no
document uses. Between the two limits the base does not decide, and the query alone does
(`name_matching`). Source: the posterior mean of a beta-binomial model with one pseudo-count.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Prefix

from kbx_tui.formatting import format_percent
from kbx_tui.index.arrays import Hashes
from kbx_tui.index.snapshot import EntityPages, NameVotes
from kbx_tui.index.stored_names import (
    SIMILAR,
    StoredNames,
    Words,
    hash_after,
    signature,
    similar_lengths,
    word_hash,
)
from kbx_tui.index.stored_records import (
    EXTRA,
    KINDS,
    DocumentSegment,
    EntityColumn,
    item_key,
    key_hash,
    key_hashes,
)
from kbx_tui.index.text_columns import TextColumn
from kbx_tui.knowledge.entity_names import is_common_word
from kbx_tui.knowledge.folding import (
    ENGLISH,
    WORD,
    fold,
    folded_words,
    language_by_script,
    name_key,
    romanizations,
    stem,
)
from kbx_tui.search.evidence.evidence import SignalKind
from kbx_tui.search.query.query_words import NAMES_THAT_ARE_WORDS

MOST_NAMESAKES = 1000
"""Entities with the same name that are looked at, the first by id: 20 are shown at most."""

_KINDS: tuple[SignalKind, ...] = ("name", "alias")
"""The kind of a name by the number stored with it."""


@dataclass(frozen=True, slots=True)
class IndexedName:
    entity: int
    kind: SignalKind
    text: str


@dataclass(frozen=True, slots=True)
class FoundNames:
    full: dict[Words, list[IndexedName]] = field(default_factory=dict)
    first_names: dict[str, list[int]] = field(default_factory=dict)
    surnames: dict[Words, list[int]] = field(default_factory=dict)
    initials: dict[int, str] = field(default_factory=dict)
    """First letters of the given names of `surnames`."""


class NameIndex:
    def __init__(self, stored: StoredNames) -> None:
        self._stored = stored
        self._texts = TextColumn([stored.full_texts])
        self._initials = TextColumn([stored.initials])
        self._longest = int(stored.most_words.max())

    def find(self, words: Sequence[str]) -> FoundNames:
        stored, found = self._stored, FoundNames()
        ranges, hashes = _n_grams(words, self._longest)
        for number, start, end in _places(stored.full.hashes, hashes):
            part = slice(start, min(end, start + MOST_NAMESAKES))
            entities, kinds = stored.full.numbers[part].tolist(), stored.full_kinds[part].tolist()
            texts = map(self._texts.__getitem__, range(part.start, part.stop))
            found.full[ranges[number]] = [
                IndexedName(entity, _KINDS[kind], text)
                for entity, kind, text in zip(entities, kinds, texts, strict=True)
            ]
        for number, start, end in _places(stored.surnames.hashes, hashes):
            people = stored.surnames.numbers[start:end].tolist()
            found.surnames[ranges[number]] = people
            found.initials.update(zip(people, self._initials[start:end], strict=True))
        for number, start, end in _places(stored.first_names.hashes, hashes):
            people = stored.first_names.numbers[start : min(end, start + MOST_NAMESAKES)].tolist()
            found.first_names[ranges[number][0]] = people
        return found

    def are_in_roles(self, words: Sequence[str]) -> Sequence[bool]:
        """Return for each folded word whether a role or team holds it, or another form of it."""
        hashes = np.array([word_hash(stem(word)) for word in words], np.uint64)
        found = {number for number, _, _ in _places(self._stored.stems.hashes, hashes)}
        return [number in found for number in range(len(words))]

    def role_holders(self, role: Words) -> list[int]:
        stored = self._stored
        found = stored.roles.find(key_hash(" ".join(role)))
        return [
            holder
            for text in found
            for holder in stored.holders[slice(*stored.holder_starts[text : text + 2])].tolist()
        ]


def lengths_of(names: Iterable[Words]) -> list[int]:
    return sorted({*map(len, names)}, reverse=True)


def _n_grams(words: Sequence[str], longest: int) -> tuple[list[Words], Hashes]:
    found: dict[Words, int] = {}
    hashes = list(map(word_hash, words))
    for first in range(len(words)):
        so_far = 0
        for end, hashed in enumerate(hashes[first : first + longest], first + 1):
            so_far = hash_after(so_far, hashed)
            found[tuple(words[first:end])] = so_far
    return list(found), np.array(list(found.values()), np.uint64)


def _places(hashes: Hashes, wanted: Hashes) -> Iterator[tuple[int, int, int]]:
    """Yield the index of each wanted hash found in ascending ones, with its start and end."""
    if not len(hashes):
        return
    starts = hashes.searchsorted(wanted)
    is_there: NDArray[Any] = hashes[np.minimum(starts, len(hashes) - 1)] == wanted
    for number in np.flatnonzero(is_there).tolist():
        yield number, int(starts[number]), int(hashes.searchsorted(wanted[number], "right"))


NAME_FROM, WORD_UP_TO = 0.8, 0.3
"""P(name) from which a word is a name, and up to which it is not. Chosen by the experiment "names
and words" in docs/quality.md."""

SEVERAL = 2.0
"""Documents that show a word to be ordinary; a single one may write names in small letters."""
NAME_OF_WORD_FROM, LIKELIER = 0.9, 0.5
"""P(name) from which a word that several documents use as one is a name all the same, and below
which it is a word. Chosen by the same experiment."""

UNCOMMON, COMMON = 0.7, 0.3
"""P(name) of a word that no document uses, if it is not an ordinary English word and if it is. So
one document makes a name of the first (.85), and it takes three to make one of the second (.83)."""

_UNUSED = NameVotes(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class NamePriors:
    votes: Mapping[str, NameVotes]

    def probability(self, word: str) -> float:
        prior = COMMON if is_common_word(word) or word in NAMES_THAT_ARE_WORDS else UNCOMMON
        votes = self.votes.get(word, _UNUSED)
        return (votes.as_name + prior) / (votes.as_name + votes.as_word + 1.0)

    def _is_used_as_word(self, word: str) -> bool:
        return self.votes.get(word, _UNUSED).as_word >= SEVERAL

    def is_name(self, word: str) -> bool:
        limit = NAME_OF_WORD_FROM if self._is_used_as_word(word) else NAME_FROM
        return self.probability(word) >= limit

    def is_word(self, word: str) -> bool:
        probability = self.probability(word)
        is_likelier = probability < LIKELIER and self._is_used_as_word(word)
        return word in self.votes and (is_likelier or probability <= WORD_UP_TO)

    def is_likelier_word(self, word: str) -> bool:
        return self.probability(word) < LIKELIER if word in self.votes else is_common_word(word)

    def may_be_word(self, word: str) -> bool:
        """Return whether a word may be an ordinary one although it is likelier a name."""
        is_used = self._is_used_as_word(word) and not self.is_name(word)
        return is_used or self.is_likelier_word(word)

    def explain(self, word: str) -> str:
        """Return what the base says of a word, for display: `a word here, 97 %`; or nothing."""
        probability = self.probability(word)
        if self.is_name(word):
            return f"a name here, {format_percent(probability)}"
        if self.is_word(word):
            return f"a word here, {format_percent(1.0 - probability)}"
        return ""


class MisspeltNames:
    def __init__(self, entities: EntityColumn, names: StoredNames) -> None:
        self._entities, self._names = entities, names
        self._keys = TextColumn([names.keys])

    def find(self, texts: Sequence[str]) -> Iterator[tuple[int, float, list[tuple[int, str]]]]:
        """Yield the texts that are similar to a name, by index, the most similar first.

        With each come the similarity, 0..100, and the names most similar to it: the entity, by
        index, and the name. Texts are folded words written as one, of `SHORTEST_TO_COMPARE` letters
        or more. A text that ends with a name, or is the end of one, does not count as misspelt: of
        `dkuchemann`, which is D. Kuchemann, the surname is looked for by itself.
        """
        found = [(number, *self._most_similar(text)) for number, text in enumerate(texts)]
        for number, best, entities in sorted(found, key=lambda each: -each[1]):
            if best:
                yield number, best, [(each, self._entities[each].name) for each in entities]

    def _most_similar(self, text: str) -> tuple[float, list[int]]:
        names, (shortest, longest, most) = self._names, similar_lengths(len(text))
        lengths = np.minimum((shortest, longest + 1), len(names.key_starts) - 1)
        first, end = names.key_starts[lengths].tolist()
        differing = np.bitwise_count(names.key_signatures[first:end] ^ np.uint64(signature(text)))
        numbers = (first + np.flatnonzero(differing <= most)).tolist()
        keys = list(map(self._keys.__getitem__, numbers))
        best, entities = 0.0, list[int]()
        for key, similarity, place in process.extract(
            text, keys, scorer=fuzz.ratio, score_cutoff=SIMILAR, limit=None
        ):
            if key != text and (key.endswith(text) or text.endswith(key)):
                continue
            if similarity < best:
                break
            best = similarity
            entities.append(int(names.key_entities[numbers[place]]))
        return best, sorted(entities)


MOST_ENTITIES = 10_000
"""Entities of a base whose names are all read, once; in a larger one no part is looked for."""


class MisspeltParts:
    def __init__(self, entities: EntityColumn) -> None:
        self._entities = entities

    def most_similar(self, word: str) -> tuple[float, list[int]]:
        """Return the similarity, 0..100, and the people with the part most similar to a word.

        There are none if no part is similar, or if the word itself is one: it is not misspelt.
        """
        if word in self._holders:
            return 0.0, []
        best = process.extractOne(
            word, self._holders.keys(), scorer=fuzz.ratio, score_cutoff=SIMILAR
        )
        return (0.0, []) if best is None else (best[1], self._holders[best[0]])

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        holders: dict[str, list[int]] = defaultdict(list)
        people = enumerate(self._entities.types)
        for number, kind in people if len(self._entities) <= MOST_ENTITIES else ():
            names = self._entities[number].name.split() if kind == "person" else []
            for part in {"".join(folded_words(name)) for name in (*names[:1], *names[-1:])}:
                holders[part].append(number)
        return dict(holders)


SHORTEST_INFLECTED, LONGEST_ENDING = 4, 2
"""Letters of the shortest form of a name, and of the longest ending that another form replaces."""


class InflectedNames:
    """Finds the word of a name that a word is a form of: `маяка` of Маяк, `schmidts` of Schmidt.

    In Cyrillic and Greek letters the language is known, elsewhere it is that of most documents.
    English has no such forms: `'s` is not a part of a word. A word may also be a Cyrillic name in
    Latin letters, or the other way round: `zhukova` of Жукова.
    """

    def __init__(
        self, entities: EntityColumn, language: str, is_held: Callable[[str], bool]
    ) -> None:
        self._entities, self._language, self._is_held = entities, language, is_held
        self._words_by_form: dict[str, Mapping[str, Sequence[str]]] = {}

    def base_form(self, written: str) -> str:
        """Return the folded word of a name whose form a word is, else the word itself, folded.

        A word that is that of a name, or a form of several equally well, stays as it is. So does
        one that documents hold or English often uses, if only its letters would be others.
        """
        word = fold(written)
        if len(word) < SHORTEST_INFLECTED or word in self._words:
            return word
        script = ENGLISH if word.isascii() else language_by_script((word,))
        by_spelling = self._by_spelling(in_cyrillic=not _is_cyrillic(word))
        spelt = list({name for key in romanizations(written) for name in by_spelling.get(key, ())})
        if len(spelt) == 1 and not (is_common_word(word) or self._is_held(word)):
            return spelt[0]
        language = script if script != ENGLISH else self._language
        if language == ENGLISH:
            return word
        by_stem = self._by_stem(language)
        similar = {name for each in _stems(word, language) for name in by_stem.get(each, ())}
        shared = {name: Prefix.similarity(name, word) for name in similar}
        forms = [
            name
            for name, letters in shared.items()
            if letters >= len(name) - LONGEST_ENDING and len(word) >= len(name) - 1
        ]
        best = [name for name in forms if shared[name] == max(shared[each] for each in forms)]
        return best[0] if len(best) == 1 else word

    @cached_property
    def _words(self) -> Mapping[str, str]:
        """The words of all names as written, by folded word."""
        entities = self._entities if len(self._entities) <= MOST_ENTITIES else ()
        names = (name for entity in entities for name in (entity.name, *entity.aliases))
        return {fold(word): word for name in names for word in WORD.findall(name)}

    def _by_stem(self, language: str) -> Mapping[str, Sequence[str]]:
        return self._words_by(language, lambda word: _stems(word, language))

    def _by_spelling(self, *, in_cyrillic: bool) -> Mapping[str, Sequence[str]]:
        return self._words_by(
            f"romanized {in_cyrillic}",
            lambda word: (
                romanizations(self._words[word]) if _is_cyrillic(word) == in_cyrillic else ()
            ),
        )

    def _words_by(
        self, key: str, forms: Callable[[str], Iterable[str]]
    ) -> Mapping[str, Sequence[str]]:
        if key not in self._words_by_form:
            found: dict[str, list[str]] = defaultdict(list)
            for word in self._words:
                for form in forms(word):
                    found[form].append(word)
            self._words_by_form[key] = found
        return self._words_by_form[key]


def _is_cyrillic(word: str) -> bool:
    return "\u0400" <= word[0] <= "\u04ff"


_UKRAINIAN_DATIVE = re.compile("(?<=..)[оеє]ві\\Z")


def _stems(word: str, language: str) -> set[str]:
    """Return the stem of a word, and the stem of that: `петров` has the ending of an adjective.

    The stemmer of Cyrillic words is that of Russian, which has no dative such as `петрові`.
    """
    first = stem(_UKRAINIAN_DATIVE.sub("", word), language)
    return {first, stem(first, language)}


ID = KINDS.index("id")

LONGEST_TITLE = 8


class KnownItems:
    def __init__(self, segments: Sequence[DocumentSegment], pages: EntityPages) -> None:
        self._segments, self._pages = segments, pages

    def find(self, text: str) -> list[tuple[int, str]]:
        """Return the rows that `text` names in full, each with `path`, `id`, `title` or `date`."""
        key, words = item_key(text), name_key(text)
        keys = (key, key.removesuffix(".md"), words if " " in words else "")
        found = (self._with_key(each) for each in dict.fromkeys(filter(None, keys)))
        return next(filter(None, found), [])

    def titles_in(
        self, words: Sequence[str], telling: Sequence[bool]
    ) -> Iterator[tuple[int, int, int]]:
        """Yield the runs of folded words that are the title of one document: start, end, its row.

        Longest first, and only those with two telling words. Titles that several documents share
        are left out: they name a series.
        """
        before = list(accumulate(telling, initial=0))
        runs = {
            (start, start + size): " ".join(words[start : start + size])
            for size in range(min(len(words), LONGEST_TITLE), 1, -1)
            for start in range(len(words) - size + 1)
            if before[start + size] - before[start] > 1
        }
        hashes = key_hashes(runs.values())
        columns = [segment.documents.by_key.hashes for segment in self._segments]
        known = {number for column in columns for number, _, _ in _places(column, hashes)}
        for number, ((start, end), key) in enumerate(runs.items()) if known else ():
            rows = [
                row
                for segment in (self._segments if number in known else ())
                for kind, document in segment.documents.items(key)
                if KINDS[kind] == "title" and (row := int(segment.rows[document])) >= 0
            ]
            if len(rows) == 1:
                yield start, end, rows[0]

    def _with_key(self, key: str) -> list[tuple[int, str]]:
        found = [(ID, row, ID) for row in self._pages.with_id_key(key)]
        for segment in self._segments:
            for number, document in segment.documents.items(key):
                row = int(segment.rows[document])
                if row >= 0 and not (number == ID and row in self._pages):
                    found.append((min(number, EXTRA), row, number))
        return [(row, KINDS[number]) for _, row, number in sorted(found)]

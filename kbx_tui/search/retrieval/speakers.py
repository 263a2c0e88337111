"""Whose turns a query asks for, in which documents that person speaks, and the turn that answers.

A query asks what someone said by a filter, `said:@dana`, or in words: `what did Dana say about
pricing`, `why does Dana object`, `Dana's view of discounts`, `according to Dana`. A turn answers it
by the words that it holds, and less by those of the turn before, as an answer repeats little of the
question:

    answered = sum of the weights of the words asked, times 1 or .7 / sum of all weights
    factor   = .5 + .5 * answered for a document in which the person speaks, else .3

The factors lower the scores of documents, so nothing changes where nobody is asked for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.tables import attendees_from
from kbx_tui.knowledge.entity_names import is_common_word
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.records import Entity
from kbx_tui.knowledge.turns import Turn, turns_of
from kbx_tui.search.evidence.evidence import AskedSpeaker
from kbx_tui.search.evidence.scores import Rows
from kbx_tui.search.lru_cache import LruCache
from kbx_tui.search.name_lookup import EntityNames
from kbx_tui.search.query.query_terms import NameMatch
from kbx_tui.search.query.query_words import OPINIONS, SAYING, STANCES, VERB_FOLLOWS, QueryWords
from kbx_tui.search.results.text_words import OffsetsOf, TextWords

UNSPOKEN = 0.5
"""Factor of a document in which the person says nothing of what is asked."""
BEFORE = 0.7
"""What a word of the turn before counts."""
TURNS_READ = 50
"""Documents whose turns are read to rank them, those with the highest BM25."""
HEARD_AT_MOST = 500_000
"""Characters of a transcript in which turns are looked for: about ten hours."""
TURNS_KEPT = 4 * TURNS_READ
"""Documents whose turns are kept, those read last."""
ACCORDING_TO = frozenset({("according", "to"), ("going", "by"), ("words", "of")})
_PLAIN = frozenset(("do", "does", "did"))
"""Auxiliaries of what is or was done: `what did Dana build` asks for what she did."""
_ASKING = SAYING | OPINIONS | STANCES | VERB_FOLLOWS | {first for first, _ in ACCORDING_TO}
DIGITS = 6
NAMES_KEPT = 64
"""Names asked for whose labels are kept."""


class SpokenPassage(NamedTuple):
    answered: float
    """0..1."""
    words: int
    """How many of its words are asked for."""
    turn: Turn


class Speakers:
    """Who speaks in the documents of one generation. A label is a name as a transcript has it."""

    def __init__(self, snapshot: Snapshot, entities: EntityNames) -> None:
        self._snapshot, self._entities = snapshot, entities
        self._meant: dict[str, tuple[Entity, ...]] = {}
        self._labels: LruCache[str, Mapping[int, frozenset[str]]] = LruCache(NAMES_KEPT)
        self._turns = LruCache[int, Sequence[Turn]](TURNS_KEPT)

    @cached_property
    def _rows_of(self) -> Mapping[str, Sequence[int]]:
        """The rows in which someone with a label speaks, by the key of the label."""
        rows: dict[str, list[int]] = defaultdict(list)
        for row, speakers in enumerate(self._snapshot.speakers):
            for speaker in speakers:
                rows[name_key(speaker)].append(row)
        return rows

    @cached_property
    def _with_word(self) -> Mapping[str, Sequence[str]]:
        """The keys of the labels that hold a word."""
        labels: dict[str, list[str]] = defaultdict(list)
        for key in self._rows_of:
            for word in {*key.split()}:
                labels[word].append(key)
        return labels

    @cached_property
    def names(self) -> Mapping[str, int]:
        """The labels as written, and in how many documents each speaks, the most first."""
        counts = Counter(chain.from_iterable(self._snapshot.speakers))
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def labelled(self, label: str) -> Sequence[int]:
        """Return the rows in which someone speaks under a label."""
        return self._rows_of.get(name_key(label), ())

    def rows(self, name: str) -> Rows:
        return np.array(sorted(self.labels(name)), np.int64)

    def labels(self, name: str) -> Mapping[int, frozenset[str]]:
        """Return the keys of the labels that a name means, by the row of each document.

        A person of the base speaks under any of their names, also with initials; under a part of
        it, such as the first, where nobody else has it, or where this person alone is linked to the
        document. Without such a person, those are meant whose label has all words of the name.
        """
        if (found := self._labels.get(name)) is None:
            people = [each for each in self._entities.named(name) if each.type == "person"]
            words = {*name_key(name).split()}
            names = (text for each in people for text in (each.name, *each.aliases))
            own = {word for text in names for word in name_key(text).split()}
            by_row: dict[int, set[str]] = defaultdict(set)
            for key in {key for word in words | own for key in self._with_word.get(word, ())}:
                for row in self._rows_meant(key, people, words, own):
                    by_row[row].add(key)
            found = {row: frozenset(keys) for row, keys in by_row.items()}
            self._labels.put(name, found)
        return found

    def _rows_meant(
        self, key: str, people: Sequence[Entity], words: Set[str], own: Set[str]
    ) -> Sequence[int]:
        """Return the rows in which a label means a name of these words.

        `own` are the words of all names of the `people` with that name.
        """
        rows, label = self._rows_of[key], {*key.split()}
        if own.isdisjoint(label):
            return rows if words <= label and not self._people(key) else ()
        namesakes = self._people(key)
        wanted = {each.id for each in people}
        if not wanted.intersection(each.id for each in namesakes):
            return ()
        others = [each for each in namesakes if each.id not in wanted]
        if not others:
            return rows
        is_here = set().union(*map(self._linked, people))
        is_other = set().union(*map(self._linked, others))
        return [row for row in rows if row in is_here and row not in is_other]

    def _people(self, key: str) -> tuple[Entity, ...]:
        if key not in self._meant:
            named = self._entities.named(key) or self._abbreviated(key)
            self._meant[key] = tuple(each for each in named if each.type == "person")
        return self._meant[key]

    def _abbreviated(self, key: str) -> Sequence[Entity]:
        """Return who is called by a label with initials, `Anna K.` or `A. Kowalczyk`."""
        initials = [word for word in key.split() if len(word) == 1]
        words = {*key.split()}.difference(initials)
        if not (words and initials):
            return ()
        return [
            each
            for each in self._entities.named(" ".join(words))
            if any(
                words <= (own := {*name_key(name).split()})
                and all(any(word.startswith(letter) for word in own - words) for letter in initials)
                for name in (each.name, *each.aliases)
            )
        ]

    def _linked(self, person: Entity) -> set[int]:
        links = self._snapshot.links.get(person.id)
        return set() if links is None else set(links.rows.tolist())

    def asked(self, query: QueryWords, names: Sequence[NameMatch]) -> AskedSpeaker | None:
        """Return who is asked for what they said; None for nobody, or for who never speaks."""
        if _ASKING.isdisjoint(query.folded) or not self._rows_of:  # as in most searches
            return None
        for name, start, size in self._people_in(query, names):
            verb = _verb_of_saying(query, start, size)
            if verb is not None and self.labels(name):
                return _asked(query, name, start, size, verb)
        for start, size in query.ranges((3, 2, 1)):
            words = query.folded[start : start + size]
            labels = self._with_word.get(words[0], ())
            if not any(f"{label} ".startswith(f"{' '.join(words)} ") for label in labels):
                continue
            is_word = is_common_word(words[0]) and query.words[start].text.islower()
            verb = None if is_word else _verb_of_saying(query, start, size)
            if verb is not None:
                return _asked(query, " ".join(words), start, size, verb)
        return None

    def shown(self, name: str) -> str:
        """Return how someone is called: the name of a person, or the label of a speaker."""
        entities = [each.name for each in self._entities.named(name) if each.type == "person"]
        key = name_key(name)
        labels = (label for label in self.names if name_key(label).startswith(key))
        return next(iter(entities), "") or next(labels, name)

    def turns(self, row: int, text: str) -> Sequence[Turn]:
        """Return the turns in the text that is read of a document, from a cache if it can."""
        if (found := self._turns.get(row)) is None:
            attendees = attendees_from(self._snapshot.attendees[row])
            found = self._turns.put(row, turns_of(text, [each.name for each in attendees]))
        return found

    def _people_in(
        self, query: QueryWords, names: Sequence[NameMatch]
    ) -> Iterator[tuple[str, int, int]]:
        """Yield the ids of the people named, each with its first word and number of words."""
        for match in names:
            entity = self._snapshot.entities[match.entity]
            if match.named and entity.type == "person":
                starts = [word.start for word in query.words]
                first = bisect_left(starts, match.start)
                yield entity.id, first, bisect_left(starts, match.end) - first


def _asked(query: QueryWords, name: str, start: int, size: int, verb: int) -> AskedSpeaker:
    left_out = {*range(start, start + size)}
    if query.folded[verb] in SAYING | OPINIONS | STANCES:  # else it is asked: `what would Dana cut`
        left_out.add(verb)
    rest = [word.text for at, word in enumerate(query.words) if at not in left_out]
    return AskedSpeaker((name,), "", " ".join(rest))


def _verb_of_saying(query: QueryWords, start: int, size: int) -> int | None:
    """Return the place of the word by which a query asks what the person named there said.

    It is a verb of saying beside the name, `did Dana reckon`, any in a question for reasons or
    intentions, `why did Dana leave`, `how would Dana raise the fee`, or what the person has or is:
    `Dana's view`, `is Dana against`. None if the query asks for something else, such as what
    someone did.
    """
    end, last = start + size, start + size - 1
    if query.is_possessive(last):
        noun = end + 1  # after the s
        return noun if query.after(noun) in OPINIONS else None
    after, before = query.after(end), query.before(start)
    asks_why = query.folded[0] == "why" or before not in _PLAIN
    is_stance = before in ("is", "was") and after in STANCES
    if after in SAYING or is_stance or (after and before in VERB_FOLLOWS and asks_why):
        return end
    if before in SAYING or tuple(query.folded[max(start - 2, 0) : start]) in ACCORDING_TO:
        return start - 1
    return None


def best_turn(
    text: str,
    turns: Sequence[Turn],
    labels: Collection[str],
    words: Mapping[str, float],
    language: str,
    offsets_of: OffsetsOf | None,
    *,
    always: bool,
) -> SpokenPassage | None:
    """Return the turn under one of `labels` that answers best.

    Of equal ones it is that with the most words asked for, else the first. `words` are the weights
    of their stems. None if nobody speaks under these labels, or, unless `always`, if only
    other text has such words.
    """
    starts = [turn.start for turn in turns]
    said: dict[int, Counter[str]] = defaultdict(Counter)
    matches = TextWords(text, words, language, offsets_of).find(words)
    for begin, _, stem in matches:
        at = bisect_right(starts, begin) - 1
        if at >= 0 and begin < turns[at].end:
            said[at][stem] += 1
    total, best, nothing = sum(words.values()) or 1.0, None, Counter[str]()
    asked = {each for each in {turn.speaker for turn in turns} if name_key(each) in labels}
    for at, turn in enumerate(turns):
        if turn.speaker not in asked:
            continue
        here, before = said.get(at, nothing), said.get(at - 1, nothing)
        weights = (
            weight * (1.0 if stem in here else BEFORE)
            for stem, weight in words.items()
            if stem in here or stem in before
        )
        passage = SpokenPassage(round(sum(weights) / total, DIGITS), here.total(), turn)
        if best is None or passage[:2] > best[:2]:
            best = passage
    starts_of_lines = (text.rfind("\n", 0, begin) + 1 for begin, *_ in matches)
    is_said = any(text[start] != "#" for start in starts_of_lines)  # not only by a heading
    return best if best is None or best.answered or always or not is_said else None

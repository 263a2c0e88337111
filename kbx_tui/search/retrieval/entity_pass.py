"""Pass 1: from a query to candidate entities with scores, 0..1, and to the documents of each.

    entity_score = best + (1 - best) * 0.25 * second

with the two strongest signals of an entity. A name or alias in the query scores 1.0. Weak signals
(team, facts, vector of the profile, some words of a role, a name that may be an ordinary word) stay
below the default threshold of .5 however many there are: a pure topic must not start the second
pass. Entities that share an ambiguous name score the same and are ordered by their other signals.

Documents are linked to an entity with a strength, 0..1, and a reason for display.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, combinations, pairwise
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import ascending
from kbx_tui.index.lexical.bm25 import K1, B
from kbx_tui.index.lexical.postings import term_of, words_in
from kbx_tui.index.snapshot import LINK_KINDS, EntityLinks, Snapshot
from kbx_tui.index.stored_names import StoredNames
from kbx_tui.index.stored_records import EntityColumn, StoredFacts, key_hash
from kbx_tui.index.tables import attendees_from
from kbx_tui.index.text_columns import CodedColumn, TextColumn
from kbx_tui.knowledge.continuation_titles import continuation_pairs
from kbx_tui.knowledge.entity_names import EntityResolver
from kbx_tui.knowledge.fields import TAG
from kbx_tui.knowledge.folding import ENGLISH, folded_words, stem
from kbx_tui.knowledge.records import Attendee, Entity
from kbx_tui.search.evidence import scores as normalization
from kbx_tui.search.evidence.evidence import EntityCandidate, Signal, SignalKind
from kbx_tui.search.evidence.scores import (
    Continuations,
    LinkedDocuments,
    Rows,
    Scores,
    frozen,
    highest,
)
from kbx_tui.search.query.name_matching import NameMatcher, TextsWith
from kbx_tui.search.query.query_terms import NameMatch, query_terms
from kbx_tui.search.query.query_words import ARTICLES, ASKING_WHO, FUNCTION_WORDS
from kbx_tui.search.request import MAX_ENTITIES_LIMIT

SECOND_SIGNAL = 0.25
HINTS_AT_MOST = 0.49
"""Highest score without a strong signal. Chosen by the experiment "limit of weak entity signals" in
docs/quality.md."""
FACT_WEIGHT, FACT_HALF = 0.48, 5.0
MEANING_WEIGHT, MEANING_FLOOR = 0.5, 0.2
"""Weight of a cosine with a profile, and the lowest that counts. Chosen by the experiment "entity
cosines" in docs/quality.md."""

FoundSignal = tuple[int, Signal]

_STRENGTH = attrgetter("score")


class EntityPass:
    """Pass 1 over the entities of one generation. Pure: facts and cosines are arguments."""

    def __init__(
        self, snapshot: Snapshot, texts_with: TextsWith = lambda *_: 0, language: str = ENGLISH
    ) -> None:
        """`language` is the one that most documents are in."""
        self._entities, names = snapshot.entities, snapshot.names
        self.names = NameMatcher(snapshot.entities, names, snapshot.name_uses, texts_with, language)
        self.roles = RoleIndex(snapshot.entities, snapshot.names)

    def find(
        self,
        query: str,
        matches: Sequence[NameMatch],
        facts: Sequence[FoundSignal],
        nearest: Callable[[], tuple[NDArray[np.int64], NDArray[np.float32]]] | None,
    ) -> tuple[EntityCandidate, ...]:
        """Return the entities that a query concerns, best first, at most 20.

        `matches` are those of `names`, `facts` what `FactIndex` found. `nearest`, None without
        vectors, returns the entities whose profiles are nearest to the query, at least 20 where
        there are as many, and their cosines; it is called last because the embedding may not be
        ready.
        """
        signals: dict[int, dict[SignalKind, Signal]] = defaultdict(dict)
        named = [(match.entity, match.signal) for match in matches]
        roles = self.roles.matching(query)
        others = list(facts)
        if nearest is not None:
            others += _meaning_signals(*nearest())
        found = [number for number, _ in (*named, *others)]
        for number, signal in (*named, *self.roles.signals(roles, found), *others):
            best = signals[number].setdefault(signal.kind, signal)
            if signal.score > best.score:
                signals[number][signal.kind] = signal
        outright = {match.entity for match in matches if match.named}
        return tuple(
            _candidate(self._entities[number], -score, number in outright, strongest_first)
            for score, _, number, strongest_first in _best(signals)
        )


def _best(
    signals: Mapping[int, Mapping[SignalKind, Signal]],
) -> list[tuple[float, float, int, list[Signal]]]:
    """Return the best 20 entities: minus score and support, number, strongest signals."""
    scored = []
    for number, kinds in signals.items():
        strongest_first = sorted(kinds.values(), key=_STRENGTH, reverse=True)
        support = strongest_first[1].score if len(strongest_first) > 1 else 0.0
        scored.append((-_merged(strongest_first[0], support), -support, number, strongest_first))
    scored.sort()  # by the first three, as numbers differ
    return scored[:MAX_ENTITIES_LIMIT]


def with_pinned(
    candidates: tuple[EntityCandidate, ...], pinned: Sequence[Entity]
) -> tuple[EntityCandidate, ...]:
    ids = {candidate.id for candidate in candidates}
    added = {entity.id: entity for entity in pinned if entity.id not in ids}
    return (*candidates, *map(_candidate, added.values()))


def _candidate(
    e: Entity, score: float = 0.0, named: bool = False, signals: Sequence[Signal] = ()
) -> EntityCandidate:
    return EntityCandidate(e.id, e.name, e.type, e.path, score, named, tuple(signals))


def _merged(strongest: Signal, support: float) -> float:
    best = strongest.score
    if strongest.ambiguous:
        return best
    merged = best + (1.0 - best) * SECOND_SIGNAL * support
    return merged if best > HINTS_AT_MOST else min(merged, HINTS_AT_MOST)


def _meaning_signals(
    entities: NDArray[np.int64], cosines: NDArray[np.float32]
) -> list[FoundSignal]:
    best = np.argsort(-cosines, kind="stable")[:MAX_ENTITIES_LIMIT]
    return [
        (number, Signal("meaning", MEANING_WEIGHT * cosine, f"cosine {cosine:.2f}"))
        for number, cosine in zip(entities[best].tolist(), cosines[best].tolist(), strict=True)
        if cosine >= MEANING_FLOOR
    ]


ASKED_ROLE, PART_OF_ROLE = 0.7, 0.4
"""Score of the role in `who is the beekeeper?`, and the highest of one with words of another query.
Only the first opens the second pass: documents about the prime minister are not those that this
person attended."""
MOST_WORDS_OF_ROLE = 8
"""Words of a role of which a query may have the initials; a longer one is a sentence."""
MOST_HOLDERS = 1000
"""Entities with a role that is asked for whose pages are listed, the first by id."""


class RoleIndex:
    def __init__(self, entities: EntityColumn, names: StoredNames) -> None:
        self._names = names
        self._roles, self._teams = entities.stored.roles, entities.stored.teams
        self._words: dict[int, int] = {}

    def holders_asked_for(self, query: str) -> list[int]:
        words = folded_words(query)
        asked = self._asked_for(_who_is_asked_for(words) or " ".join(words))
        holders = map(self._holders, asked)
        return sorted(chain.from_iterable(each[:MOST_HOLDERS].tolist() for each in holders))

    def matching(self, query: str) -> Mapping[int, float]:
        """Return the roles and teams that share words with a query, by number, and their scores."""
        counts: Counter[int] = Counter()
        stems = {*map(stem, folded_words(query))} - FUNCTION_WORDS
        for each in stems:
            counts.update(self._names.stems.find(key_hash(each)))
        if not counts:
            return {}
        asked = self._asked_for(_who_is_asked_for(folded_words(query)))
        return {text: self._score(text, matched, asked) for text, matched in sorted(counts.items())}

    def _score(self, text: int, matched: int, asked: Sequence[int]) -> float:
        if text in asked:
            return ASKED_ROLE
        if (total := self._words.get(text)) is None:
            total = self._words[text] = self._word_count(text)
        return PART_OF_ROLE * matched / total

    def signals(self, scores: Mapping[int, float], found: Iterable[int]) -> Iterator[FoundSignal]:
        """Yield entities with the signals of their role and team, given their `scores`.

        These are all entities `found` by other signals, and the best by role and team alone.
        """
        if not scores:
            return
        split = len(self._roles.values)
        by_text = np.zeros(split + len(self._teams.values))
        by_text[list(scores)] = list(scores.values())
        numbers = ascending(np.concatenate([*map(self._holders, scores), [*found]])).astype(
            np.int64
        )
        kinds: tuple[tuple[SignalKind, CodedColumn, Scores], ...] = (
            ("role", self._roles, by_text[:split][self._roles.codes[numbers]]),
            ("team", self._teams, by_text[split:][self._teams.codes[numbers]]),
        )
        one, other = (of_each for _, _, of_each in kinds)
        best, support = np.maximum(one, other), np.minimum(one, other)
        merged = best + (1.0 - best) * SECOND_SIGNAL * support
        kept = np.isin(numbers, [*found])
        kept[highest(merged, np.arange(len(numbers)), MAX_ENTITIES_LIMIT)] = True
        for kind, column, of_each in kinds:
            signals: dict[int, Signal] = {}  # many entities have the same
            rows = np.flatnonzero(kept & (of_each > 0.0))
            codes = column.codes[numbers[rows]]
            for number, code, score in zip(
                numbers[rows].tolist(), codes.tolist(), of_each[rows].tolist(), strict=True
            ):
                if code not in signals:
                    signals[code] = Signal(kind, score, column.values[code])
                yield number, signals[code]

    def spelled_out(self, initials: str) -> str:
        """Return the folded words of a role that have these initials, or nothing: `cto`, `dpo`."""
        return self._spelled_out.get(initials, "")

    @cached_property
    def _spelled_out(self) -> Mapping[str, str]:
        """Two or more words of a role by their initials, unless others have the same."""
        found: dict[str, str] = {}
        for role in self._roles.values:
            words = [word for word in folded_words(role) if word not in FUNCTION_WORDS]
            if len(words) > MOST_WORDS_OF_ROLE:
                continue
            for start, end in combinations(range(len(words) + 1), 2):
                if end < start + 2:
                    continue
                meant = " ".join(words[start:end])
                is_officer = words[start] == "chief" and end == len(words)  # as in `ceo`
                for last in ("", "o") if is_officer else ("",):
                    initials = "".join(word[0] for word in words[start:end]) + last
                    found[initials] = meant if found.get(initials, meant) == meant else ""
        return found

    def _asked_for(self, asked: str) -> list[int]:
        return [
            text
            for role in {asked, asked.removesuffix("s")} - {""}
            for text in self._names.roles.find(key_hash(role))
        ]

    def _holders(self, text: int) -> NDArray[np.int32]:
        start, end = self._names.holder_starts[text : text + 2].tolist()
        return self._names.holders[start:end]

    def _word_count(self, text: int) -> int:
        roles = self._roles.values
        words = roles[text] if text < len(roles) else self._teams.values[text - len(roles)]
        return len({*map(stem, folded_words(words))} - FUNCTION_WORDS)


def _who_is_asked_for(words: Sequence[str]) -> str:
    if tuple(words[:2]) not in ASKING_WHO:
        return ""
    rest = words[2:]
    return " ".join(rest[1:] if rest and rest[0] in ARTICLES else rest)


FACTS_LIMIT = 50


class FactIndex:
    """The facts of one generation. Inactive ones only contribute to term statistics."""

    def __init__(self, facts: StoredFacts) -> None:
        self._facts, self._texts = facts, TextColumn([facts.texts])
        self._languages = facts.languages()
        total = int(facts.lengths.sum(dtype=np.int64))
        self._mean_length = total / len(facts) if total else 1.0

    def find(self, query: str) -> list[FoundSignal]:
        """Return the best of the active facts of each entity that hold a term of the query."""
        words = words_in(" ".join(query_terms(query)))
        terms = dict.fromkeys(
            term
            for language in self._languages
            for word in words
            if (term := term_of(word, language))
        )
        ids, parts = [np.empty(0, np.int32)], [np.empty(0)]
        for term in terms:
            doc_ids, frequencies = self._facts.postings_of(self._facts.term_id(term))
            idf = np.log1p((len(self._facts) - len(doc_ids) + 0.5) / (len(doc_ids) + 0.5))
            lengths = self._facts.lengths[doc_ids]
            norms = K1 * (1.0 - B + B * lengths / self._mean_length)
            counts = frequencies.astype(np.float64)
            ids.append(doc_ids)
            parts.append(float(idf) * (K1 + 1.0) * counts / (counts + norms))
        rows, places = np.unique(np.concatenate(ids), return_inverse=True)
        scores: Scores = np.bincount(places, np.concatenate(parts), len(rows)).astype(np.float64)
        found = np.flatnonzero((scores > 0.0) & (self._facts.active[rows] > 0))
        best = highest(scores, found, FACTS_LIMIT)
        numbers = self._facts.entities[rows[best]].tolist()
        signals: dict[int, FoundSignal] = {}
        for number, row, score in zip(
            numbers, rows[best].tolist(), scores[best].tolist(), strict=True
        ):
            if number >= 0 and number not in signals:  # reading a text takes a while
                strength = FACT_WEIGHT * score / (score + FACT_HALF)
                signals[number] = number, Signal("fact", strength, self._texts[row])
        return list(signals.values())


class EntityDocuments:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._linked: dict[str, LinkedDocuments] = {}
        self._propagated: dict[str, tuple[float, LinkedDocuments]] = {}
        self._about: dict[str, LinkedDocuments] = {}
        self._attendees: dict[int, tuple[frozenset[str], ...]] = {}
        self._ids_of: dict[Attendee, frozenset[str]] = {}

    @cached_property
    def continuations(self) -> Continuations:
        base = self._snapshot
        return Continuations.of(continuation_pairs(base.titles, base.kinds, base.dates, base.paths))

    @cached_property
    def _resolver(self) -> EntityResolver:
        return EntityResolver.looking_up(self._snapshot.names.with_key)

    def linked(self, entity_id: str) -> LinkedDocuments:
        if entity_id not in self._linked:
            base = self._snapshot
            number = self._number(entity_id)
            kind = base.entities.types[number] if number >= 0 else ""
            # A tag says what a page is about, whosever it is.
            pages = NO_ROWS if kind == TAG else base.entity_pages.own
            links, is_person = base.links.get(entity_id), kind == "person"
            self._linked[entity_id] = linked_documents(links, pages, is_person=is_person)
        return self._linked[entity_id]

    def propagated(self, entity_id: str, share: float) -> LinkedDocuments:
        if not share:
            return self.linked(entity_id)
        known_share, linked = self._propagated.get(entity_id, (0.0, None))
        if linked is None or known_share != share:
            linked = self.continuations.propagate_links(self.linked(entity_id), share)
            self._propagated[entity_id] = share, linked
        return linked

    def with_people(self, entity_id: str, share: float) -> LinkedDocuments:
        """Return the documents of an entity, the pages of people who belong to it strengthened.

        Those are people whose page links to it, and those that its own page names, who come first:
        its lead.
        """
        base, linked = self._snapshot, self.propagated(entity_id, share)
        floor = normalization.PERSON_STRENGTH
        links = linked_documents(base.links.get(entity_id)).by_row().items()
        found = {row: ((floor + max(link, floor)) / 2.0, reason) for row, (link, reason) in links}
        page = base.row_of.get(base.entities[self._number(entity_id)].path, -1)
        for number in base.links.entities_of(page).tolist() if page >= 0 else ():
            person = base.entities[number]
            if person.type == "person" and (row := base.row_of.get(person.path, -1)) >= 0:
                strength, reason = linked_documents(base.links.get(person.id)).by_row()[page]
                if strength > found.get(row, (0.0, ""))[0]:
                    found[row] = strength, f"on its page: {reason}"
        people = {row: link for row, link in found.items() if base.kinds[row] == "person"}
        return linked.strengthened(people)

    def about(self, entity_id: str) -> LinkedDocuments:
        if entity_id not in self._about:
            linked = self.linked(entity_id)
            self._about[entity_id] = linked
            if places := [self._place(row, entity_id) for row in linked.rows.tolist()]:
                is_team = self._snapshot.entities.types[self._number(entity_id)] == "team"
                members = self._members(entity_id, linked.rows) if is_team else None
                self._about[entity_id] = (
                    about_person(linked, places)
                    if members is None
                    else about_team(linked, members, np.array([n for _, n in places]))
                )
        return self._about[entity_id]

    def _number(self, entity_id: str) -> int:
        return int(self._snapshot.entities.row_of.get(entity_id, -1))

    def _members(self, team_id: str, rows: Rows) -> Rows:
        """Return how many members of a team attended each document of `rows`."""
        links = self._snapshot.links.get(team_id)
        assert links is not None  # the rows are those of its links
        members = np.where(links.kinds == _MEMBER, links.counts, 0)
        return np.array([members[links.rows == row].max() for row in rows.tolist()], np.int64)

    def _place(self, row: int, entity_id: str) -> tuple[int, int]:
        """Return a person's 1-based position among the attendees of a document, and their number.

        The position is 0 if the person is not among them.
        """
        if row not in self._attendees:
            attendees = attendees_from(self._snapshot.attendees[row])
            self._attendees[row] = tuple(map(self._resolve, attendees))
        ids_of_each = self._attendees[row]
        places = (place for place, ids in enumerate(ids_of_each, 1) if entity_id in ids)
        return next(places, 0), len(ids_of_each)

    def _resolve(self, attendee: Attendee) -> frozenset[str]:
        if attendee not in self._ids_of:
            numbers = self._resolver.by_attendee(attendee)
            entities = self._snapshot.entities
            self._ids_of[attendee] = frozenset(entities[number].id for number in numbers)
        return self._ids_of[attendee]


_OWN_PAGE, _FRONTMATTER = LINK_KINDS.index("own_page"), LINK_KINDS.index("frontmatter")
_WIKILINK, _MEMBER = LINK_KINDS.index("wikilink"), LINK_KINDS.index("member")
"""Kinds before `wikilink` are explicit links, with strength 1; that of the others grows with their
number."""

NO_ROWS = np.empty(0, np.int32)
NOTHING_LINKED = LinkedDocuments(frozen(np.empty(0, np.int64)), frozen(np.empty(0)), ())


def linked_documents(
    links: EntityLinks | None,
    entity_pages: NDArray[np.integer[Any]] = NO_ROWS,
    *,
    is_person: bool = False,
) -> LinkedDocuments:
    """Return the documents that belong to an entity, each once, by their rows in the base.

    `entity_pages` are the rows, ascending, of the pages of this entity and of others. For a
    person, strengths of other documents are relative to the strongest of these: where none lists
    them as an attendee, a mention is the best sign there is.
    """
    if links is None:
        return NOTHING_LINKED
    codes, counts = links.kinds, links.counts
    as_members = normalization.counted_strength(counts, *normalization.MEMBER_STRENGTH)
    as_mentions = normalization.counted_strength(counts, *normalization.MENTION_STRENGTH)
    by_count = np.where(codes == _MEMBER, as_members, as_mentions)
    strengths = np.where(codes < _WIKILINK, 1.0, by_count)
    documents, starts = np.unique(links.rows, return_index=True)
    links_in_order = list(zip(codes.tolist(), counts.tolist(), strict=True))
    ranges = pairwise([*starts.tolist(), len(links.rows)])
    reasons = tuple(_reason(*links_in_order[start:end]) for start, end in ranges)
    strongest = np.maximum.reduceat(strengths, starts)
    own = np.minimum.reduceat(codes, starts) == _OWN_PAGE
    on_pages = np.isin(documents, entity_pages)
    others = on_pages & ~own
    in_text = np.maximum.reduceat(codes, starts) != _FRONTMATTER
    related = np.where(
        in_text, normalization.RELATED_PAGE_STRENGTH, normalization.RELATED_FIELD_STRENGTH
    )
    strongest[others] = np.minimum(strongest, related)[others]
    if is_person:
        strongest[~on_pages] /= strongest[~on_pages].max(initial=0.0) or 1.0
    return LinkedDocuments(frozen(documents), frozen(strongest), reasons)


def about_team(linked: LinkedDocuments, members: Rows, attendees: Rows) -> LinkedDocuments:
    """Return the links of a team, those with meetings by the share of attendees who are in it.

    `members` and `attendees` are the numbers of both in each linked document.
    """
    shares = members / np.maximum(attendees, 1)
    floor = normalization.ABOUT_FLOOR
    strengths = np.where(members > 0, floor + (1.0 - floor) * shares, linked.strengths)
    return LinkedDocuments(linked.rows, frozen(strengths), linked.reasons)


def about_person(linked: LinkedDocuments, places: Sequence[tuple[int, int]]) -> LinkedDocuments:
    """Return the links of a person, with strengths by how much each document concerns them.

    `places` holds, per linked document, the person's 1-based position among its attendees, 0 if
    absent, and the number of attendees. Other strengths are capped at `ABOUT_FLOOR`, except that of
    their own page.
    """
    place, attendees = (np.array(column, np.int64) for column in zip(*places, strict=True))
    about = normalization.about_strength(np.maximum(attendees, 1), np.maximum(place, 1))
    own = np.array([reason.startswith("own page") for reason in linked.reasons], np.bool_)
    capped = np.minimum(
        linked.strengths, np.where(own, normalization.ABOUT_OWN_PAGE, normalization.ABOUT_FLOOR)
    )
    strengths = np.where(place > 0, about, capped)
    reasons = tuple(
        f"attendee {number} of {total}" if number else reason
        for reason, (number, total) in zip(linked.reasons, places, strict=True)
    )
    return LinkedDocuments(linked.rows, frozen(strengths), reasons)


@lru_cache(maxsize=4096)  # few combinations occur in a base
def _reason(*links: tuple[int, int]) -> str:
    labels = []
    for kind, count in sorted(links):
        label = LINK_KINDS[kind].replace("_", " ")
        labels.append(f"{count} {label}s" if count > 1 and kind >= _WIKILINK else label)
    return ", ".join(labels)

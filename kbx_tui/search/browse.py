"""What a base holds, without a query: cards of entities, lists of facts, documents and counts.

Queries to begin with are made from it, too. Pages below a path, and the lines in them that contain
a text, are listed as `ls` and `grep` do.

The timeline of an entity has facts, open items and linked documents by date, also as of a day. A
superseded fact holds until the day that its line states, `(superseded: 2026-03-17)`, as kbx writes
it. Of a line struck without a day it is not known since when it no longer holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import log

from kbx_tui.errors import ConfigError
from kbx_tui.formatting import format_count
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import quoted
from kbx_tui.index.tables import FACT_COLUMNS, fact_from_row
from kbx_tui.knowledge.facts import MARKERS, SUPERSEDED_ON
from kbx_tui.knowledge.folding import fold, tokens
from kbx_tui.knowledge.records import Entity, Fact
from kbx_tui.search.link_graph import Destination, part_line
from kbx_tui.search.open_index import IndexGeneration, OpenIndex
from kbx_tui.search.query.query_words import DOCUMENT_WORDS, FUNCTION_WORDS, MONTHS, REQUEST_WORDS


def entity_card(index: OpenIndex, entity_id: str) -> EntityCard:
    generation = index.generation()
    entity, entities = generation.entity(entity_id), generation.entities
    rows = index.store.rows("facts", FACT_COLUMNS, f"entity_id = {quoted(entity_id)}")
    linked, base = generation.entity_documents.linked(entity_id), generation.snapshot
    links = zip(linked.rows.tolist(), linked.strengths.tolist(), linked.reasons, strict=True)
    return make_card(
        entity,
        members=[entities[member] for member in entity.members if member in entities],
        facts=map(fact_from_row, rows.to_pylist()),
        documents=[
            EntityDocument(
                base.paths[row], base.titles[row], base.dates[row], base.kinds[row], why, strength
            )
            for row, strength, why in links
        ],
    )


def follow(index: OpenIndex, target: str, source: str) -> Destination | None:
    destination = index.generation().destinations.find(target, source)
    if destination is None or not (destination.heading and destination.path):
        return destination
    where = f"path = {quoted(destination.path)}"
    for row in index.store.rows("documents", ["body", "body_line"], where).to_pylist():
        line = part_line(row["body"], row["body_line"], destination.heading)
        return replace(destination, line=line)
    return destination


def list_facts(index: OpenIndex, entity_id: str, since: str) -> tuple[Fact, ...]:
    """Return the facts and open items of an entity, or of all, newest first, undated ones last.

    `since` is an ISO date; it excludes older and undated ones.
    """
    clauses = [f"entity_id = {quoted(entity_id)}"] if entity_id else []
    clauses += [f"date >= {quoted(since)}"] if since else []
    table = index.store.rows("facts", FACT_COLUMNS, " AND ".join(clauses) or "fact_id > 0")
    by_place = sorted(map(fact_from_row, table.to_pylist()), key=lambda f: (f.path, f.line))
    return tuple(sorted(by_place, key=lambda fact: fact.date, reverse=True))


def facts_by_id(index: OpenIndex, ids: Iterable[int]) -> dict[int, Fact]:
    id_list = ", ".join(map(str, sorted(set(ids))))
    if not id_list:
        return {}
    table = index.store.rows("facts", FACT_COLUMNS, f"fact_id IN ({id_list})")
    return {fact.fact_id: fact for fact in map(fact_from_row, table.to_pylist())}


def indexed_hash(index: OpenIndex, path: str) -> str:
    rows = index.store.rows("documents", ["content_hash"], f"path = {quoted(path)}").to_pylist()
    return str(rows[0]["content_hash"]) if rows else ""


@dataclass(frozen=True, slots=True)
class EntityName:
    id: str
    name: str
    type: str
    path: str
    """Path of the entity's page; empty without one."""


@dataclass(frozen=True, slots=True)
class EntityDocument:
    path: str
    title: str
    date: str
    kind: str
    reason: str
    """Why it is linked, for display: `attendee`, `title, 4 mentions`."""
    strength: float
    """`link_strength`, 0..1."""


@dataclass(frozen=True, slots=True)
class EntityCard(EntityName):
    aliases: tuple[str, ...]
    role: str
    team: str
    facts: tuple[Fact, ...]
    """Facts of any status, newest first, undated ones last."""
    open_items: tuple[Fact, ...]
    """Open before done, each newest first, undated ones last."""
    documents: tuple[EntityDocument, ...]
    """All documents linked to it, newest first, undated ones last."""
    members: tuple[EntityName, ...] = ()


def make_card(
    entity: Entity,
    members: Iterable[Entity],
    facts: Iterable[Fact],
    documents: Iterable[EntityDocument],
) -> EntityCard:
    newest = sorted(facts, key=lambda fact: fact.line)
    newest.sort(key=lambda fact: fact.date, reverse=True)  # stable: the page's order within a day
    return EntityCard(
        id=entity.id,
        name=entity.name,
        type=entity.type,
        path=entity.path,
        aliases=entity.aliases,
        role=entity.role,
        team=entity.team,
        facts=tuple(fact for fact in newest if fact.kind == "fact"),
        open_items=tuple(
            sorted((f for f in newest if f.kind == "open_item"), key=lambda item: item.done)
        ),
        documents=tuple(sorted(documents, key=lambda document: document.date, reverse=True)),
        members=tuple(sorted(map(name_of, members), key=lambda member: (member.name, member.id))),
    )


@dataclass(frozen=True, slots=True)
class StaleEntity(EntityName):
    last_mentioned: str | None
    """Date of the newest of its facts and linked documents besides its page.

    Empty if none of them is dated, None if there are none.
    """


def stale_entities(index: OpenIndex, before: str) -> tuple[StaleEntity, ...]:
    """Return the entities that nothing dated `before` or later mentions.

    Those never mentioned come first, then those mentioned without a date, then the oldest.
    """
    base = index.generation().snapshot
    dates: dict[str, str] = {}
    for fact in list_facts(index, "", ""):
        dates[fact.entity_id] = max(dates.get(fact.entity_id, ""), fact.date)
    found = []
    for entity in base.entities:
        linked = base.links.get(entity.id)
        rows = [] if linked is None else linked.rows.tolist()
        others = (base.dates[row] for row in rows if base.paths[row] != entity.path)
        last = max(others, default=None)
        if entity.id in dates:
            last = max(last or "", dates[entity.id])
        if (last or "") < before:
            found.append(StaleEntity(entity.id, entity.name, entity.type, entity.path, last))
    found.sort(key=lambda each: (each.last_mentioned is not None, each.last_mentioned, each.id))
    return tuple(found)


def name_of(entity: Entity) -> EntityName:
    return EntityName(entity.id, entity.name, entity.type, entity.path)


KINDS_NAMED = 4
QUERIES = 3
BUSIEST_OF_TYPE = 3


@dataclass(frozen=True, slots=True)
class BaseContents:
    kinds: Mapping[str, int]
    tags: Mapping[str, int]
    queries: tuple[str, ...]
    """At most three queries, of its people and projects or most linked notes, and of topics."""
    busiest: tuple[tuple[EntityName, int], ...] = ()
    """A few entities of each type, with the number of their documents: the most first."""

    @property
    def summary(self) -> str:
        """The counts in words: `41 notes, 4 people, 12 tags`."""
        named = list(self.kinds.items())[:KINDS_NAMED]
        parts = [format_count(count, kind) for kind, count in named]
        if others := sum(self.kinds.values()) - sum(count for _, count in named):
            parts.append(format_count(others, "other document"))
        if self.tags:
            parts.append(format_count(len(self.tags), "tag"))
        return ", ".join(parts)


def contents_of(
    snapshot: Snapshot, occurrences: Occurrences, linked: Sequence[str] = ()
) -> BaseContents:
    """Return what a generation of the index holds."""
    kinds = Counter(snapshot.kinds)
    tags = Counter(tag for tags in snapshot.tags for tag in set(tags))
    return BaseContents(
        kinds=dict(kinds.most_common()),
        tags=dict(tags.most_common()),
        queries=tuple(islice(_queries(snapshot, occurrences, linked), QUERIES)),
        busiest=_busiest(snapshot),
    )


def _busiest(snapshot: Snapshot) -> tuple[tuple[EntityName, int], ...]:
    counts, entities = _counts_of(snapshot), _by_documents(snapshot)
    of_type: dict[str, list[Entity]] = {kind: [] for kind in ("person", "project", "team")}
    for entity in entities:
        of_type.setdefault(entity.type, []).append(entity)
    chosen = (entity for each in of_type.values() for entity in each[:BUSIEST_OF_TYPE])
    return tuple((name_of(entity), counts[entity.id]) for entity in chosen)


def _queries(snapshot: Snapshot, occurrences: Occurrences, linked: Sequence[str]) -> Iterator[str]:
    """Yield a person with a project of common documents, another entity, and topics.

    Where there are no entities, the most linked note comes first, and topics are titles.
    """
    entities = _by_documents(snapshot)
    people = [entity for entity in entities if entity.type == "person"]
    others = [entity for entity in entities if entity.type != "person"]
    others.sort(key=lambda entity: entity.type != "project")  # a project asks more of a query
    pair = _linked_pair(snapshot, people, others)
    if pair is not None:
        yield f"what did {pair[0].name} say about {pair[1].name}?"
    rest = [entity for entity in entities if pair is None or entity not in pair]
    if rest:
        yield f"what is new about {rest[0].name}?"
    hubs = [] if entities else list(linked[:1])
    yield from hubs
    names = [entity.name for entity in snapshot.entities]
    names += [alias for entity in snapshot.entities for alias in entity.aliases]
    topics = topic_words_of(snapshot.titles, occurrences, [*names, *hubs], QUERIES)
    yield from topics if entities else titles_about(topics, snapshot.titles)


def _by_documents(snapshot: Snapshot) -> list[Entity]:
    counts = _counts_of(snapshot)
    linked = [entity for entity in snapshot.entities if counts.get(entity.id, 0) > 1]
    return sorted(linked, key=lambda entity: (-counts[entity.id], entity.id))


def _counts_of(snapshot: Snapshot) -> dict[str, int]:
    return {
        entity_id: len(set(linked.rows.tolist())) for entity_id, linked in snapshot.links.items()
    }


def _linked_pair(
    snapshot: Snapshot, people: list[Entity], others: list[Entity]
) -> tuple[Entity, Entity] | None:
    rows_of = {
        entity.id: set(links.rows.tolist())
        for entity in (*people[:5], *others[:5])
        if (links := snapshot.links.get(entity.id))
    }
    for person in people[:5]:
        for other in others[:5]:
            if rows_of[person.id] & rows_of[other.id]:
                return person, other
    return None


COMMON_SHARE = 0.1
"""Words in more than this share of the documents say little about one: `meeting`, `list`."""
FEW = 4
"""Documents that may hold a word in a small base, where that share is less."""
MIN_WORD = 4
SHORT_TITLE = 4
MOST_LOOKED_UP = 500
"""Words of titles that are looked up in the texts, those of most titles first."""

Occurrences = Callable[[str], tuple[int, int]]
"""Returns how many documents hold a word in any of its forms, and how often it stands in them."""


def topic_words_of(
    titles: Sequence[str], occurrences: Occurrences, names: Iterable[str], number: int
) -> list[str]:
    """Return at most `number` words of titles that a few documents use often, the most first.

    Each is in at least two documents and in few of all, and is part of none of `names`. It weighs
    its occurrences times its idf.
    """
    named = {word for name in names for word in tokens(name)}
    in_titles = Counter(
        word
        for title in titles
        for word in dict.fromkeys(tokens(title))
        if len(word) >= MIN_WORD and word.isalpha()
    )
    usual = named | FUNCTION_WORDS | DOCUMENT_WORDS | REQUEST_WORDS | MONTHS
    most = max(COMMON_SHARE * len(titles), FEW)
    weights: dict[str, float] = {}
    for word, _ in in_titles.most_common(MOST_LOOKED_UP):
        if word not in usual:
            documents, total = occurrences(word)
            if 2 <= documents <= most:
                weights[word] = total * log(len(titles) / documents)
    return sorted(weights, key=lambda word: (-weights[word], word))[:number]


def titles_about(words: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Return the shortest title with each word in place of it, or the word if all are long."""
    about: dict[str, None] = {}
    for word in words:
        found = [title for title in titles if word in tokens(title)]
        title = min(found, key=lambda title: (len(title), title), default=word)
        about[title if len(tokens(title)) <= SHORT_TITLE else word] = None
    return list(about)


LINES_SHOWN, LINE_LENGTH, LEAD = 5, 300, 100
"""Lines of a page that are shown, characters of each, and of those the most before the text."""


@dataclass(frozen=True, slots=True)
class PageLine:
    line: int
    """In the file, from 1."""
    text: str


@dataclass(frozen=True, slots=True)
class ListedPage:
    id: str
    path: str
    title: str
    type: str
    date: str
    """Empty without one."""
    lines: tuple[PageLine, ...]
    more_lines: int
    """Lines that contain the text, beyond those shown."""


@dataclass(frozen=True, slots=True)
class PageList:
    pages: tuple[ListedPage, ...]
    paths: Sequence[str]
    """Of all pages there are, also beyond the limit."""


def list_pages(
    generation: IndexGeneration,
    paths: Sequence[str],
    text: str = "",
    offset: int = 0,
    limit: int | None = None,
) -> PageList:
    """List those of some pages that contain a text, in their order; all of them without one.

    Letter case and accents are ignored, as in a search. Properties above the text are not read.
    Raises ConfigError for a text of several lines.
    """
    if text.splitlines()[1:]:
        raise ConfigError("text is looked for within lines: leave out line breaks")
    if wanted := fold(text):
        paths = [path for path in paths if wanted in fold(generation.bodies.read([path])[0][0])]
    shown = paths[offset:] if limit is None else paths[offset : offset + limit]
    return PageList(tuple(_page(generation, path, wanted) for path in shown), paths)


def _page(generation: IndexGeneration, path: str, wanted: str) -> ListedPage:
    snapshot, lines = generation.snapshot, list[PageLine]()
    row = snapshot.row_of[path]
    if wanted:
        ((body, first),) = generation.bodies.read([path])
        folded = fold(body).split("\n")  # folding leaves line breaks as they are
        for number, (line, compared) in enumerate(zip(body.split("\n"), folded, strict=True)):
            if wanted in compared:
                lines.append(PageLine(first + number, _around(line, compared.index(wanted))))
    return ListedPage(
        snapshot.ids[row],
        path,
        snapshot.titles[row],
        snapshot.kinds[row],
        snapshot.dates[row],
        tuple(lines[:LINES_SHOWN]),
        len(lines[LINES_SHOWN:]),
    )


def _around(line: str, at: int) -> str:
    """Return a line, or what is around place `at` of a long one."""
    if len(line) <= LINE_LENGTH:
        return line
    room = LINE_LENGTH - 2  # for an ellipsis at each end
    start = max(min(at - LEAD, len(line) - room), 0)
    end = start + room
    return f"{'…' * (start > 0)}{line[start:end]}{'…' * (end < len(line))}"


TIMELINE_LIMIT = 50


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    date: str
    """Empty without one."""
    kind: str
    """`fact`, `open_item`, or the kind of a linked document: `meeting`, `note`."""
    text: str
    """The fact, or the title of the document."""
    path: str
    line: int = 1
    fact_id: int | None = None
    status: str = ""
    """What a fact was on that day: `active`, `superseded`, `archived`, `redacted` or `done`."""
    superseded: str = ""
    """From when the fact no longer holds, where its line states it."""
    reason: str = ""
    """Why the document is linked."""


@dataclass(frozen=True, slots=True)
class Timeline:
    entity: EntityName
    as_of: str
    entries: tuple[TimelineEntry, ...]
    """The newest first, undated ones last; of a day, facts before documents."""
    more: int
    """Older entries, beyond the limit."""
    later: int
    """Entries dated after `as_of`, or undated where it is given."""


def timeline(index: OpenIndex, entity_id: str, as_of: str, limit: int) -> Timeline:
    card = entity_card(index, entity_id)
    entries = sorted(_entries(index, card), key=lambda entry: entry.date, reverse=True)
    known = [_as_of(entry, as_of) for entry in entries if _is_known(entry, as_of)]
    name = EntityName(card.id, card.name, card.type, card.path)
    more = max(len(known) - limit, 0)
    return Timeline(name, as_of, tuple(known[:limit]), more, len(entries) - len(known))


def card_as_of(index: OpenIndex, entity_id: str, as_of: str) -> EntityCard:
    """Return a card with what was known at a time, each fact as it was then."""
    card = entity_card(index, entity_id)
    known = [_as_of(entry, as_of) for entry in _entries(index, card) if _is_known(entry, as_of)]
    held = {(entry.path, entry.line) for entry in known if entry.status == "active"}

    def then(facts: Iterable[Fact]) -> Iterator[Fact]:
        for fact in facts:
            if _is_known(fact, as_of):
                yield replace(fact, status="active") if (fact.path, fact.line) in held else fact

    documents = tuple(each for each in card.documents if _is_known(each, as_of))
    items = tuple(then(card.open_items))
    return replace(card, facts=tuple(then(card.facts)), open_items=items, documents=documents)


def _entries(index: OpenIndex, card: EntityCard) -> Iterator[TimelineEntry]:
    facts = (*card.facts, *card.open_items)
    paths = list({fact.path for fact in facts})
    bodies = zip(paths, index.generation().bodies.read(paths), strict=True)
    lines = {path: (body.split("\n"), first) for path, (body, first) in bodies}
    for fact in facts:
        body, first = lines[fact.path]
        yield TimelineEntry(
            fact.date,
            fact.kind,
            fact.text,
            fact.path,
            fact.line,
            fact.fact_id,
            "done" if fact.done else fact.status,
            _superseded(fact, body, max(fact.line - first, 0)),
        )
    for document in card.documents:
        yield TimelineEntry(
            document.date, document.kind, document.title, document.path, reason=document.reason
        )


def _superseded(fact: Fact, lines: list[str], start: int) -> str:
    """Return the day stated in the lines of a fact, the one at `start` and those to the next."""
    if fact.status != "superseded":
        return ""
    for number in range(start, len(lines)):
        if number > start and (MARKERS.match(lines[number]) or not lines[number].strip()):
            break
        if stated := SUPERSEDED_ON.search(lines[number]):
            return stated[1]
    return ""


def _is_known(entry: TimelineEntry | Fact | EntityDocument, as_of: str) -> bool:
    return not as_of or (bool(entry.date) and entry.date[: len(as_of)] <= as_of)


def _as_of(entry: TimelineEntry, as_of: str) -> TimelineEntry:
    still_held = bool(as_of) and entry.superseded[: len(as_of)] > as_of
    return replace(entry, status="active") if still_held else entry

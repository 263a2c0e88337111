"""Expert search: the claims of a base, which of them are on a topic, and the ranking of entities.

Claims are the fact lines of the base, each with every entity it is about; they are read once per
generation. Topics match whole words by their stems: "maintain" finds "maintained", but not an
entity named AI. What a claim or document adds to the score of its entity:

    count      share
    recency    share x 2^(-age in days / half-life)
    citation   share x distinct sources x confidence
    relevance  share; for a document (relevance / best relevance)^16 x link strength^2

The share is that of the topic's words in the claim. Ages are counted from the newest day in the
base: in a base that nobody adds to, all claims would otherwise become equally worthless.
`relevance` adds the ten documents most relevant to the topic: the document model of Balog,
Azzopardi & de Rijke 2006 (https://doi.org/10.1145/1148170.1148181) with relevance in 0..1 in place
of a language model. The powers let a few documents dominate, or people who take part in everything
would come first. Chosen by the experiment "expert document powers" in docs/quality.md.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal, Self, get_args

import msgspec
import numpy as np

from kbx_tui.errors import ConfigError, OutOfRange
from kbx_tui.formatting import format_count
from kbx_tui.index.lexical.postings import CJK_CHARACTER, separate_cjk
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import is_one_of
from kbx_tui.index.tables import FACT_COLUMNS, attendees_from, fact_from_row
from kbx_tui.knowledge.dates import first_day, iso_date
from kbx_tui.knowledge.entity_names import EntityResolver
from kbx_tui.knowledge.folding import fold, name_key, stem
from kbx_tui.knowledge.records import Entity, Fact, FactStatus
from kbx_tui.safe_text import safe_line
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.scores import LinkedDocuments
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.search.query.query_words import FUNCTION_WORDS, words_of
from kbx_tui.search.request import MAX_QUERY
from kbx_tui.search.results.answer import cut_query_notes, vector_notes, wide_scope_notes

TOP_CLAIMS = 3
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Claim:
    fact: Fact
    """Without its `confirmed:` note; its date is that of its last confirmation, else its own, its
    page's or its file's, and may be empty."""
    about: Mapping[str, str]
    """The ids of the entities it is about, and why: empty for the owner of its page, else `named
    as lead`, `attended` or `named as source`."""
    has_file_date: bool = False
    """Whether the date is that of the file, because neither the line nor the page has one."""


@dataclass(frozen=True, slots=True)
class Receipt:
    claim_id: int | str
    """The id of a fact, or for the weight `relevance` that of a document, as text."""
    text: str
    date: str
    path: str
    line: int
    status: FactStatus
    sources: tuple[str, ...]
    contribution: float
    """0 for a claim that is superseded, archived or redacted."""
    has_file_date: bool = False
    """Whether `date` is only the day the file was changed, because nothing states one."""
    share: float = 1.0
    """Share of the topic's words that it holds, above 0 and at most 1; 1 for a document."""
    why: str = ""
    """Why a fact on the page of another counts for the expert: `named as lead`."""

    @property
    def is_partial(self) -> bool:
        return self.share < 1.0

    @property
    def is_document(self) -> bool:
        return isinstance(self.claim_id, str)


@dataclass(frozen=True, slots=True)
class Expert:
    entity_id: str
    name: str
    type: str
    claim_count: int
    citation_count: int
    score: float
    top_claim_ids: tuple[int | str, ...]
    """At most three, largest contribution first."""
    receipts: tuple[Receipt, ...]
    excluded: tuple[Receipt, ...]

    @property
    def full_claim_count(self) -> int:
        return sum(not receipt.is_partial for receipt in self.receipts)

    @property
    def counted(self) -> str:
        """What counts, in words: `5 facts, 1 document`."""
        documents = sum(receipt.is_document for receipt in self.receipts)
        counts = ((self.claim_count - documents, "fact"), (documents, "document"))
        return ", ".join(format_count(number, noun) for number, noun in counts if number)


@dataclass(frozen=True, slots=True)
class ExpertRanking:
    topic: str
    weight: Weight
    """The weight used: `count` in place of an unknown one."""
    experts: tuple[Expert, ...]
    total_matched: int
    total_below_minimum: int = 0
    """Number of entities that have claims on the topic, but fewer than the minimum."""
    in_scope: int = 0
    """Number of claims that were looked through, whatever their status."""
    notes: tuple[str, ...] = ()


def rank_experts(
    topic: str,
    weight: Weight,
    receipts: Mapping[str, Iterable[Receipt]],
    entities: Mapping[str, Entity],
    *,
    limit: int,
    min_claims: int,
) -> ExpertRanking:
    """Rank entities by the sum of their contributions; ties by id.

    Entities with a claim that holds the whole topic precede those known for parts of it, except for
    the weight `relevance`, where documents add to claims.
    Scores are computed before the limit applies, so they do not depend on it.
    Raises OutOfRange for a limit or min_claims below 1.
    """
    for name, number in (("limit", limit), ("min_claims", min_claims)):
        if number < 1:
            raise OutOfRange(f"{name} must be 1 or more, got {number}")
    experts, below = [], 0
    for entity_id, claims in receipts.items():
        if (entity := entities.get(entity_id)) is None:
            continue
        ordered = sorted(claims, key=lambda claim: (-claim.contribution, str(claim.claim_id)))
        counted = tuple(receipt for receipt in ordered if receipt.status == "active")
        if len(counted) >= min_claims:
            excluded = tuple(receipt for receipt in ordered if receipt.status != "active")
            sources = {source for receipt in counted for source in receipt.sources}
            experts.append(
                Expert(
                    entity_id=entity.id,
                    name=entity.name,
                    type=entity.type,
                    claim_count=len(counted),
                    citation_count=len(sources),
                    score=round(math.fsum(receipt.contribution for receipt in counted), DIGITS),
                    top_claim_ids=tuple(receipt.claim_id for receipt in counted[:TOP_CLAIMS]),
                    receipts=counted,
                    excluded=excluded,
                )
            )
        else:
            below += bool(counted)
    by_share = weight == "relevance"
    experts.sort(
        key=lambda expert: (
            not (by_share or expert.full_claim_count),
            -expert.score,
            expert.entity_id,
        )
    )
    return ExpertRanking(topic, weight, tuple(experts[:limit]), len(experts), below)


Weight = Literal["count", "recency", "citation", "relevance"]
WEIGHTS: tuple[Weight, ...] = get_args(Weight)

MAX_DOCUMENTS = 10
RELEVANCE_POWER = 16.0
STRENGTH_POWER = 2.0

Relevance = Mapping[int, float]
"""Snapshot row -> relevance divided by the best relevance: above 0, at most 1."""


def parse_weight(name: object) -> Weight:
    return next((weight for weight in WEIGHTS if weight == name), "count")


def contribution_function(
    weight: Weight, now: date, half_life_days: float
) -> Callable[[Claim], float]:
    if weight == "recency":
        return lambda claim: decay(claim.fact.date, now, half_life_days)
    if weight == "citation":
        return lambda claim: len(set(claim.fact.sources)) * claim.fact.confidence
    return lambda claim: 1.0


def newest_day(days: Iterable[str], today: date) -> date:
    """Return the latest of some ISO dates that is not after `today`; `today` if there is none."""
    last = today.isoformat()
    return date.fromisoformat(max((day for day in days if day and day <= last), default=last))


def decay(day: str, now: date, half_life_days: float) -> float:
    """Return 2^(-age / half-life): 1 for today and later days, 0 without a date."""
    if not day:
        return 0.0
    age = max((now - date.fromisoformat(day)).days, 0)
    return float(2.0 ** (-age / half_life_days))


def most_relevant(evidence: Evidence, snapshot: Snapshot) -> Relevance:
    """Return the most relevant documents, except entity pages, which count through their facts."""
    pages = {entity.path for entity in snapshot.entities}
    relevance = evidence.as_typed.doc_relevance
    best_rows: dict[int, float] = {}
    for position in np.argsort(-relevance, kind="stable").tolist():
        if len(best_rows) == MAX_DOCUMENTS or relevance[position] <= 0.0:
            break
        path = evidence.paths[position]
        if path in snapshot.row_of and path not in pages:
            best_rows[snapshot.row_of[path]] = float(relevance[position])
    best = max(best_rows.values(), default=1.0)
    return {row: value / best for row, value in best_rows.items()}


def contributions(relevance: Relevance, linked: LinkedDocuments) -> dict[int, float]:
    return {
        row: relevance[row] ** RELEVANCE_POWER * strength**STRENGTH_POWER
        for row, strength in zip(linked.rows.tolist(), linked.strengths.tolist(), strict=True)
        if row in relevance and strength > 0.0
    }


Receipts = defaultdict[str, list[Receipt]]


class ExpertEngine:
    """Expert rankings from one index. Not safe for concurrent use."""

    def __init__(
        self,
        index: OpenIndex,
        root: Path,
        retrieve: Callable[[str], Evidence],
        undated: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """Rank from `index`; `retrieve` finds documents, used only for the weight `relevance`.

        `undated` returns the paths of files whose day is not used: redacted parts may have changed.
        """
        self._index, self._root, self._retrieve = index, root, retrieve
        self._undated = undated
        self._matcher: ClaimMatcher | None = None
        self._generation = -1

    def rank(
        self,
        text: str,
        wanted: Any,
        *,
        limit: int,
        min_claims: int,
        now: date | None,
        half_life_days: float,
        people: bool,
        outdated: Sequence[str] = (),
    ) -> ExpertRanking:
        """Return the experts on a topic, by the `wanted` weight; with `people`, only people.

        Without `now`, ages are counted from the latest date in the base. `outdated` are sentences
        on what is not indexed yet. Raises ConfigError (empty topic) and OutOfRange.
        """
        weight, topic = parse_weight(wanted), Topic.of(text[:MAX_QUERY])
        generation = self._index.generation()
        if self._matcher is None or generation.number != self._generation:
            claims = read_claims(self._index, self._root, self._undated())
            self._matcher = ClaimMatcher(claims, generation.snapshot.entities)
            self._generation = generation.number
        receipts: Receipts = defaultdict(list)
        today = datetime.now(UTC).date()
        counted_from = now or self._newest_day(today)
        contribution = contribution_function(weight, counted_from, half_life_days)
        for position, share in self._matcher.matches(topic).items():
            claim = self._matcher.claims[position]
            receipt = _claim_receipt(claim, contribution(claim) * share, share)
            by_why = {why: replace(receipt, why=why) for why in set(claim.about.values())}
            for entity_id, why in claim.about.items():
                receipts[entity_id].append(by_why[why])
        evidence = self._retrieve(topic.query) if weight == "relevance" else None
        if evidence is not None:
            self._add_documents(receipts, evidence)
        entities = {
            entity_id: entity
            for entity_id, entity in generation.entities.items()
            if not people or entity.type == "person"
        }
        ranking = rank_experts(
            topic.text, weight, receipts, entities, limit=limit, min_claims=min_claims
        )
        ranking = replace(ranking, in_scope=len(self._matcher.claims))
        notes = [*cut_query_notes(text), *_unknown_weight(wanted), *_dates_of_files(ranking)]
        if weight == "recency" and now is None and counted_from < today:
            notes.append("ages are counted from the newest date in the base, not from today")
        if evidence is not None and evidence.scope.total:
            notes += vector_notes(evidence.vector_share, evidence.without_vector)
            notes += wide_scope_notes(evidence, has_switch=False)
        return replace(ranking, notes=(*notes, *outdated, *_nobody(ranking)))

    def _newest_day(self, today: date) -> date:
        claims = self._matcher.claims if self._matcher is not None else ()
        stated = (claim.fact.date for claim in claims if not claim.has_file_date)
        dates = filter(None, self._index.generation().snapshot.dates)
        return newest_day((*map(first_day, dates), *stated), today)

    def _add_documents(self, receipts: Receipts, evidence: Evidence) -> None:
        generation = self._index.generation()
        documents = most_relevant(evidence, generation.snapshot)
        for entity in generation.snapshot.entities:
            links = generation.entity_documents
            is_person = entity.type == "person"
            linked = links.about(entity.id) if is_person else links.linked(entity.id)
            for row, added in contributions(documents, linked).items():
                receipts[entity.id].append(_document_receipt(generation.snapshot, row, added))


def _claim_receipt(claim: Claim, added: float, share: float) -> Receipt:
    fact = claim.fact
    return Receipt(
        claim_id=fact.fact_id,
        text=fact.text,
        date=fact.date,
        path=fact.path,
        line=fact.line,
        status=fact.status,
        sources=fact.sources,
        contribution=added if fact.status == "active" else 0.0,
        has_file_date=claim.has_file_date,
        share=share,
    )


def _document_receipt(snapshot: Snapshot, row: int, contribution: float) -> Receipt:
    path = snapshot.paths[row]
    return Receipt(
        claim_id=snapshot.ids[row],
        text=snapshot.titles[row],
        date=snapshot.dates[row],
        path=path,
        line=0,
        status="active",
        sources=(path,),  # a document is its own source
        contribution=contribution,
    )


NAME_SHOWN = 40


def _unknown_weight(weight: Any) -> Iterator[str]:
    if weight not in WEIGHTS:
        name = safe_line(str(weight))[:NAME_SHOWN]
        yield f"unknown weight {name!r}: facts are counted; weights are {', '.join(WEIGHTS)}"


def _dates_of_files(ranking: ExpertRanking) -> Iterator[str]:
    if ranking.weight != "recency":
        return
    receipts = {
        (receipt.claim_id, receipt.path): receipt
        for expert in ranking.experts
        for receipt in expert.receipts
    }
    count = sum(receipt.has_file_date for receipt in receipts.values())
    if count:
        claims = format_count(len(receipts), "fact")
        have = "has" if count == 1 else "have"
        yield f"{count:,} of {claims} {have} no date; the day its file was changed is used"


def _nobody(ranking: ExpertRanking) -> Iterator[str]:
    if ranking.experts:
        return
    if not ranking.in_scope:
        yield "there are no facts: these are list items at the top of a page or below ## Facts"
    elif ranking.total_below_minimum:
        entities = format_count(ranking.total_below_minimum, "entity")
        yield f"{entities} on this topic, but with fewer facts than min_claims"
    else:
        claims = format_count(ranking.in_scope, "fact")
        hint = (
            "" if ranking.weight == "relevance" else "; the weight relevance also reads documents"
        )
        yield f"none of the {claims} is on this topic{hint}"


_CONFIRMED = re.compile(
    r"(?<!\s)\s*[(\[]?\bconfirmed(?: on)?\s*::?\s*(\d{4}-\d{2}-\d{2})[)\]]?", re.I
)
_BRACKETS = re.compile(r"!?\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_ABOUT = {"person": "person", "people": "person", "entity": "entity", "entities": "entity"}
_ABOUT |= {f"{noun}{s}": noun for noun in ("project", "team", "lead", "owner") for s in ("", "s")}
"""Frontmatter keys for entities that every fact on the page is also about, each with what it names.
Not on a person's page: no team knows all that its members know."""
MOST_NAMESAKES = 50
"""Entities of one name: one that thousands share says little of each."""
MOST_ABOUT = 200
"""Entities that a page names for all of its facts, and that one fact names."""


def read_claims(index: OpenIndex, root: Path, undated: Collection[str]) -> tuple[Claim, ...]:
    table = index.store.rows("facts", FACT_COLUMNS, "kind = 'fact'")
    facts = sorted(map(fact_from_row, table.to_pylist()), key=lambda fact: (fact.path, fact.line))
    pages = _pages(index, {fact.path for fact in facts})
    snapshot = index.generation().snapshot
    resolver = EntityResolver.looking_up(snapshot.names.with_key)
    ids = [entity.id for entity in snapshot.entities]
    people = {entity.path for entity in snapshot.entities if entity.type == "person"}
    about = {
        path: _first_whys(_about_page(resolver, page))
        for path, page in pages.items()
        if path not in people
    }
    days = {
        path: first_day(page["date"]) if page["date"] else _day_of_file(root / path)
        for path, page in pages.items()
        if page["date"] or path not in undated
    }
    claims = []
    for fact in facts:
        page = pages.get(fact.path)
        confirmed = _CONFIRMED.search(fact.text)
        stated = (iso_date(confirmed[1]) if confirmed else "") or fact.date
        linked = (
            (row, "named as source")
            for source in fact.sources
            for row in resolver.by_reference(source)[:MOST_NAMESAKES]
        )
        others = _first_whys(linked) | about.get(fact.path, {})
        shown = replace(
            fact, text=_CONFIRMED.sub("", fact.text), date=stated or days.get(fact.path, "")
        )
        has_file_date = page is not None and not (page["date"] or stated or fact.path in undated)
        whys = {ids[row]: why for row, why in others.items()} | {fact.entity_id: ""}
        claims.append(Claim(shown, whys, has_file_date))
    return tuple(claims)


def _pages(index: OpenIndex, paths: set[str]) -> dict[str, Mapping[str, Any]]:
    if not paths:
        return {}
    columns = ["path", "date", "frontmatter", "attendees"]
    table = index.store.rows("documents", columns, is_one_of("path", sorted(paths)))
    return {row["path"]: row for row in table.to_pylist()}


def _about_page(resolver: EntityResolver, page: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the rows of the entities that a page is about, each with why."""
    fields: Mapping[str, Any] = msgspec.json.decode(page["frontmatter"])
    for key, value in fields.items():
        noun = _ABOUT.get(str(key).casefold())
        for name in dict.fromkeys(_names(value)) if noun else ():
            for row in resolver.by_reference(name)[:MOST_NAMESAKES]:
                yield row, f"named as {noun}"
    for attendee in attendees_from(page["attendees"]):
        for row in resolver.by_attendee(attendee)[:MOST_NAMESAKES]:
            yield row, "attended"


def _first_whys(named: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Return the first entities, `MOST_ABOUT` at most, each with the first of its whys."""
    whys = dict[int, str]()
    for row, why in named:
        whys.setdefault(row, why)
        if len(whys) == MOST_ABOUT:
            break
    return whys


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _BRACKETS.findall(value) or [value]
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)


def _day_of_file(file: Path) -> str:
    try:
        modified = file.stat().st_mtime
    except OSError:  # deleted since it was indexed
        return ""
    return datetime.fromtimestamp(modified, UTC).date().isoformat()


_IGNORED = FUNCTION_WORDS | frozenset(
    {"expert", "experts", "expertise", "know", "knows", "known", "knowledge"}
    | {"work", "works", "worked", "working"}
)
"""Words that ask for experts and are not part of the topic: `who knows about X`."""
_CJK_RUN = re.compile(f"{CJK_CHARACTER}+")


@dataclass(frozen=True, slots=True)
class Topic:
    text: str
    stems: frozenset[str]
    """Stems of its content words; if it has none, of all its words."""
    cjk_runs: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse a topic. Raises ConfigError when it contains no word."""
        cjk_runs = frozenset(_CJK_RUN.findall(fold(text)))
        words = [word.folded for word in words_of(_CJK_RUN.sub(" ", fold(text)))]
        if not (words or cjk_runs):
            raise ConfigError("the topic is empty; name what the experts should know about")
        content = [word for word in words if word not in _IGNORED]
        return cls(text, frozenset(map(stem, content or ([] if cjk_runs else words))), cjk_runs)

    @property
    def query(self) -> str:
        """The topic without leading and trailing question words such as `who knows about`."""
        content = [word for word in words_of(self.text) if word.folded not in _IGNORED]
        return self.text[content[0].start : content[-1].end] if content else self.text


class ClaimMatcher:
    """Finds claims by stem and entity; the cost depends on how many claims a topic matches."""

    def __init__(self, claims: Sequence[Claim], entities: Iterable[Entity]) -> None:
        self.claims = claims
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)
        self._by_entity: defaultdict[str, list[int]] = defaultdict(list)
        for position, claim in enumerate(claims):
            words = words_of(fold(separate_cjk(claim.fact.text)))
            for word_stem in {stem(word.folded) for word in words}:
                self._by_stem[word_stem].append(position)
            for entity_id in claim.about:
                self._by_entity[entity_id].append(position)
        self._names = [
            (f" {key} ", entity.id)
            for entity in entities
            for key in map(name_key, (entity.name, *entity.aliases))
            if key
        ]

    def matches(self, topic: Topic) -> dict[int, float]:
        """Return for each matching claim the share of the topic's words it contains.

        Shares are above 0 and at most 1, keyed by the claim's position, ascending. Words that name
        an entity count as contained in every claim about it.
        """
        held: defaultdict[int, set[str]] = defaultdict(set)
        for topic_stem in topic.stems:
            for position in self._by_stem.get(topic_stem, ()):
                held[position].add(topic_stem)
        for run in topic.cjk_runs:
            for position, claim in enumerate(self.claims):
                if run in fold(claim.fact.text):
                    held[position].add(run)
        for entity_id, words in self.named_by(topic):
            for position in self._by_entity.get(entity_id, ()) if words else ():
                held[position] |= words
        size = len(topic.stems) + len(topic.cjk_runs)
        return {position: len(words) / size for position, words in sorted(held.items())}

    def named_by(self, topic: Topic) -> Iterator[tuple[str, frozenset[str]]]:
        whole = f" {name_key(topic.text)} "
        for key, entity_id in self._names:
            if whole in key:
                yield entity_id, topic.stems | topic.cjk_runs
            elif key in whole:
                words = frozenset(key.split())
                runs = frozenset(run for run in topic.cjk_runs if words.issuperset(run))
                yield entity_id, (topic.stems & frozenset(map(stem, words))) | runs

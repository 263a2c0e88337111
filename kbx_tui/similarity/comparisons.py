"""Compares a text with facts, values of fields and passages; tested apart from the engine.

Facts: identical text first, then nearest by vector. Fields: all of one entity; without an entity,
only values that share a word with the text, as a base has thousands. Passages: the chunks nearest
by vector are split and their lines and sentences compared, as a whole chunk is never as similar to
a sentence as another sentence is.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest
from itertools import groupby, islice
from typing import Any

import msgspec
import numpy as np

from kbx_tui.embedding.embedder import Embedder, Vector, Vectors
from kbx_tui.errors import ConfigError
from kbx_tui.index.store import is_one_of, quoted
from kbx_tui.knowledge.facts import read_fact_line
from kbx_tui.knowledge.records import Entity, FactKind
from kbx_tui.search.evidence.scores import Flags
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.compared_words import analyse_words, normal_form
from kbx_tui.similarity.fact_vectors import CandidateText, FactVectors
from kbx_tui.similarity.pair_score import PairSimilarity, Scale, SimilarityMatch, is_near

MIN_COMPARED = 48
"""Minimum number of facts compared word by word, those nearest by cosine. Words change a score
little compared with the cosine, so a match beyond these would have many better ones before it."""

NEAREST_REPORTED = 5
"""Texts reported where nothing matches; redaction may hide some of them."""


@dataclass(frozen=True, slots=True)
class Comparison:
    matches: list[SimilarityMatch]
    """All similar enough to be listed, by score."""
    nearest: tuple[SimilarityMatch, ...]
    """The best scores of all texts compared, best first, at most `NEAREST_REPORTED`."""

    def joined_with(self, other: Comparison) -> Comparison:
        return Comparison(
            sorted([*self.matches, *other.matches], key=lambda match: -match.score),
            top_nearest((*self.nearest, *other.nearest)),
        )


def find_identical_facts(text: str, facts: FactVectors, within: Flags | None = None) -> list[int]:
    rows = facts.rows_by_text.get(normal_form(text), ())
    return [row for row in rows if within is None or within[row]]


def find_similar_facts(
    candidate: CandidateText,
    facts: FactVectors,
    scale: Scale,
    *,
    limit: int,
    within: Flags | None = None,
    fields: Sequence[SimilarityMatch] = (),
) -> Comparison:
    """Return the facts, open items and `fields` similar to a text, among them the best `limit`.

    `within`, shape (facts,), restricts the facts compared.
    """
    near = score_facts(candidate, facts, scale, limit=limit, within=within)
    scored = sorted([*near, *fields], key=lambda known: -known.score)
    listed = [known for known in scored if scale.listed(known.pair, known.threshold)]
    clear = [known for known in scored if not scale.is_misleading(known.pair, known.threshold)]
    return Comparison(listed, tuple(clear[:NEAREST_REPORTED]))


def near_facts(
    candidate: CandidateText,
    facts: FactVectors,
    scale: Scale,
    *,
    floor: float,
    limit: int,
    fields: Sequence[SimilarityMatch] = (),
    only_own: bool = False,
    all_own: bool = False,
) -> tuple[SimilarityMatch, ...]:
    """Return the facts and `fields` that score at least `floor`, best first, the owner's on ties.

    At most `limit` facts of all, plus at most `limit` that belong to the candidate's owner, and as
    many that reach their threshold: those of a type that needs less may score below the others.
    `only_own` leaves out facts of other entities; with `all_own`, all facts of the owner that are
    compared, and all fields, are returned whatever their scores.
    """

    def counts(known: SimilarityMatch) -> bool:
        return known.score >= floor and is_near(known.pair)

    own = facts.owned_by(candidate.owner)
    near: dict[tuple[str, int], SimilarityMatch] = {}
    for within in [own] if only_own else [None, own] if candidate.owner else [None]:
        scored = score_facts(candidate, facts, scale, limit=limit, within=within)
        above = list(filter(counts, scored))
        similar = [known for known in above if known.score >= known.threshold]
        kept = [*above[:limit], *similar[:limit]]
        if within is own and all_own:
            kept = scored
        near |= {(fact.source_path, fact.line): fact for fact in kept}
    return tuple(
        sorted(
            (*near.values(), *(fields if all_own else filter(counts, fields))),
            key=lambda known: (
                -known.score,
                known.entity_id != candidate.owner,
                known.source_path,
                known.line,
            ),
        )
    )


def score_facts(
    candidate: CandidateText,
    facts: FactVectors,
    scale: Scale,
    *,
    limit: int,
    within: Flags | None,
) -> list[SimilarityMatch]:
    """Return the nearest facts with their scores, best first; every comparison begins here.

    Identical texts and the nearest by cosine are compared word by word. Conflicts, the slowest
    part, are left to the few that are listed.
    """
    scored = []
    for text, vector, mask in candidate.variants(facts, within):
        compared = set(find_identical_facts(text, facts, mask))
        compared.update(facts.nearest(vector, max(MIN_COMPARED, 4 * limit), mask).tolist())
        rows = sorted(compared)
        for row, cosine in zip(rows, facts.cosines(vector, np.array(rows, np.int64)), strict=True):
            fact = facts.facts[row]
            pair = scale.pair(text, facts.texts[row], float(cosine))
            threshold, name = scale.of(fact.kind, fact.text), facts.entity_name(fact)
            scored.append(SimilarityMatch.of_fact(fact, pair, threshold, name, done=fact.done))
    return sorted(scored, key=lambda match: (-match.score, match.source_path, match.line))


def top_nearest(texts: Iterable[SimilarityMatch]) -> tuple[SimilarityMatch, ...]:
    return tuple(nlargest(NEAREST_REPORTED, texts, key=lambda text: text.score))


def best_first(matches: Iterable[SimilarityMatch]) -> Iterator[SimilarityMatch]:
    """Yield matches by score; on ties, those without a conflict first, then by path and line.

    Conflicts are looked for only on ties: in a large base many matches are listed, and few shown.
    """
    by_score = sorted(matches, key=lambda match: (-match.score, match.source_path, match.line))
    for _, tied in groupby(by_score, key=lambda match: match.score):
        ties = list(tied)
        yield from ties if len(ties) == 1 else sorted(ties, key=lambda tie: bool(tie.conflicts))


def shown_matches(matches: Iterable[SimilarityMatch], limit: int) -> tuple[SimilarityMatch, ...]:
    """Return the best `limit` matches; if none is similar, the best that is replaces the last."""
    ordered = best_first(matches)
    shown = list(islice(ordered, limit))
    if not any(match.is_similar for match in shown):
        similar = (match for match in ordered if match.is_similar)
        shown[-1:] = list(islice(similar, 1)) or shown[-1:]
    return tuple(shown)


MAX_COMPARED = 64
MAX_LISTED = 500
PAGES_KEPT = 256
"""Pages whose values are kept: reading one takes longer than comparing a text with its values."""

NOT_COMPARED = frozenset(
    {"id", "type", "kind", "name", "title", "aliases", "tags", "date", "created", "updated"}
    | {"status", "facts", "open_items"}
)
"""Fields that identify or file a page, or list facts, instead of saying something."""

_LISTS: Mapping[str, FactKind] = {
    "facts": "fact", "fact": "fact", "open_items": "open_item", "open_item": "open_item",
}  # fmt: skip

_LINK = re.compile(r"\[\[([^\[\]|]+\|)?([^\[\]]+)\]\]")


@dataclass(frozen=True, slots=True)
class FieldValue:
    entity: Entity
    field: str
    text: str


class FieldValues:
    def __init__(self, index: OpenIndex, entities: Sequence[Entity]) -> None:
        self._index, self._pages = index, {entity.path: entity for entity in entities}
        self._kept = dict[str, Sequence[FieldValue]]()

    def of(self, entities: Collection[Entity]) -> dict[str, Sequence[FieldValue]]:
        """Return the values of each entity, by its id."""
        if len(self._kept) > PAGES_KEPT:
            self._kept.clear()
        new = sorted({entity.path for entity in entities} - {"", *self._kept})
        self._kept |= dict.fromkeys(new, ())
        for path, values in groupby(self._read(new), key=lambda value: value.entity.path):
            self._kept[path] = tuple(islice(values, MAX_COMPARED))
        return {entity.id: self._kept.get(entity.path, ()) for entity in entities}

    def near(self, text: str) -> list[FieldValue]:
        """Return the values of all entities with the most words in common with a text."""
        values, rows_of_word = self._all
        shared: Counter[int] = Counter()
        for word in analyse_words(text).content:
            shared.update(rows_of_word.get(word, ()))
        rows = sorted(shared, key=lambda row: (-shared[row], row))[:MAX_COMPARED]
        return [values[row] for row in rows]

    @cached_property
    def _all(self) -> tuple[list[FieldValue], Mapping[str, list[int]]]:
        """All values, and their rows by word."""
        values = self._read(sorted(filter(None, self._pages)))
        rows_of_word = defaultdict(list)
        for row, value in enumerate(values):
            for word in analyse_words(value.text).content:
                rows_of_word[word].append(row)
        return values, rows_of_word

    def _read(self, paths: Sequence[str]) -> list[FieldValue]:
        if not paths:
            return []
        where = is_one_of("path", paths) if len(paths) <= MAX_LISTED else "path != ''"
        table = self._index.store.rows("documents", ["path", "frontmatter"], where)
        values = []
        for row in sorted(table.to_pylist(), key=lambda row: row["path"]):
            entity = self._pages.get(row["path"])
            if entity is None:
                continue
            fields = msgspec.json.decode(row["frontmatter"])
            values += [
                FieldValue(entity, str(field), text)
                for field, value in fields.items()
                if str(field).casefold() not in NOT_COMPARED and _is_text(value)
                for text in value_texts(value)
                if any(map(str.isalpha, text))
            ]
        return values


def score_fields(
    candidate: CandidateText,
    values: Sequence[FieldValue],
    vectors: Vectors,
    scale: Scale,
) -> list[SimilarityMatch]:
    """Return field values with their scores; `vectors` has the unit vector of each, in order."""
    scored = []
    for value, stored in zip(values, vectors, strict=True):
        text, vector = candidate.compared_with(value.entity.id)
        match = SimilarityMatch(
            text=value.text,
            pair=scale.pair(text, value.text, float(stored @ vector)),
            threshold=scale.of("field", value.text),
            match_type="field",
            source_path=value.entity.path,
            line=1,
            entity_id=value.entity.id,
            entity_name=value.entity.name,
            field=value.field,
        )
        scored.append(match)
    return scored


def value_texts(value: Any) -> list[str]:
    if value is None or value == "":
        return []
    if isinstance(value, list):
        return [text for item in value for text in value_texts(item)]
    if isinstance(value, dict):
        return [json.dumps(value, ensure_ascii=False)]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    text = _LINK.sub(r"\2", str(value)).strip()
    return [text] if text else []


def _is_text(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str)


def list_of(field: str) -> FactKind | None:
    """Return the kind of facts that a field lists; None for any other field."""
    return _LISTS.get(field.strip().casefold().replace(" ", "_").replace("-", "_"))


def current_values(index: OpenIndex, entity: Entity, field: str) -> list[str]:
    """Return what a field holds as plain texts: one value, or the items of a list.

    `name`, `aliases`, `role` and `team` come from the index, anything else is a frontmatter key of
    the page. Empty when the field is absent. Raises ConfigError for an empty field name.
    """
    name = field.strip()
    if not name:
        raise ConfigError("the field name is empty; give role, team or any frontmatter key")
    known: dict[str, Any] = {
        "name": entity.name,
        "aliases": list(entity.aliases),
        "role": entity.role,
        "team": entity.team,
    }
    value = known.get(name.casefold())
    return value_texts(value or _frontmatter(index, entity, name))


def _frontmatter(index: OpenIndex, entity: Entity, name: str) -> Any:
    if not entity.path:
        return None
    where = f"path = {quoted(entity.path)}"
    for row in index.store.rows("documents", ["frontmatter"], where).to_pylist():
        fields: dict[str, Any] = msgspec.json.decode(row["frontmatter"])
        folded = {str(key).casefold(): value for key, value in fields.items()}
        return fields.get(name, folded.get(name.casefold()))
    return None


def nearest_line(
    facts: FactVectors, kind: FactKind, value: str, embedder: Embedder, scale: Scale
) -> tuple[PairSimilarity | None, str]:
    of_kind = np.array([fact.kind == kind for fact in facts.facts], np.bool_)
    vector = embedder.embed([value])[0]
    rows = facts.nearest(vector, MIN_COMPARED, of_kind)
    cosines = facts.cosines(vector, rows)
    pairs = [
        scale.pair(facts.texts[row], value, cosine)
        for row, cosine in zip(rows, cosines.tolist(), strict=True)
    ]
    return best_of(pairs, [facts.facts[row].text for row in rows])


def best_of(
    pairs: Sequence[PairSimilarity], texts: Sequence[str]
) -> tuple[PairSimilarity | None, str]:
    highest = max((pair.score for pair in pairs), default=0.0)
    best = [row for row, pair in enumerate(pairs) if pair.score == highest]
    if len(best) > 1:  # only then are rules asked, which takes far longer
        best.sort(key=lambda row: bool(pairs[row].conflicts))
    return (pairs[best[0]], texts[best[0]]) if best else (None, "")


NEAREST_CHUNKS = 8
FEWEST_WORDS = 2
"""Minimum number of words in a passage: a single word is a heading or a label."""

_MARKER = re.compile(r"^\s*(?:[-*+>]|\d{1,9}[.)]|#{1,6}|\|)\s*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[]?[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class _Chunk:
    path: str
    date: str
    line: int
    text: str


def find_passages(
    text: str,
    vector: Vector,
    index: OpenIndex,
    embedder: Embedder,
    scale: Scale,
    *,
    within: Flags,
    names: dict[str, str],
    known: Collection[str] = (),
) -> Comparison:
    """Return the passages similar to a text in the documents `within`, shape (documents,).

    `names` maps a page's path to its entity; passages whose normal form is in `known` are skipped.
    """
    chunks = _nearest_chunks(index, embedder, vector, within)
    passages = [
        (chunk, line, passage)
        for chunk in chunks
        for line, passage in _split(chunk.text, chunk.line)
        if normal_form(passage) not in known
    ]
    vectors = embedder.embed([passage for _, _, passage in passages])
    best: dict[_Chunk, SimilarityMatch] = {}
    nearest: list[SimilarityMatch] = []
    for (chunk, line, passage), cosine in zip(passages, (vectors @ vector).tolist(), strict=True):
        match = SimilarityMatch(
            text=passage,
            pair=scale.pair(text, passage, cosine),
            threshold=scale.of("chunk", passage),
            match_type="chunk",
            source_path=chunk.path,
            line=line,
            entity_name=names.get(chunk.path, ""),
            date=chunk.date,
        )
        if not scale.is_misleading(match.pair, match.threshold):
            nearest.append(match)
        if scale.listed(match.pair, match.threshold):
            other = best.setdefault(chunk, match)
            if (match.is_similar, match.score) > (other.is_similar, other.score):
                best[chunk] = match
    return Comparison(list(best.values()), top_nearest(nearest))


def _nearest_chunks(
    index: OpenIndex, embedder: Embedder, vector: Vector, within: Flags
) -> list[_Chunk]:
    generation = index.generation()
    vectors = generation.vectors(model=embedder.model, dimension=embedder.dimension)
    nearest = vectors.nearest_chunks(vector, within, NEAREST_CHUNKS)
    if not nearest:
        return []
    snapshot = generation.snapshot
    date_of = {(snapshot.paths[row], line): snapshot.dates[row] for row, line in nearest}
    where = is_one_of("path", sorted({path for path, _ in date_of}))
    columns = ["path", "version", "line_start", "start", "end"]
    found = index.store.rows("chunks", columns, where).to_pylist()
    near = [
        row
        for row in found
        if (row["path"], row["line_start"]) in date_of
        and row["version"].encode() == snapshot.versions[snapshot.row_of[row["path"]]]
    ]
    bodies = generation.bodies.read([row["path"] for row in near])
    return [
        _Chunk(
            row["path"],
            date_of[row["path"], row["line_start"]],
            row["line_start"],
            body[row["start"] : row["end"]],
        )
        for row, (body, _) in zip(near, bodies, strict=True)
    ]


def _split(text: str, first_line: int) -> Iterator[tuple[int, str]]:
    """Yield (line, passage) of a chunk: list items as facts, prose by sentence."""
    for number, line in enumerate(text.split("\n"), first_line):
        bare = _MARKER.sub("", line)
        content = read_fact_line(bare).text if bare != line else bare
        for passage in _SENTENCE.split(content):
            passage = passage.strip()
            if len(analyse_words(passage).tokens) >= FEWEST_WORDS:
                yield number, passage

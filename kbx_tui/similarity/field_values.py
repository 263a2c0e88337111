"""What the fields of entities hold, compared with a text as facts are, or with a proposed value.

All fields of one entity are compared. Without an entity, only values that share a word with the
text: a base has thousands, and hardly any would match without one.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from kbx_tui.embedding.embedder import Embedder, Vectors
from kbx_tui.errors import ConfigError
from kbx_tui.index.store import is_one_of, quoted
from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.knowledge.records import Entity, FactKind
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.compared_words import analyse_words
from kbx_tui.similarity.fact_comparison import MIN_COMPARED
from kbx_tui.similarity.fact_vectors import CandidateText, FactVectorCache, FactVectors
from kbx_tui.similarity.matches import FieldSimilarity, SimilarityMatch, Thresholds
from kbx_tui.similarity.pair_score import (
    Calibration,
    PairSimilarity,
    calibration_of,
    pair_similarity,
    require_text,
    similarity,
)

MAX_COMPARED = 64

MAX_LISTED = 500

NOT_COMPARED = frozenset(
    {"id", "type", "kind", "name", "title", "aliases", "tags", "date", "created", "updated"}
    | {"status", "facts", "open_items"}
)
"""Fields that identify or file a page, or list facts, instead of saying something."""

_LISTS: Mapping[str, FactKind] = {
    "facts": "fact", "fact": "fact", "open_items": "open_item", "open_item": "open_item",
}  # fmt: skip

_LINK = re.compile(r"\[\[([^\]|]+\|)?([^\]]+)\]\]")


@dataclass(frozen=True, slots=True)
class FieldValue:
    entity: Entity
    field: str
    text: str


class FieldValues:
    def __init__(self, index: OpenIndex, entities: Sequence[Entity]) -> None:
        self._index, self._pages = index, {entity.path: entity for entity in entities}
        self._all: tuple[FieldValue, ...] | None = None
        self._rows_of_word: dict[str, list[int]] = {}

    def of(self, entity: Entity) -> list[FieldValue]:
        return self._read([entity.path])[:MAX_COMPARED] if entity.path else []

    def near(self, text: str) -> list[FieldValue]:
        """Return the values of all entities with the most words in common with a text."""
        values = self._load()
        shared: Counter[int] = Counter()
        for word in analyse_words(text).content:
            shared.update(self._rows_of_word.get(word, ()))
        rows = sorted(shared, key=lambda row: (-shared[row], row))[:MAX_COMPARED]
        return [values[row] for row in rows]

    def _load(self) -> tuple[FieldValue, ...]:
        if self._all is None:
            values = tuple(self._read(sorted(filter(None, self._pages))))
            rows_of_word = defaultdict(list)
            for row, value in enumerate(values):
                for word in analyse_words(value.text).content:
                    rows_of_word[word].append(row)
            self._all, self._rows_of_word = values, dict(rows_of_word)
        return self._all

    def _read(self, paths: Sequence[str]) -> list[FieldValue]:
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
    calibration: Calibration,
    thresholds: Thresholds,
) -> list[SimilarityMatch]:
    """Return field values with their scores; `vectors` has the unit vector of each, in order."""
    scored = []
    for value, stored in zip(values, vectors, strict=True):
        text, vector = candidate.compared_with(value.entity.id)
        match = SimilarityMatch(
            text=value.text,
            pair=similarity(text, value.text, float(stored @ vector), calibration),
            threshold=thresholds.of("field", value.text),
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


def check_field(
    entity: Entity,
    field: str,
    value: str,
    *,
    index: OpenIndex,
    cache: FactVectorCache,
    embedder: Embedder,
    thresholds: Thresholds,
) -> FieldSimilarity:
    """Compare a proposed value with a field; for a list, with its most similar item.

    Raises ConfigError for an empty field or value.
    """
    require_text(value)
    kind = _LISTS.get(field.strip().casefold().replace(" ", "_").replace("-", "_"))
    if kind:
        pair, stored = _nearest_line(
            cache.of(entity.id), kind, strip_subject(value, entity), embedder
        )
    else:
        current = _current_values(index, entity, field)
        pairs = pair_similarity([(text, value) for text in current], embedder)
        pair, stored = _best(pairs, current)
    threshold = thresholds.of(kind or "field", stored)
    return FieldSimilarity(
        entity=entity.name,
        field=field.strip(),
        current_value=None if pair is None else stored,
        proposed_value=value,
        similarity=0.0 if pair is None else pair.score,
        is_similar=pair is not None and pair.score >= threshold and pair.relation != "conflict",
        threshold=threshold,
        match_type=kind or "field",
        pair=pair,
        model=embedder.model,
    )


def _current_values(index: OpenIndex, entity: Entity, field: str) -> list[str]:
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


def _nearest_line(
    facts: FactVectors, kind: FactKind, value: str, embedder: Embedder
) -> tuple[PairSimilarity | None, str]:
    of_kind = np.array([fact.kind == kind for fact in facts.facts], np.bool_)
    vector = embedder.embed([value])[0]
    rows = facts.nearest(vector, MIN_COMPARED, of_kind)
    cosines = facts.cosines(vector, rows)
    calibration = calibration_of(embedder.model)
    pairs = [
        similarity(facts.texts[row], value, cosine, calibration)
        for row, cosine in zip(rows, cosines.tolist(), strict=True)
    ]
    return _best(pairs, [facts.facts[row].text for row in rows])


def _best(
    pairs: Sequence[PairSimilarity], texts: Sequence[str]
) -> tuple[PairSimilarity | None, str]:
    best = max(
        range(len(pairs)), key=lambda i: (pairs[i].score, not pairs[i].conflicts), default=None
    )
    return (None, "") if best is None else (pairs[best], texts[best])

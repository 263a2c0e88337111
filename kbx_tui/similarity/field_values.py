"""What the fields of entities hold, compared with a text like facts are.

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

from kbx_tui.embedding.embedder import Vectors
from kbx_tui.index.store import is_one_of
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.compared_words import analyse_words
from kbx_tui.similarity.fact_vectors import CandidateText
from kbx_tui.similarity.matches import Nearest, SimilarityMatch, Thresholds
from kbx_tui.similarity.pair_score import Calibration, PairScore, score_pair

MAX_COMPARED = 64
"""Values compared with one text: those with the most words in common."""

MAX_LISTED = 500
"""Pages up to which their paths are listed in a where clause; more are read with all others."""

NOT_COMPARED = frozenset(
    {"id", "type", "kind", "name", "title", "aliases", "tags", "date", "created", "updated"}
    | {"status", "facts", "open_items"}
)
"""Fields that identify or file a page, or list facts, instead of saying something."""

_LINK = re.compile(r"\[\[([^\]|]+\|)?([^\]]+)\]\]")


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One text that a field of an entity holds."""

    entity: Entity
    field: str
    text: str


class FieldValues:
    """The field values of one index generation."""

    def __init__(self, index: OpenIndex, entities: Sequence[Entity]) -> None:
        self._index, self._pages = index, {entity.path: entity for entity in entities}
        self._all: tuple[FieldValue, ...] | None = None
        self._rows_of_word: dict[str, list[int]] = {}

    def of(self, entity: Entity) -> list[FieldValue]:
        """Return what the fields of one entity hold, at most `MAX_COMPARED` values."""
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


@dataclass(frozen=True, slots=True)
class ScoredField:
    """A field value with its score and the threshold that applies to it."""

    value: FieldValue
    pair: PairScore
    threshold: float

    @property
    def text(self) -> str:
        """What the field holds."""
        return self.value.text

    def as_nearest(self) -> Nearest:
        """Return this value as one of the nearest texts, whether or not it conflicts."""
        path = self.value.entity.path
        return Nearest(self.text, self.pair.score, self.threshold, "field", path, 1)

    def as_match(self, names: Mapping[str, str]) -> SimilarityMatch:
        """Return this value as a match, with the conflicts between the two texts."""
        pair, entity = self.pair.with_conflicts(), self.value.entity
        return SimilarityMatch(
            text=self.text,
            score=pair.score,
            fact_id=None,
            source_path=entity.path,
            date="",
            entity_name=names.get(entity.id, ""),
            match_type="field",
            threshold=self.threshold,
            relation=pair.relation,
            cosine=pair.cosine,
            signals=pair.signals,
            conflicts=pair.conflicts,
            line=1,
            done=False,
            field=self.value.field,
        )


def score_fields(
    candidate: CandidateText,
    values: Sequence[FieldValue],
    vectors: Vectors,
    calibration: Calibration,
    thresholds: Thresholds,
) -> list[ScoredField]:
    """Return field values with their scores; `vectors` has the unit vector of each, in order."""
    scored = []
    for value, stored in zip(values, vectors, strict=True):
        text, vector = candidate.compared_with(value.entity.id)
        pair = score_pair(text, value.text, float(stored @ vector), calibration)
        scored.append(ScoredField(value, pair, thresholds.of("field", value.text)))
    return scored


def value_texts(value: Any) -> list[str]:
    """Return what a value of the frontmatter says, as plain texts."""
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

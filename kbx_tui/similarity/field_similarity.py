"""Compares a proposed value with what a field of an entity holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.errors import ConfigError
from kbx_tui.index.store import quoted
from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.knowledge.records import Entity, FactKind
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.similarity.fact_comparison import MIN_COMPARED
from kbx_tui.similarity.fact_vectors import FactVectorCache, FactVectors
from kbx_tui.similarity.field_values import value_texts
from kbx_tui.similarity.matches import FieldSimilarity, Thresholds
from kbx_tui.similarity.pair_score import (
    PairSimilarity,
    calibration_of,
    pair_similarity,
    require_text,
    similarity,
)

LISTS: Mapping[str, FactKind] = {
    "facts": "fact",
    "fact": "fact",
    "open_items": "open_item",
    "open_item": "open_item",
}
"""Fields that are lists under a heading -> the kind of their items."""


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
    kind = list_kind(field)
    if kind:
        pair, stored = _nearest_line(
            cache.of(entity.id), kind, strip_subject(value, entity), embedder
        )
    else:
        current = current_values(index, entity, field)
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


def list_kind(field: str) -> FactKind | None:
    """Return `fact` or `open_item` for a field that lists those, else None."""
    return LISTS.get(field.strip().casefold().replace(" ", "_").replace("-", "_"))


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
        if name in fields:
            return fields[name]
        folded = {str(key).casefold(): value for key, value in fields.items()}
        return folded.get(name.casefold())
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
    """Return the best pair, preferring one without a conflict on a tie, and its text."""
    best = max(
        range(len(pairs)), key=lambda i: (pairs[i].score, not pairs[i].conflicts), default=None
    )
    return (None, "") if best is None else (pairs[best], texts[best])

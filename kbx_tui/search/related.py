"""Documents related to one: by meaning, links, and the entities that both are linked to. Pure.

    score = 1 - (1 - .75 * meaning) * (1 - .6 * entities) * (1 - .6 * links)

`meaning` is the cosine of the best chunk of a document with the mean of those of the other, from .3
(0) to .8 (1). `entities` is the cosine of the two sets of entities, each weighted by how few
documents are linked to it. `links` is 1 where one links to the other; a page that both link to, or
that links to both, counts the more the fewer others do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kbx_tui.formatting import format_score, join_limited
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.search.evidence.scores import Scores, highest
from kbx_tui.search.link_graph import LinkGraph
from kbx_tui.search.link_records import RelatedDocument

MEANING, ENTITIES, LINKS = 0.75, 0.6, 0.6
FURTHEST, NEAREST = 0.3, 0.8
LEAST_MEANING, LEAST = 0.2, 0.25
"""Meaning from which it is a reason of its own, and the lowest score of a related document."""
NAMED = 3


@dataclass(frozen=True, slots=True)
class _Shared:
    weight: float
    words: str


class RelatedSearch:
    def __init__(self, snapshot: Snapshot, graph: LinkGraph, vectors: VectorMatrix | None) -> None:
        """Without `vectors`, and where a document has none yet, meaning counts nothing."""
        self._snapshot, self._graph, self._vectors = snapshot, graph, vectors

    def find(self, path: str, limit: int) -> list[RelatedDocument]:
        """Return at most `limit` documents, best first, equal ones by path."""
        snapshot = self._snapshot
        row = snapshot.row_of[path]
        meaning = self._meaning(row)
        shared, entities = self._entities(row)
        linked = self._links(path)
        links = np.zeros(len(snapshot.paths))
        for other, reasons in linked.items():
            links[other] = min(max(each.weight for each in reasons), 1.0)
        near = np.where(meaning >= LEAST_MEANING, meaning, 0.0)
        scores = 1.0 - (
            (1.0 - MEANING * near) * (1.0 - ENTITIES * entities) * (1.0 - LINKS * links)
        )
        scores[row] = 0.0
        found = highest(scores, np.flatnonzero(scores >= LEAST), limit)
        return [
            RelatedDocument(
                path=snapshot.paths[each],
                title=snapshot.titles[each],
                date=snapshot.dates[each],
                kind=snapshot.kinds[each],
                score=float(scores[each]),
                reason=self._reason(
                    float(near[each]), shared.get(each, ()), linked.get(each, ()), links[each]
                ),
            )
            for each in found.tolist()
        ]

    def _meaning(self, row: int) -> Scores:
        vectors = self._vectors
        everywhere = np.ones(len(self._snapshot.paths), np.bool_)
        if vectors is None or not vectors.has(row):
            return np.zeros(len(everywhere))
        cosines = vectors.best_cosine(vectors.mean_vectors(np.array([row])), everywhere)[0]
        scaled: Scores = np.clip((np.nan_to_num(cosines) - FURTHEST) / (NEAREST - FURTHEST), 0, 1)
        return scaled

    def _rarities(self) -> tuple[Scores, Scores]:
        """How rare each entity is, 0..1, and the length of each document's vector of rarities."""
        stored, size = self._snapshot.links.stored, len(self._snapshot.paths)
        owners = np.repeat(np.arange(len(stored.starts) - 1), np.diff(stored.starts))
        pairs = np.unique(owners.astype(np.int64) * size + stored.rows)
        entities, rows = pairs // max(size, 1), pairs % max(size, 1)
        counts = np.bincount(entities, minlength=len(stored.starts) - 1)
        rarity: Scores = np.log(max(size, 2) / np.maximum(counts, 1)) / np.log(max(size, 2))
        return rarity, np.sqrt(np.bincount(rows, rarity[entities] ** 2, size))

    def _entities(self, row: int) -> tuple[Mapping[int, Sequence[_Shared]], Scores]:
        """Return the entities that each document shares with one, and how much they are alike."""
        snapshot, (rarity, lengths) = self._snapshot, self._rarities()
        shared: dict[int, list[_Shared]] = defaultdict(list)
        products = np.zeros(len(snapshot.paths))
        for number in snapshot.links.entities_of(row).tolist():
            entity = snapshot.entities[number]
            links = snapshot.links.get(entity.id)
            assert links is not None  # as the document is linked to it
            rows = np.unique(links.rows)
            products[rows] += rarity[number] ** 2
            for other in rows.tolist():
                shared[other].append(_Shared(float(rarity[number]), entity.name))
        return shared, products / np.maximum(lengths * lengths[row], 1e-9)

    def _links(self, path: str) -> Mapping[int, Sequence[_Shared]]:
        graph = self._graph
        reasons: dict[int, list[_Shared]] = defaultdict(list)
        row_of, titles = self._snapshot.row_of, self._snapshot.titles
        to, by = _targets(path, graph), graph.sources.get(path, ())
        for other in by:
            reasons[row_of[other]].append(_Shared(1.0, "links to it"))
        for other in to:
            reasons[row_of[other]].append(_Shared(1.0, "is linked from it"))
        for target in to:
            others = [each for each in graph.sources.get(target, ()) if each != path]
            for other in others:
                words = f"links to {titles[row_of[target]]} as well"
                reasons[row_of[other]].append(_Shared(1.0 / (1.0 + len(others)), words))
        for source in by:
            others = [each for each in _targets(source, graph) if each != path]
            for other in others:
                words = f"is linked from {titles[row_of[source]]} as well"
                reasons[row_of[other]].append(_Shared(1.0 / (1.0 + len(others)), words))
        return reasons

    def _reason(
        self, meaning: float, shared: Sequence[_Shared], linked: Sequence[_Shared], links: float
    ) -> str:
        parts: list[tuple[float, str]] = []
        if links:
            parts.append((LINKS * links, max(linked, key=lambda each: each.weight).words))
        if names := list(_rarest(shared)):
            weight = ENTITIES * max(each.weight for each in shared)
            parts.append((weight, f"shares {join_limited(names, limit=NAMED)}"))
        if meaning:
            parts.append((MEANING * meaning, f"close in meaning ({format_score(meaning)})"))
        parts.sort(key=lambda part: -part[0])
        return " · ".join(words for _, words in parts)


def _rarest(shared: Sequence[_Shared]) -> Iterator[str]:
    for each in sorted(shared, key=lambda each: (-each.weight, each.words)):
        if each.weight > 0.0:
            yield each.words


def _targets(path: str, graph: LinkGraph) -> list[str]:
    found = (target.destination for target in graph.targets.get(path, ()))
    paths = (destination.path for destination in found if destination is not None)
    return [each for each in dict.fromkeys(paths) if each and each != path]

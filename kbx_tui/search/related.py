"""Documents related to one: by meaning, links, and the entities that both are linked to. Pure.

    score = 1 - (1 - .75 * meaning) * (1 - .6 * entities) * (1 - .6 * links)

`meaning` is how far the cosine of the best chunk of a document with the mean of those of the other
is above .3, or above the median of all documents, which is higher in a base on one subject or in a
language that the model did not learn; .5 above counts in full. `entities` is the cosine of the two
sets of entities, each weighted by how few documents are linked to it. `links` is 1 where one links
to the other; a page that both link to, or that links to both, counts the more the fewer others do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from kbx_tui.formatting import format_score, join_limited
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.stored_records import EntitiesById
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.search.evidence.scores import Scores, highest
from kbx_tui.search.link_graph import LinkGraph
from kbx_tui.search.link_records import RelatedDocument

MEANING, ENTITIES, LINKS = 0.75, 0.6, 0.6
FURTHEST, FURTHEST_AT_MOST, NEAREST = 0.3, 0.7, 0.8
FEWEST = 15
"""Other documents from which the median is that of unrelated ones; half of fewer may be related."""
LEAST_MEANING, LEAST = 0.2, 0.25
"""Meaning from which it is a reason of its own, and the lowest score of a related document."""
NAMED = 3


@dataclass(frozen=True, slots=True)
class _Shared:
    weight: float
    words: str
    pages: tuple[str, ...] = ()
    """Paths of other pages that the words are from."""
    is_of_one: bool = False
    """Whether it is an entity and the page of it is one of the two documents."""


class RelatedSearch:
    def __init__(self, snapshot: Snapshot, graph: LinkGraph, vectors: VectorMatrix | None) -> None:
        """Without `vectors`, and where a document has none yet, meaning counts nothing."""
        self._snapshot, self._graph, self._vectors = snapshot, graph, vectors

    def find(self, path: str, limit: int) -> tuple[list[RelatedDocument], set[str]]:
        """Return at most `limit` documents, best first, equal ones by path, and other pages.

        These are the ones that the reasons are from; their paths.
        """
        snapshot = self._snapshot
        row = snapshot.row_of[path]
        meaning = self._meaning(row)
        shared, entities = self._entities(row)
        linked = self._links(path)
        links = np.zeros(len(snapshot.paths))
        for other, reason in linked.items():
            links[other] = reason.weight
        near = np.where(meaning >= LEAST_MEANING, meaning, 0.0)
        scores = 1.0 - (
            (1.0 - MEANING * near) * (1.0 - ENTITIES * entities) * (1.0 - LINKS * links)
        )
        scores[row] = 0.0
        found, pages = list[RelatedDocument](), set[str]()
        for each in highest(scores, np.flatnonzero(scores >= LEAST), limit).tolist():
            reasons = self._reasons(float(near[each]), shared.get(each, ()), linked.get(each))
            found.append(
                RelatedDocument(
                    path=snapshot.paths[each],
                    title=snapshot.titles[each],
                    date=snapshot.dates[each],
                    kind=snapshot.kinds[each],
                    score=float(scores[each]),
                    reason=" · ".join(reason.words for reason in reasons),
                )
            )
            pages.update(page for reason in reasons for page in reason.pages)
        return found, pages

    def _meaning(self, row: int) -> Scores:
        vectors = self._vectors
        everywhere = np.ones(len(self._snapshot.paths), np.bool_)
        if vectors is None or not vectors.has(row):
            return np.zeros(len(everywhere))
        cosines = vectors.best_cosine(vectors.mean_vectors(np.array([row])), everywhere)[0]
        cosines[row] = np.nan
        known = cosines[~np.isnan(cosines)]
        usual = float(np.median(known)) if len(known) >= FEWEST else FURTHEST
        furthest = min(max(FURTHEST, usual), FURTHEST_AT_MOST)
        scaled: Scores = np.clip((np.nan_to_num(cosines) - furthest) / (NEAREST - FURTHEST), 0, 1)
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
        by_id = EntitiesById(snapshot.entities)
        shared: dict[int, list[_Shared]] = defaultdict(list)
        products = np.zeros(len(snapshot.paths))
        for number in snapshot.links.entities_of(row).tolist():
            entity = snapshot.entities[number]
            links = snapshot.links.get(entity.id)
            assert links is not None  # as the document is linked to it
            rows, pages = np.unique(links.rows), by_id.pages_naming(entity)
            products[rows] += rarity[number] ** 2
            weight, own = float(rarity[number]), snapshot.row_of.get(entity.path, -1)
            for other in rows.tolist():
                named = {row: "names it", other: "is named in it"}.get(own, "")
                each = _Shared(weight, named or entity.name, pages, is_of_one=bool(named))
                shared[other].append(each)
        return shared, products / np.maximum(lengths * lengths[row], 1e-9)

    def _links(self, path: str) -> Mapping[int, _Shared]:
        """Return by which link, the nearest, each document is connected with one."""
        graph, row_of, titles = self._graph, self._snapshot.row_of, self._snapshot.titles
        to, by = _targets(path, graph), graph.sources.get(path, ())
        nearest = {row_of[other]: _Shared(1.0, "is linked from it") for other in to}
        nearest |= {row_of[other]: _Shared(1.0, "links to it") for other in by}
        pages = [("links to", each, graph.sources.get(each, ())) for each in to]
        pages += [("is linked from", each, tuple(_targets(each, graph))) for each in by]
        beside = [
            (
                f"{verb} {titles[row_of[page]]} as well",
                page,
                [each for each in others if each != path],
            )
            for verb, page, others in pages
        ]
        for words, page, others in sorted(beside, key=lambda each: len(each[2])):
            shared = _Shared(1.0 / (1.0 + len(others)), words, (page,))
            for other in others:
                nearest.setdefault(row_of[other], shared)
        return nearest

    def _reasons(
        self, meaning: float, shared: Sequence[_Shared], linked: _Shared | None
    ) -> list[_Shared]:
        """Return at most one reason of each kind, with its part of the score, the highest first."""
        reasons: list[_Shared] = []
        if linked is not None:
            reasons.append(replace(linked, weight=LINKS * linked.weight))
        by_rarity = sorted(
            (each for each in shared if each.weight > 0.0),
            key=lambda each: (-each.weight, each.words),
        )
        if linked is None or linked.weight < 1.0:  # a link between the two says the same
            of_one = (each for each in by_rarity if each.is_of_one)
            reasons += [replace(each, weight=ENTITIES * each.weight) for each in islice(of_one, 1)]
        if rarest := [each for each in by_rarity if not each.is_of_one]:
            names = join_limited([each.words for each in rarest], limit=NAMED)
            pages = tuple(page for each in rarest[:NAMED] for page in each.pages)
            reasons.append(_Shared(ENTITIES * rarest[0].weight, f"shares {names}", pages))
        if meaning:
            words = f"close in meaning ({format_score(meaning)})"
            reasons.append(_Shared(MEANING * meaning, words))
        return sorted(reasons, key=lambda each: -each.weight)


def _targets(path: str, graph: LinkGraph) -> list[str]:
    found = (target.destination for target in graph.targets.get(path, ()))
    paths = (destination.path for destination in found if destination is not None)
    return [each for each in dict.fromkeys(paths) if each and each != path]

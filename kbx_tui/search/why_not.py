"""Why a document is not among the first results, and the smallest changes to get it there. Pure.

Each change is of one dimension and is verified by `rank`, the one function that decides what a
setting gives. Within its dimension it is the smallest:

- alpha: the order changes only where lines cross, so the nearest place beyond such a point;
- threshold: only the scores of the candidates matter, so the nearest of these, or just above one;
- number of entities: the nearest number;
- query: without one of the filters typed in it;
- path: the largest folder; dates: those that leave out the fewest documents. A filter that leaves
  the document out is widened just as far as that takes, to the folder that both are in, its type or
  its date, and else dropped.

Mode, gate, parent score, type and the entity to add have no size; of entities it is the one that
lifts the document highest. A reranker is left out of account.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kbx_tui.formatting import format_score
from kbx_tui.search.evidence.evidence import ComponentScores, Evidence
from kbx_tui.search.evidence.scores import Flags, frozen
from kbx_tui.search.evidence.tuning import MAX_ENTITIES_LIMIT, Tuning
from kbx_tui.search.ranking.alpha import ScoreLines
from kbx_tui.search.ranking.explain import Comparison, compare
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import SearchRequest

Dimension = Literal[
    "alpha", "threshold", "max_entities", "hierarchy", "gate", "parent", "pinned", "path",
    "doc_types", "since", "until", "tags", "entities", "dates", "fast", "query",
]  # fmt: skip
"""Field of `SearchRequest` that a change sets."""
Stage = Literal["shown", "ranked", "gated", "no match", "filtered"]
"""How far a document comes: into the top, into the results, out by the hard gate, into the scope
without saying anything of the query, or not even into the scope."""

BEYOND = 1e-9, 1e-6
"""How far beyond a swap point an alpha is tried; the first that helps is taken."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a search that brings the document into the top."""

    dimension: Dimension
    value: Any
    """New value of that field of the request; of `pinned` the ids to add."""
    text: str
    """The change in words: `alpha .62`, `only memory/meetings/`."""
    rank: int
    """Rank of the document after it."""
    after: Ranking
    """The ranking after it, to compare with the one before."""

    def applied_to(self, request: SearchRequest) -> SearchRequest:
        """Return the request with this change."""
        return changed_request(request, self.dimension, self.value)


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Where one document stands, and what would bring it into the top."""

    path: str
    title: str
    stage: Stage
    rank: int | None
    """None where it is not a result."""
    score: float | None
    """None where it is not in scope."""
    needed: float | None
    """Score of the last of the top; None if the top is not full."""
    limit: int
    changes: tuple[Change, ...]
    """At most one per dimension; empty if it is in the top, or if no single change helps."""
    ranking: Ranking
    """The ranking that this is about, without a reranker."""

    @property
    def standing(self) -> str:
        """Where it stands, in a sentence."""
        if self.path in self.ranking.evidence.scope.asked_about:
            return (
                "neither words, links nor the index of vectors find it in so wide a scope; scored "
                f"all the same, {self._standing}"
            )
        return self._standing

    @property
    def _standing(self) -> str:
        match self.stage:
            case "filtered" if self.path in self.ranking.evidence.scope.filters.muted_documents:
                return "it is muted, so no search shows it: [search] muted_documents in kbx.toml"
            case "filtered":
                return "a filter leaves it out"
            case "gated":
                return "it is not linked to a kept entity, which the hard gate requires"
            case "no match":
                return "it says nothing of what is asked"
        place = f"it is number {self.rank} with {format_score(self.score or 0.0)}"
        if self.stage == "shown" or self.needed is None:
            return place
        return f"{place}; the first {self.limit} have {format_score(self.needed)} or more"


def changed_request(request: SearchRequest, dimension: Dimension, value: Any) -> SearchRequest:
    """Return a request with one field changed; ids of `pinned` are added to those pinned."""
    if dimension == "pinned":
        value = (*request.pinned, *value)
    changes: dict[str, Any] = {dimension: value}
    return replace(request, **changes)


def why_not(ranking: Ranking, row: int, limit: int = 10) -> WhyNot:
    """Return where a row of a complete ranking stands, and the changes that would bring it up."""
    evidence = ranking.evidence
    if evidence.reranker is not None:
        ranking = rank(replace(evidence, reranker=None), ranking.tuning)
    best = ranking.best(limit).tolist()
    place = _place(ranking, row)
    hard = bool(ranking.kept) and ranking.tuning.gate == "hard"
    stage: Stage = "ranked" if place else "no match"
    if row in best:
        stage = "shown"
    elif not place and hard and not ranking.is_linked[row]:
        stage = "gated"
    return WhyNot(
        path=evidence.paths[row],
        title=evidence.titles[row],
        stage=stage,
        rank=place,
        score=float(ranking.final[row]),
        needed=float(ranking.final[best[-1]]) if len(best) == limit else None,
        limit=limit,
        ranking=ranking,
        changes=() if stage == "shown" else tuple(_Search(ranking, row, limit).changes()),
    )


def _place(ranking: Ranking, row: int) -> int | None:
    """Return the rank of a row, None if it is not a result."""
    if not ranking.included[row]:
        return None
    return int(np.flatnonzero(ranking.order == row)[0]) + 1


@dataclass(frozen=True, slots=True)
class _Search:
    """Looks for the smallest change of each dimension."""

    ranking: Ranking
    row: int
    limit: int

    def changes(self) -> Iterator[Change]:
        for find in (
            self._alpha, self._threshold, self._max_entities, self._hierarchy, self._gate,
            self._parent, self._pinned, self._path, self._doc_types, self._since, self._until,
        ):  # fmt: skip
            change: Change | None = find()
            if change is not None:
                yield change

    @property
    def _tuning(self) -> Tuning:
        return self.ranking.tuning

    @property
    def _evidence(self) -> Evidence:
        return self.ranking.evidence

    def _tuned(self, dimension: Dimension, value: Any, text: str, **knobs: Any) -> Change | None:
        """Return a change of knobs if it brings the document into the top."""
        after = rank(self._evidence, replace(self._tuning, **knobs))
        return self._verified(dimension, value, text, after, self.row)

    def _verified(
        self, dimension: Dimension, value: Any, text: str, after: Ranking, row: int
    ) -> Change | None:
        best = after.best(self.limit).tolist()
        if row not in best:
            return None
        return Change(dimension, value, text, best.index(row) + 1, after)

    def _first(
        self, dimension: Dimension, values: Iterable[Any], knob: str, text: Callable[[Any], str]
    ) -> Change | None:
        tries = (self._tuned(dimension, value, text(value), **{knob: value}) for value in values)
        return next(filter(None, tries), None)

    def _alpha(self) -> Change | None:
        lines = ScoreLines.of(self.ranking, self.limit)
        position = np.flatnonzero(lines.rows == self.row)
        if lines.is_flat or not len(position):
            return None
        alphas = np.array(self._alphas(lines, int(position[0])))
        helps = (lines.best(alphas, self.limit) == self.row).any(axis=1)
        nearest = sorted(alphas[helps].tolist(), key=self._distance)
        return self._first("alpha", nearest, "alpha", lambda alpha: f"alpha {_decimals(alpha)}")

    def _distance(self, alpha: float) -> float:
        return abs(alpha - self._tuning.alpha)

    def _alphas(self, lines: ScoreLines, position: int) -> Sequence[float]:
        """Return the alphas to try: where the line of the document crosses others, and beyond."""
        leads = [
            scores[position]
            - scores
            + (lines.opened[position] - lines.opened) / (lines.factor or 1)
            for scores in (lines.parent, lines.answered)
        ]
        crossing = np.sign(leads[0]) * np.sign(leads[1]) < 0.0
        points = leads[0][crossing] / (leads[0][crossing] - leads[1][crossing])
        ordered = sorted({0.0, 1.0, self._tuning.alpha, *points.tolist()})
        alphas = set(ordered)
        for below, above in pairwise(ordered):
            middle = (below + above) / 2
            alphas.add(middle)
            alphas.update(min(below + step, middle) for step in BEYOND)
            alphas.update(max(above - step, middle) for step in BEYOND)
        return sorted(alphas)

    def _threshold(self) -> Change | None:
        now = self._tuning.entity_threshold
        scores = {min(entity.score, 1.0) for entity in self._evidence.entities if entity.found}
        above = {float(np.nextafter(score, 2.0)) for score in scores if score < 1.0}
        nearest = sorted(scores | above, key=lambda value: abs(value - now))

        def text(value: float) -> str:
            if value in scores:
                return f"threshold {_decimals(value)}"
            return f"threshold above {_decimals(float(np.nextafter(value, 0.0)))}"

        return self._first("threshold", nearest, "entity_threshold", text)

    def _max_entities(self) -> Change | None:
        now = self._tuning.max_entities
        numbers = sorted(range(1, MAX_ENTITIES_LIMIT + 1), key=lambda number: abs(number - now))
        return self._first("max_entities", numbers, "max_entities", lambda n: f"{n} entities")

    def _hierarchy(self) -> Change | None:
        other = not self._tuning.hierarchy
        return self._first(
            "hierarchy", [other], "hierarchy", lambda on: "two-pass" if on else "flat"
        )

    def _gate(self) -> Change | None:
        other = "soft" if self._tuning.gate == "hard" else "hard"
        return self._first("gate", [other], "gate", lambda gate: f"a {gate} gate")

    def _parent(self) -> Change | None:
        other = "max" if self._tuning.parent == "coverage" else "coverage"
        return self._first("parent", [other], "parent", lambda parent: f"parent score {parent}")

    def _pinned(self) -> Change | None:
        tuning = self._tuning
        found = [
            self._tuned("pinned", (entity.id,), f"with {entity.name}",
                        pinned=tuning.pinned | {entity.id})
            for entity in self._evidence.entities
            if entity.id not in tuning.pinned | tuning.muted
        ]  # fmt: skip
        return min(filter(None, found), key=lambda change: change.rank, default=None)

    def _path(self) -> Change | None:
        path, scope = self._evidence.paths[self.row], self._evidence.scope.path
        folders = path.split("/")[:-1]
        for depth in range(1, len(folders) + 1):
            folder = "/".join(folders[:depth]) + "/"
            if scope and not folder.startswith(scope.rstrip("/") + "/"):
                continue
            inside = [other.startswith(folder) for other in self._evidence.paths]
            if change := self._narrowed("path", folder, f"only {folder}", np.array(inside)):
                return change
        return None

    def _doc_types(self) -> Change | None:
        kind = self._evidence.kinds[self.row]
        same = np.array([other == kind for other in self._evidence.kinds])
        return self._narrowed("doc_types", (kind,), f"only the type {kind}", same) if kind else None

    def _since(self) -> Change | None:
        own = self._evidence.dates[self.row]
        dates = np.array(self._evidence.dates)
        for date in sorted({date for date in self._evidence.dates if date and date <= own}):
            later = dates >= date
            if change := self._narrowed("since", date, f"from {date}", later):
                return change
        return None

    def _until(self) -> Change | None:
        own = self._evidence.dates[self.row]
        if not own:
            return None
        dates = np.array(self._evidence.dates)
        for date in sorted({date for date in self._evidence.dates if date >= own}, reverse=True):
            earlier = (dates != "") & (dates <= date)
            if change := self._narrowed("until", date, f"to {date}", earlier):
                return change
        return None

    def _stays_behind(self, in_scope: Flags) -> bool:
        """Return whether enough documents that are before it now are in scope, too.

        False where fewer documents may change scores: if frecency or dates count, or if none may be
        left that is linked.
        """
        ranking = self.ranking
        is_safe = not ranking.kept or ranking.is_linked[self.row]
        may_change = ranking.frecency_weight or ranking.date_preference is not None
        if not is_safe or may_change or not ranking.included[self.row]:
            return False
        ahead = ranking.order[: int(np.flatnonzero(ranking.order == self.row)[0])]
        return int(np.count_nonzero(in_scope[ahead])) >= self.limit

    def _narrowed(
        self, dimension: Dimension, value: Any, text: str, in_scope: Flags
    ) -> Change | None:
        """Return a filter if it brings the document, which passes it, into the top."""
        if in_scope.all() or self._stays_behind(in_scope):
            return None
        after = rank(narrowed(self._evidence, in_scope), self._tuning)
        row = int(np.count_nonzero(in_scope[: self.row]))
        return self._verified(dimension, value, text, after, row)


def _decimals(number: float) -> str:
    """Return a number with as many decimals as it needs, 2 to 4."""
    text = f"{number:.4f}".rstrip("0")
    return text.removeprefix("0") if len(text) > 4 else format_score(number)


def narrowed(evidence: Evidence, in_scope: Flags) -> Evidence:
    """Return the Evidence of the documents that `in_scope`, shape (n,), flags."""
    rows = np.flatnonzero(in_scope)
    numbers = rows.tolist()
    typed = _components(evidence.as_typed, rows)
    same = evidence.as_searched is evidence.as_typed
    preference = evidence.date_preference
    if preference is not None:
        preference = replace(preference, matches=frozen(preference.matches[rows]))
    position = {row: number for number, row in enumerate(numbers)}
    return replace(
        evidence,
        scope=replace(evidence.scope, in_scope=len(numbers)),
        links=tuple(linked.within(in_scope, rows) for linked in evidence.links),
        paths=tuple(evidence.paths[row] for row in numbers),
        titles=tuple(evidence.titles[row] for row in numbers),
        dates=tuple(evidence.dates[row] for row in numbers),
        kinds=tuple(evidence.kinds[row] for row in numbers),
        as_typed=typed,
        as_searched=typed if same else _components(evidence.as_searched, rows),
        known_items={
            position[row]: what for row, what in evidence.known_items.items() if row in position
        },
        frecency=frozen(evidence.frecency[rows]),
        reranker=None,
        date_preference=preference,
        evaluated=None if evidence.evaluated is None else frozen(evidence.evaluated[rows]),
    )


def _components(components: ComponentScores, rows: NDArray[np.int64]) -> ComponentScores:
    changes: dict[str, Any] = {
        name: frozen(getattr(components, name)[rows])
        for name in (
            "raw_lexical", "lexical", "cosine", "vector", "own_relevance", "doc_relevance",
            "propagated_from",
        )
    }  # fmt: skip
    return replace(components, **changes)


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    """A change, and the top of the search with and without it."""

    change: Change
    comparison: Comparison

    @property
    def size(self) -> tuple[int, int]:
        """How much the top changes: documents lost, then places moved by those that stay."""
        places = sum(abs(moved.distance) for moved in self.comparison.moved)
        return len(self.comparison.lost), places


def change_effects(answer: WhyNot) -> tuple[ChangeEffect, ...]:
    """Return the changes with their effects, the smallest first: it changes the top the least.

    Knobs, filters and entities have no common unit; what they do to the results is one.
    """
    effects = (
        ChangeEffect(change, compare(answer.ranking, change.after, answer.limit))
        for change in answer.changes
    )
    return tuple(sorted(effects, key=lambda effect: effect.size))

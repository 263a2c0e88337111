"""Why a document is not among the first results, and the smallest changes to get it there. Pure.

Each change is in one dimension and is verified with `rank`, which alone decides the effect of a
setting. It is the smallest that helps in its dimension:

- alpha: the nearest point just beyond a crossing of lines, as the order changes only there;
- threshold: the nearest score of a candidate, or just above one, as no other values matter;
- number of entities: the nearest number;
- query: the query without one of the filters typed in it;
- filters: all that leave the document out, where to drop a single one does not help;
- path: the largest folder; dates: those that leave out the fewest documents. A filter that leaves
  the document out is only widened as far as necessary, to the common folder, its type or its date,
  or else dropped.

Mode, gate, parent score, type and the entity to add have no size; of entities, the one that lifts
the document highest is taken. A reranker is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from kbx_tui.formatting import format_count, format_score, listed
from kbx_tui.knowledge.folding import tokens
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.scores import ComponentScores, Flags, Rows, frozen
from kbx_tui.search.query.query_words import has_topic
from kbx_tui.search.ranking.alpha import ScoreLines
from kbx_tui.search.ranking.explain import Comparison, compare
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import MAX_ENTITIES_LIMIT, SearchRequest, Tuning

Dimension = Literal[
    "alpha", "threshold", "max_entities", "hierarchy", "gate", "parent", "pinned", "path",
    "doc_types", "since", "until", "tags", "entities", "said", "dates", "fast", "query", "filters",
]  # fmt: skip
Stage = Literal["shown", "ranked", "gated", "no match", "filtered"]
"""How far a document gets: it is in the top, is in the results, is removed by the hard gate, is in
scope but does not match the query, or is not in scope."""

MOST_DAYS = 100
"""Days from or to which a search is tried, each of which takes a ranking."""

BEYOND = 1e-9, 1e-6
"""Distances beyond a swap point at which an alpha is tried; the first that helps is taken."""


@dataclass(frozen=True, slots=True)
class Change:
    dimension: Dimension
    value: Any
    text: str
    rank: int
    after: Ranking


@dataclass(frozen=True, slots=True)
class WhyNot:
    path: str
    title: str
    stage: Stage
    rank: int | None
    """1-based rank of the document; None if it is not a result."""
    score: float | None
    """Score of the document; None if it is not in scope."""
    needed: float | None
    """Score of the last document of the top; None if the top is not full."""
    limit: int
    changes: tuple[Change, ...]
    """Changes that help, one per dimension; empty if it is in the top, or no single one helps."""
    ranking: Ranking
    """The ranking that is explained, without a reranker."""
    left_out_by: tuple[str, ...] = ()
    """The filters each of which leaves the document out, as one types them, `or` between values."""

    @property
    def standing(self) -> str:
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
                return f"left out by {listed(self.left_out_by) or 'a filter'}"
            case "gated":
                return "it is not linked to a kept entity, which the hard gate requires"
            case "no match" if not has_topic(tokens(self.ranking.evidence.query)):
                return "the question has only words that nearly every text has, so none finds it"
            case "no match":
                row = self.ranking.evidence.paths.index(self.path)
                named = "is linked to what you name, but " if self.ranking.is_linked[row] else ""
                return f"it {named}says nothing of what is asked"
        place = f"it is number {self.rank} with {format_score(self.score or 0.0)}"
        if self.stage == "shown" or self.needed is None:
            return place
        return f"{place}; the first {self.limit} have {format_score(self.needed)} or more"


def changed_request(request: SearchRequest, dimension: Dimension, value: Any) -> SearchRequest:
    if dimension == "filters":
        return replace(request, **value)
    if dimension == "pinned":
        value = (*request.pinned, *value)
    changes: dict[str, Any] = {dimension: value}
    return replace(request, **changes)


def why_not(ranking: Ranking, row: int, limit: int = 10) -> WhyNot:
    evidence = ranking.evidence
    if evidence.reranker is not None:
        ranking = rank(replace(evidence, reranker=None), ranking.tuning)
    best, place = ranking.best(limit).tolist(), ranking.ranks.get(row)
    stage: Stage = "ranked" if place else "no match"
    if row in best:
        stage = "shown"
    elif not place and ranking.is_hard and not ranking.is_linked[row]:
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


@dataclass(frozen=True, slots=True)
class _Search:
    ranking: Ranking
    row: int
    limit: int

    def changes(self) -> Iterator[Change]:
        tuning = self._tuning
        is_two_pass, gate, parent = (
            not tuning.hierarchy,
            "soft" if tuning.gate == "hard" else "hard",
            "max" if tuning.parent == "coverage" else "coverage",
        )
        mode = "two-pass" if is_two_pass else "flat"
        finds: tuple[Callable[[], Change | None], ...] = (
            self._alpha,
            self._threshold,
            self._max_entities,
            lambda: self._tuned("hierarchy", is_two_pass, mode, hierarchy=is_two_pass),
            lambda: self._tuned("gate", gate, f"a {gate} gate", gate=gate),
            lambda: self._tuned("parent", parent, f"parent score {parent}", parent=parent),
            self._pinned,
            self._path,
            self._doc_types,
            self._since,
            self._until,
        )
        yield from filter(None, (find() for find in finds))

    @property
    def _tuning(self) -> Tuning:
        return self.ranking.tuning

    @property
    def _evidence(self) -> Evidence:
        return self.ranking.evidence

    def _tuned(self, dimension: Dimension, value: Any, text: str, **knobs: Any) -> Change | None:
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
        nearest = sorted(alphas[helps].tolist(), key=lambda alpha: abs(alpha - self._tuning.alpha))
        return self._first("alpha", nearest, "alpha", lambda alpha: f"alpha {_decimals(alpha)}")

    def _alphas(self, lines: ScoreLines, position: int) -> Sequence[float]:
        """Return the alphas to try: where the document's line crosses others, and just beyond."""
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
        text = partial(format_count, singular="entity")
        return self._first("max_entities", numbers, "max_entities", text)

    def _pinned(self) -> Change | None:
        tuning = self._tuning
        found = [
            self._tuned("pinned", (entity.id,), f"add the entity {entity.name}",
                        pinned=tuning.pinned | {entity.id})
            for entity in self._evidence.entities
            if entity.id not in tuning.pinned | tuning.muted
        ]  # fmt: skip
        return min(filter(None, found), key=lambda change: change.rank, default=None)

    def _path(self) -> Change | None:
        paths, scope = self._evidence.paths, self._evidence.scope.path
        names = paths[self.row].split("/")[:-1]
        folders = ["/".join(names[: depth + 1]) + "/" for depth in range(len(names))]
        return self._narrowed(
            "path",
            (
                (folder, f"only {folder}", np.array([path.startswith(folder) for path in paths]))
                for folder in folders
                if not scope or folder.startswith(scope.rstrip("/") + "/")
            ),
        )

    def _doc_types(self) -> Change | None:
        kinds, kind = self._evidence.kinds, self._evidence.kinds[self.row]
        same = np.array([other == kind for other in kinds])
        filters = [((kind,), f"only the type {kind}", same)] if kind else []
        return self._narrowed("doc_types", filters)

    @property
    def _days(self) -> list[str]:
        return [date.partition("/")[0] for date in self._evidence.dates]  # a week by its first day

    def _since(self) -> Change | None:
        days = self._days
        own, dates = days[self.row], np.array(days)
        firsts = {day for day in days if day and day <= own}
        filters = ((date, f"from {date}", dates >= date) for date in _some(sorted(firsts)))
        return self._narrowed("since", filters)

    def _until(self) -> Change | None:
        days = self._days
        own, dates = days[self.row], np.array(days)
        lasts = {day for day in days if day >= own} if own else ()
        filters = (
            (date, f"to {date}", (dates != "") & (dates <= date))
            for date in _some(sorted(lasts, reverse=True))
        )
        return self._narrowed("until", filters)

    def _stays_behind(self, in_scope: Flags) -> bool:
        """Return whether `in_scope` still holds enough documents to keep this one out of the top.

        These are documents ranked before it now. False if narrowing the scope may change scores,
        because frecency or dates count, or because no linked document may be left.
        """
        ranking, rank = self.ranking, self.ranking.ranks.get(self.row)
        is_safe = not ranking.kept or ranking.is_linked[self.row]
        may_change = ranking.frecency_weight or ranking.date_preference is not None
        if not is_safe or may_change or rank is None:
            return False
        ahead = ranking.order[: rank - 1]
        return int(np.count_nonzero(in_scope[ahead])) >= self.limit

    def _narrowed(
        self, dimension: Dimension, filters: Iterable[tuple[Any, str, Flags]]
    ) -> Change | None:
        """Return the first filter that lifts the document into the top; it passes all `filters`."""
        for value, text, in_scope in filters:
            if in_scope.all() or self._stays_behind(in_scope):
                continue
            after = rank(narrowed(self._evidence, in_scope), self._tuning)
            row = int(np.count_nonzero(in_scope[: self.row]))
            if change := self._verified(dimension, value, text, after, row):
                return change
        return None


def _some(days: Sequence[str]) -> Sequence[str]:
    """Return at most `MOST_DAYS` of some days, at equal distances, the last among them."""
    step = -(-len(days) // MOST_DAYS) or 1
    return days[::-step][::-1]


def _decimals(number: float) -> str:
    text = f"{number:.4f}".rstrip("0")
    return text.removeprefix("0") if len(text) > 4 else format_score(number)


def narrowed(evidence: Evidence, in_scope: Flags) -> Evidence:
    rows = np.flatnonzero(in_scope)
    numbers = rows.tolist()
    typed = _components(evidence.as_typed, rows)
    same = evidence.as_searched is evidence.as_typed
    preference = evidence.date_preference
    if preference is not None:
        preference = replace(preference, matches=frozen(preference.matches[rows]))
    kind = evidence.asked_kind
    if kind is not None:
        kind = kind.at(rows)
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
            int(np.searchsorted(rows, row)): what
            for row, what in evidence.known_items.items()
            if in_scope[row]
        },
        frecency=frozen(evidence.frecency[rows]),
        reranker=None,
        date_preference=preference,
        asked_kind=kind,
        age_factors=None if evidence.age_factors is None else frozen(evidence.age_factors[rows]),
        evaluated=None if evidence.evaluated is None else frozen(evidence.evaluated[rows]),
    )


def _components(components: ComponentScores, rows: Rows) -> ComponentScores:
    arrays = ((field.name, getattr(components, field.name)) for field in fields(components))
    changes: dict[str, Any] = {
        name: frozen(array[rows]) for name, array in arrays if isinstance(array, np.ndarray)
    }
    return replace(components, **changes)


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    change: Change
    comparison: Comparison

    @property
    def size(self) -> tuple[int, int]:
        """Size of the change of the top: documents lost, then places moved by those that stay."""
        places = sum(abs(moved.distance) for moved in self.comparison.moved)
        return len(self.comparison.lost), places


def change_effects(answer: WhyNot) -> tuple[ChangeEffect, ...]:
    """Return the changes with their effects, in order of how much they change the top.

    Tuning, filters and entities have no common unit, except their effect on the results.
    """
    effects = (
        ChangeEffect(change, compare(answer.ranking, change.after, answer.limit))
        for change in answer.changes
    )
    return tuple(sorted(effects, key=lambda effect: effect.size))

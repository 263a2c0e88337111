"""From judged queries to a run, and to a sweep: each query is retrieved once, then ranked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from kbx_tui.errors import NotFound
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.metrics import CUTOFF, ndcg, recall, reciprocal_rank
from kbx_tui.evaluation.runs import ALL, QueryResult, Run
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.rank import Ranking, rank

Mode = Literal["auto", "flat", "two_pass", "fast"]
MODES: tuple[Mode, ...] = ("auto", "flat", "two_pass", "fast")

Knob = Literal["alpha", "threshold"]
STEPS = tuple(step / 20 for step in range(21))

Retrieve = Callable[[str], Evidence]
Listener = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """nDCG@10 by group for each value of one knob."""

    knob: Knob
    values: tuple[float, ...]
    ndcg: Mapping[str, tuple[float, ...]]
    """By group, one figure per value."""

    def best(self, group: str) -> float:
        """Return the value with the best figure; of equal ones the middle one."""
        row = self.ndcg[group]
        places = [at for at, figure in enumerate(row) if figure == max(row)]
        return self.values[places[len(places) // 2]]


def tuning_for(mode: Mode, tuning: Tuning) -> Tuning:
    """Return the knobs of a mode: `two_pass` keeps entities however badly they fit."""
    if mode == "flat":
        return replace(tuning, hierarchy=False)
    return replace(tuning, entity_threshold=0.0) if mode == "two_pass" else tuning


def measure(
    queries: Sequence[JudgedQuery],
    retrieve: Retrieve,
    tuning: Tuning,
    *,
    base: str,
    mode: Mode = "auto",
    preset: str = "default",
    doc_types: Sequence[str] = (),
    listener: Listener | None = None,
) -> Run:
    """Search every judged query and tell how good the results were.

    Raises NotFound when no query has a relevant document.
    """
    tuning = tuning_for(mode, tuning)
    judged = judged_queries(queries)
    results, share = [], 1.0
    for number, query in enumerate(judged):
        if listener:
            listener(number, len(judged))
        began = time.perf_counter()
        evidence = retrieve(query.text)
        ranking = rank(evidence, tuning)
        top = paths(ranking, CUTOFF)
        spent = (time.perf_counter() - began) * 1000
        share = float(evidence.vector_share)
        results.append(_result(query, ranking, top, spent))
    return Run(
        base=base,
        mode=mode,
        preset=preset,
        doc_types=tuple(doc_types),
        results=tuple(results),
        skipped=len(queries) - len(judged),
        vector_share=share,
    )


def sweep(
    queries: Sequence[JudgedQuery],
    retrieve: Retrieve,
    tuning: Tuning,
    knob: Knob,
    *,
    values: Sequence[float] = STEPS,
    listener: Listener | None = None,
) -> Sweep:
    """Rank every judged query under each value of one knob. Raises as `measure`."""
    tunings = [_with_knob(tuning, knob, value) for value in values]
    found: dict[str, list[list[float]]] = {}
    judged = judged_queries(queries)
    for number, query in enumerate(judged):
        if listener:
            listener(number, len(judged))
        evidence = retrieve(query.text)
        row = [ndcg(paths(rank(evidence, one), CUTOFF), query.grades) for one in tunings]
        found.setdefault(query.group, []).append(row)
    if len(found) > 1:
        found[ALL] = [row for rows in list(found.values()) for row in rows]
    means = {
        group: tuple(fmean(column) for column in zip(*rows, strict=True))
        for group, rows in found.items()
    }
    return Sweep(knob, tuple(values), means)


def _with_knob(tuning: Tuning, knob: Knob, value: float) -> Tuning:
    if knob == "alpha":
        return replace(tuning, alpha=value)
    return replace(tuning, entity_threshold=value)


def judged_queries(queries: Sequence[JudgedQuery]) -> list[JudgedQuery]:
    """Return the queries with a relevant document. Raises NotFound when there is none."""
    judged = [query for query in queries if any(grade > 0 for grade in query.grades.values())]
    if not judged:
        raise NotFound("no query has a document judged relevant: there is nothing to measure")
    return judged


def paths(ranking: Ranking, limit: int | None = None) -> list[str]:
    """Return the paths of a ranking, best first."""
    rows = ranking.order if limit is None else ranking.best(limit)
    return [ranking.evidence.paths[row] for row in rows.tolist()]


def _result(
    query: JudgedQuery, ranking: Ranking, top: Sequence[str], milliseconds: float
) -> QueryResult:
    found = reciprocal_rank(top, query.grades) or reciprocal_rank(paths(ranking), query.grades)
    return QueryResult(
        id=query.id,
        text=query.text,
        group=query.group,
        ndcg=ndcg(top, query.grades),
        recall=recall(top, query.grades),
        reciprocal_rank=found,
        search_mode=ranking.search_mode,
        search_mode_reason=ranking.search_mode_reason,
        entity_first=_entity_first(query, ranking.evidence),
        milliseconds=round(milliseconds, 3),
        top=tuple(top),
    )


def _entity_first(query: JudgedQuery, evidence: Evidence) -> bool | None:
    if not query.entities:
        return None
    return next(_pages(evidence), "") in query.entities


def _pages(evidence: Evidence) -> Iterator[str]:
    return (entity.path for entity in evidence.entities if entity.found)

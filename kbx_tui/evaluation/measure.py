"""Search quality on judged queries: a single run, or a sweep over one tuning value."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

import msgspec

from kbx_tui.errors import NotFound
from kbx_tui.evaluation.judgments import HOW_TO_JUDGE, JudgedQuery
from kbx_tui.evaluation.metrics import CUTOFF, judged_share, ndcg
from kbx_tui.evaluation.runs import ALL, DEPTH, QueryResult, Run, highest_grade, measured
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.ranking.rank_many import best_of_each
from kbx_tui.search.ranking.score_lines import NO_ROW

Mode = Literal["auto", "flat", "two_pass", "fast"]

Knob = Literal["alpha", "threshold"]
SWEEP_VALUES = tuple(step / 20 for step in range(21))

Retrieve = Callable[[str], Evidence]
ProgressCallback = Callable[[int, int], None]
"""Called with the number of queries done and the total."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Mean nDCG@10 by group, and judged@10, for each value of one knob."""

    knob: Knob
    values: tuple[float, ...]
    ndcg: Mapping[str, tuple[float, ...]]
    """By group, one mean per value."""
    judged: tuple[float, ...]
    """Mean judged@10 of all queries, one per value. The lower it is, the worse the value looks."""

    def best(self, group: str) -> float:
        """Return the value with the highest nDCG; the middle one of several."""
        means = self.ndcg[group]
        best = [value for value, mean in zip(self.values, means, strict=True) if mean == max(means)]
        return best[len(best) // 2]


def measure(
    queries: Sequence[JudgedQuery],
    retrieve: Retrieve,
    tuning: Tuning,
    *,
    base: str,
    mode: Mode = "auto",
    preset: str = "default",
    doc_types: Sequence[str] = (),
    progress: ProgressCallback | None = None,
    rerank: Callable[[Ranking], Ranking] = lambda ranking: ranking,
) -> Run:
    """Return a run of all judged queries. Raises NotFound if none has a relevant document."""
    if mode == "flat":
        tuning = replace(tuning, hierarchy=False)
    elif mode == "two_pass":  # with entities of any score
        tuning = replace(tuning, entity_threshold=0.0)
    results, share, highest = [], 1.0, highest_grade(queries)
    by_candidates = 0
    for query in _judged_queries(queries, progress):
        start = time.perf_counter()
        evidence = retrieve(query.text)
        ranking = rerank(rank(evidence, tuning))
        top = ranking.best_paths(DEPTH)
        milliseconds = round((time.perf_counter() - start) * 1000, 3)
        share = float(evidence.vector_share)
        by_candidates += not evidence.scope.complete
        results.append(_result(query, ranking, top, milliseconds, highest))
    skipped = len(queries) - len(results)
    return Run(base, mode, preset, tuple(doc_types), tuple(results), skipped, share, by_candidates)


def sweep(
    queries: Sequence[JudgedQuery],
    retrieve: Retrieve,
    tuning: Tuning,
    knob: Knob,
    *,
    values: Sequence[float] = SWEEP_VALUES,
    progress: ProgressCallback | None = None,
) -> Sweep:
    """Return nDCG and judged@10 by value of one knob.

    Raises NotFound if no query has a relevant document.
    """
    tunings = [
        replace(tuning, alpha=value) if knob == "alpha" else replace(tuning, entity_threshold=value)
        for value in values
    ]
    rows_of: defaultdict[str, list[list[float]]] = defaultdict(list)
    judged: list[list[float]] = []
    for query in _judged_queries(queries, progress):
        evidence = retrieve(query.text)
        best = best_of_each(evidence, tunings, CUTOFF).tolist()
        tops = [[evidence.paths[row] for row in rows if row != NO_ROW] for rows in best]
        rows_of[query.group].append([ndcg(top, query.grades) for top in tops])
        judged.append([judged_share(top, query.grades) for top in tops])
    if len(rows_of) > 1:
        rows_of[ALL] = [row for rows in list(rows_of.values()) for row in rows]
    means = {group: _column_means(rows) for group, rows in rows_of.items()}
    return Sweep(knob, tuple(values), means, _column_means(judged))


def _column_means(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(map(fmean, zip(*rows, strict=True)))


def _judged_queries(
    queries: Sequence[JudgedQuery], progress: ProgressCallback | None
) -> Iterator[JudgedQuery]:
    """Yield the queries that have a relevant document. Raises NotFound if none has."""
    judged = [query for query in queries if query.is_measurable]
    if not judged:
        raise NotFound(
            "no query has a document judged relevant, so there is nothing to measure; "
            + HOW_TO_JUDGE
        )
    for number, query in enumerate(judged):
        if progress:
            progress(number, len(judged))
        yield query


def _result(
    query: JudgedQuery, ranking: Ranking, top: Sequence[str], milliseconds: float, highest: int
) -> QueryResult:
    first = next((entity.path for entity in ranking.evidence.entities if entity.found), "")
    return QueryResult(
        **msgspec.structs.asdict(measured(top, query.grades, highest)),
        id=query.id,
        text=query.text,
        group=query.group,
        search_mode=ranking.search_mode,
        search_mode_reason=ranking.search_mode_reason,
        entity_first=first in query.entities if query.entities else None,
        milliseconds=milliseconds,
        top=tuple(top),
    )

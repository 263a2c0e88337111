"""Runs: the results of judged queries with their metrics; measured, saved, read and compared."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Literal

import msgspec

from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.evaluation import metrics
from kbx_tui.evaluation.blind_preferences import Preference, Votes, count_votes
from kbx_tui.evaluation.exchange import read_run, write_file, write_run
from kbx_tui.evaluation.judged_evidence import JudgedEvidence, Retrieve
from kbx_tui.evaluation.judgments import HOW_TO_JUDGE, MAX_GRADE, SIZE_LIMIT, Grades, JudgedQuery
from kbx_tui.evaluation.metrics import (
    Interval,
    PairedDifference,
    bootstrap_interval,
    holm,
    paired_difference,
)
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import Tuning
from kbx_tui.state_file import Notice, decode_json, ignore, read_regular_file

ALL = "all"
TREC_SUFFIX = ".run"
DEPTH = 100


class Measures(msgspec.Struct, frozen=True):
    """The measures of one result list, each 0..1; the functions in `metrics` define them."""

    ndcg: float
    """nDCG@10, gain 2^grade - 1."""
    ndcg_linear: float
    recall: float
    """Share of the relevant documents among the first 10."""
    precision: float
    """Share of relevant documents among the first 5."""
    average_precision: float
    reciprocal_rank: float
    err: float
    """ERR@10."""
    rbp: float
    rbp_residual: float
    """By how much documents without a grade could raise RBP."""
    judged: float
    """Share of the first 10 that have a grade."""


class QueryResult(Measures, frozen=True):
    id: str
    text: str
    group: str
    search_mode: str
    search_mode_reason: str
    entity_first: bool | None
    """Whether the entity pass ranked a labelled entity first; None without labelled entities."""
    milliseconds: float
    top: tuple[str, ...]


class Run(msgspec.Struct, frozen=True):
    base: str
    mode: str
    preset: str
    doc_types: tuple[str, ...]
    results: tuple[QueryResult, ...]
    skipped: int
    vector_share: float
    by_candidates: int = 0
    """Queries of which only candidates were scored: the scope is too wide for all."""

    @property
    def groups(self) -> dict[str, list[QueryResult]]:
        groups: dict[str, list[QueryResult]] = {}
        for result in self.results:
            groups.setdefault(result.group, []).append(result)
        return {**groups, ALL: list(self.results)} if len(groups) > 1 else groups


@dataclass(frozen=True, slots=True)
class GroupMetrics:
    group: str
    queries: int
    judged: float
    """Share of the first 10 results that have a grade: how far the other figures can be trusted."""
    ndcg: float
    ndcg_interval: Interval | None
    ndcg_linear: float
    recall: float
    precision: float
    mrr: float
    average_precision: float
    err: float
    rbp: float
    rbp_residual: float
    two_pass: float
    entity_first: float | None
    milliseconds: float


@dataclass(frozen=True, slots=True)
class GroupDifference:
    group: str
    against: str
    ndcg: PairedDifference
    ndcg_p_holm: float
    recall: PairedDifference
    judged: float
    judged_before: float
    votes: Votes


def group_metrics(run: Run) -> Iterator[GroupMetrics]:
    for group, results in run.groups.items():
        labelled = [result.entity_first for result in results if result.entity_first is not None]
        means = {
            name: fmean(getattr(result, name) for result in results)
            for name in (*Measures.__struct_fields__, "milliseconds")
        }
        yield GroupMetrics(
            group=group,
            queries=len(results),
            ndcg_interval=bootstrap_interval([result.ndcg for result in results]),
            mrr=means.pop("reciprocal_rank"),
            two_pass=fmean(result.search_mode == "two_pass" for result in results),
            entity_first=fmean(labelled) if labelled else None,
            **means,
        )


def compare_runs(
    earlier: Mapping[str, Run], later: Run, preferences: Sequence[Preference] = ()
) -> tuple[GroupDifference, ...]:
    """Return `later` minus each earlier run, given by name, by group.

    Only queries in both runs count. P-values are adjusted within a group over the earlier runs.
    """
    differences: list[GroupDifference] = []
    for group, results in later.groups.items():
        rows = []
        for name, run in earlier.items():
            known = {result.id: result for result in run.results}
            pairs = [(known[result.id], result) for result in results if result.id in known]
            if pairs:
                rows.append(_difference(group, name, pairs, preferences))
        adjusted = holm([row.ndcg.p for row in rows])
        differences += [replace(row, ndcg_p_holm=p) for row, p in zip(rows, adjusted, strict=True)]
    return tuple(differences)


def measured(ranked: Sequence[str], grades: Grades, max_grade: int) -> Measures:
    """Return the measures of the first `DEPTH` paths of a result list.

    `max_grade` is the highest grade of the scale, for ERR.
    """
    top = ranked[:DEPTH]
    rbp, residual = metrics.rank_biased_precision(top, grades)
    return Measures(
        ndcg=metrics.ndcg(top, grades),
        ndcg_linear=metrics.ndcg_linear(top, grades),
        recall=metrics.recall(top, grades),
        precision=metrics.precision(top, grades),
        average_precision=metrics.average_precision(top, grades),
        reciprocal_rank=metrics.reciprocal_rank(top, grades),
        err=metrics.expected_reciprocal_rank(top, grades, max_grade=max_grade),
        rbp=rbp,
        rbp_residual=residual,
        judged=metrics.judged_share(top, grades),
    )


def highest_grade(queries: Iterable[JudgedQuery]) -> int:
    """Return the highest grade of the scale: that of the app, or a higher one that was given."""
    given = (grade for query in queries for grade in query.grades.values())
    return max(MAX_GRADE, max(given, default=0))


def measured_again(run: Run, queries: Sequence[JudgedQuery]) -> Run:
    """Return a run with the measures of these judgments: more may have been judged since.

    Queries without a relevant document are left out.
    """
    judged = {query.id: query for query in queries if query.is_measurable}
    highest = highest_grade(queries)
    results = tuple(
        msgspec.structs.replace(
            result,
            **msgspec.structs.asdict(measured(result.top, judged[result.id].grades, highest)),
        )
        for result in run.results
        if result.id in judged
    )
    return msgspec.structs.replace(run, results=results)


def save_run(run: Run, file: Path, *, overwrite: bool = False) -> None:
    """Write a run as JSON, or as a TREC run if the name ends in `.run`. Raises WriteFault."""
    if file.suffix == TREC_SUFFIX:
        text = write_run({result.id: result.top for result in run.results}, f"kbx-{run.mode}")
    else:
        text = msgspec.json.format(msgspec.json.encode(run), indent=1).decode()
    write_file(file, text, overwrite=overwrite)


def read_saved_run(file: Path, notice: Notice = ignore) -> Run:
    """Return a saved run, or a TREC run of any tool, whose measures are 0.

    `notice` receives a sentence about each line that cannot be read. Raises NotFound and
    ConfigError.
    """
    try:
        data = read_regular_file(file, limit=SIZE_LIMIT, follow_links=True)
        if not data.lstrip().startswith((b"{", b"[")):
            return _trec_run(file, data, notice)
        return decode_json(data, Run)
    except OSError as error:
        raise NotFound(f"no run at {file}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(
            f"{file} is not a run saved by `kbx eval --save` of this version: {error}"
        ) from error


def _trec_run(file: Path, data: bytes, notice: Notice) -> Run:
    ranked, problems = read_run(data)
    for problem in problems:
        notice(f"{file}: {problem}")
    if not ranked:
        raise ValueError("it has no line of a TREC run")
    results = tuple(
        QueryResult(
            **msgspec.structs.asdict(measured((), {}, MAX_GRADE)),
            id=query,
            text=query,
            group=ALL,
            search_mode="",
            search_mode_reason="",
            entity_first=None,
            milliseconds=0.0,
            top=tuple(paths[:DEPTH]),
        )
        for query, paths in ranked.items()
    )
    return Run(file.name, "", "", (), results, skipped=0, vector_share=1.0)


def _difference(
    group: str,
    against: str,
    pairs: Sequence[tuple[QueryResult, QueryResult]],
    preferences: Sequence[Preference],
) -> GroupDifference:
    before, after = zip(*pairs, strict=True)
    ndcg = paired_difference([one.ndcg for one in before], [one.ndcg for one in after])
    recall = paired_difference([one.recall for one in before], [one.recall for one in after])
    return GroupDifference(
        group=group,
        against=against,
        ndcg=ndcg,
        ndcg_p_holm=ndcg.p,
        recall=recall,
        judged=fmean(result.judged for result in after),
        judged_before=fmean(result.judged for result in before),
        votes=count_votes(preferences, {new.text: (old.top, new.top) for old, new in pairs}),
    )


Mode = Literal["auto", "flat", "two_pass", "fast"]

Knob = Literal["alpha", "threshold"]
SWEEP_VALUES = tuple(step / 20 for step in range(21))

ProgressCallback = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Mean nDCG@10 by group, and judged@10, for each value of one knob."""

    knob: Knob
    values: tuple[float, ...]
    ndcg: Mapping[str, tuple[float, ...]]
    judged: tuple[float, ...]

    def best(self, group: str) -> float:
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
    results, share, by_candidates, highest = [], 1.0, 0, highest_grade(queries)
    for query in _judged_queries(queries, progress):
        start = time.perf_counter()
        evidence = retrieve(query.text)
        ranking = rerank(rank(evidence, tuning))
        top = ranking.best_paths(DEPTH)
        milliseconds = round((time.perf_counter() - start) * 1000, 3)
        share = float(evidence.vector_share)
        by_candidates += not evidence.scope.complete
        first = next((entity.path for entity in evidence.entities if entity.found), "")
        results.append(
            QueryResult(
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
        )
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
    """Return nDCG and judged@10 by value of one knob. Raises as `measure`."""
    tunings = [
        replace(tuning, alpha=value) if knob == "alpha" else replace(tuning, entity_threshold=value)
        for value in values
    ]
    rows_of: defaultdict[str, list[list[float]]] = defaultdict(list)
    judged: list[list[float]] = []
    for query in _judged_queries(queries, progress):
        alone = JudgedEvidence(generation=0)
        alone.add(query, retrieve(query.text), tuning)
        measured = alone.measure(tunings)
        rows_of[query.group].append(measured.ndcg[:, 0].tolist())
        judged.append(measured.judged[:, 0].tolist())
    if len(rows_of) > 1:
        rows_of[ALL] = [row for rows in list(rows_of.values()) for row in rows]
    means = {group: _column_means(rows) for group, rows in rows_of.items()}
    return Sweep(knob, tuple(values), means, _column_means(judged))


def _column_means(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(map(fmean, zip(*rows, strict=True)))


def _judged_queries(
    queries: Sequence[JudgedQuery], progress: ProgressCallback | None
) -> Iterator[JudgedQuery]:
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

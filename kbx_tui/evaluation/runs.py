"""Runs: the results of judged queries with their metrics; saved, read and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec

from kbx_tui.errors import ConfigError, KbxError, NotFound
from kbx_tui.evaluation.metrics import randomisation_p
from kbx_tui.state_file import decode_json, read_regular_file

ALL = "all"


class QueryResult(msgspec.Struct, frozen=True):
    """The result of one query."""

    id: str
    text: str
    group: str
    ndcg: float
    """nDCG@10, gain 2^grade - 1."""
    recall: float
    """Share of the relevant documents among the first 10."""
    reciprocal_rank: float
    search_mode: str
    search_mode_reason: str
    entity_first: bool | None
    """Whether the entity pass ranked a labelled entity first; None without labelled entities."""
    milliseconds: float
    top: tuple[str, ...]
    """Paths of the first 10 results."""


class Run(msgspec.Struct, frozen=True):
    """The results of all judged queries of a base under one search setting."""

    base: str
    """Folder name of the base."""
    mode: str
    preset: str
    doc_types: tuple[str, ...]
    results: tuple[QueryResult, ...]
    skipped: int
    """Number of queries left out because no document is judged relevant."""
    vector_share: float
    """Share of the texts that have a vector."""

    @property
    def groups(self) -> dict[str, list[QueryResult]]:
        """The results by group; with several groups, all results together last."""
        groups: dict[str, list[QueryResult]] = {}
        for result in self.results:
            groups.setdefault(result.group, []).append(result)
        return {**groups, ALL: list(self.results)} if len(groups) > 1 else groups


@dataclass(frozen=True, slots=True)
class GroupMetrics:
    """The mean metrics of one group."""

    group: str
    queries: int
    ndcg: float
    recall: float
    mrr: float
    two_pass: float
    """Share of the queries searched in two passes."""
    entity_first: float | None
    """Share of the queries with labelled entities for which one of them ranked first."""
    milliseconds: float


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """The difference between two runs in one group."""

    group: str
    queries: int
    ndcg: float
    """Mean of after minus before."""
    ndcg_p: float
    """Two-sided p-value of the paired randomisation test."""
    recall: float
    recall_p: float
    better: int
    worse: int


def group_metrics(run: Run) -> tuple[GroupMetrics, ...]:
    """Return the mean metrics of each group; all queries together come last."""
    return tuple(_means(group, results) for group, results in run.groups.items())


def compare_runs(before: Run, after: Run) -> tuple[GroupDifference, ...]:
    """Return `after` minus `before` by group, over the queries in both runs."""
    earlier = {result.id: result for result in before.results}
    pairs = {
        group: [(earlier[result.id], result) for result in results if result.id in earlier]
        for group, results in after.groups.items()
    }
    return tuple(_difference(group, common) for group, common in pairs.items() if common)


def save_run(run: Run, file: Path) -> None:
    """Write a run as JSON. Raises KbxError when the file cannot be written."""
    try:
        file.write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=1))
    except OSError as error:
        raise KbxError(f"cannot write {file}: {error.strerror}") from error


def read_run(file: Path) -> Run:
    """Return a saved run. Raises NotFound and ConfigError."""
    try:
        return decode_json(read_regular_file(file, follow_links=True), Run)
    except OSError as error:
        raise NotFound(f"no run at {file}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{file} is not a run saved by `kbx eval --save`: {error}") from error


def _means(group: str, results: Sequence[QueryResult]) -> GroupMetrics:
    labelled = [result.entity_first for result in results if result.entity_first is not None]
    return GroupMetrics(
        group=group,
        queries=len(results),
        ndcg=fmean(result.ndcg for result in results),
        recall=fmean(result.recall for result in results),
        mrr=fmean(result.reciprocal_rank for result in results),
        two_pass=fmean(result.search_mode == "two_pass" for result in results),
        entity_first=fmean(labelled) if labelled else None,
        milliseconds=fmean(result.milliseconds for result in results),
    )


def _difference(group: str, pairs: Sequence[tuple[QueryResult, QueryResult]]) -> GroupDifference:
    before, after = zip(*pairs, strict=True)
    ndcg = [result.ndcg for result in before], [result.ndcg for result in after]
    recall = [result.recall for result in before], [result.recall for result in after]
    changes = [new - old for old, new in zip(*ndcg, strict=True)]
    return GroupDifference(
        group=group,
        queries=len(pairs),
        ndcg=fmean(changes),
        ndcg_p=randomisation_p(*ndcg),
        recall=fmean(recall[1]) - fmean(recall[0]),
        recall_p=randomisation_p(*recall),
        better=sum(change > 0.0 for change in changes),
        worse=sum(change < 0.0 for change in changes),
    )

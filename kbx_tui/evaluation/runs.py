"""A run: what a search returned for judged queries and how good that was. Saved, read, compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec

from kbx_tui.errors import ConfigError, KbxError, NotFound
from kbx_tui.evaluation.significance import randomisation_p

ALL = "all"


class QueryResult(msgspec.Struct, frozen=True):
    """One query of a run."""

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
    """Whether an entity the query names came first in pass 1; None when nobody noted one."""
    milliseconds: float
    top: tuple[str, ...]
    """Paths of the first 10 results."""


class Run(msgspec.Struct, frozen=True):
    """One setting of the search over all judged queries of a base."""

    base: str
    """Name of the folder."""
    mode: str
    preset: str
    doc_types: tuple[str, ...]
    results: tuple[QueryResult, ...]
    skipped: int
    """Queries without a relevant document: nothing can be said about them."""
    vector_share: float
    """Share of the texts that could be found by meaning."""

    @property
    def groups(self) -> dict[str, list[QueryResult]]:
        """The results by form or kind, all of them last when there are several."""
        found: dict[str, list[QueryResult]] = {}
        for result in self.results:
            found.setdefault(result.group, []).append(result)
        return {**found, ALL: list(self.results)} if len(found) > 1 else found


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """The means of one group."""

    group: str
    queries: int
    ndcg: float
    recall: float
    mrr: float
    two_pass: float
    """Share of the queries that were searched in two passes."""
    entity_first: float | None
    """Share of the queries with noted entities where one of them came first in pass 1."""
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Difference:
    """What another run is better by, in one group."""

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


def figures(run: Run) -> tuple[GroupFigures, ...]:
    """Return the means of every group, all queries together last."""
    return tuple(_means(group, results) for group, results in run.groups.items())


def compare(before: Run, after: Run) -> tuple[Difference, ...]:
    """Return by group what `after` is better by, over the queries that both runs hold."""
    known = {result.id: result for result in before.results}
    pairs = {
        group: [(known[one.id], one) for one in results if one.id in known]
        for group, results in after.groups.items()
    }
    return tuple(_difference(group, found) for group, found in pairs.items() if found)


def save_run(run: Run, file: Path) -> None:
    """Write a run as JSON. Raises KbxError when the file cannot be written."""
    try:
        file.write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=1))
    except OSError as error:
        raise KbxError(f"cannot write {file}: {error.strerror}") from error


def read_run(file: Path) -> Run:
    """Read a saved run. Raises NotFound and ConfigError."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Run)
    except OSError as error:
        raise NotFound(f"no run at {file}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise ConfigError(f"{file} is no run saved by `kbx eval --save`: {error}") from error


def _means(group: str, results: Sequence[QueryResult]) -> GroupFigures:
    noted = [one.entity_first for one in results if one.entity_first is not None]
    return GroupFigures(
        group=group,
        queries=len(results),
        ndcg=fmean(one.ndcg for one in results),
        recall=fmean(one.recall for one in results),
        mrr=fmean(one.reciprocal_rank for one in results),
        two_pass=fmean(one.search_mode == "two_pass" for one in results),
        entity_first=fmean(noted) if noted else None,
        milliseconds=fmean(one.milliseconds for one in results),
    )


def _difference(group: str, pairs: Sequence[tuple[QueryResult, QueryResult]]) -> Difference:
    ndcg, recall = _both(pairs, lambda one: one.ndcg), _both(pairs, lambda one: one.recall)
    changes = [new - old for old, new in zip(*ndcg, strict=True)]
    return Difference(
        group=group,
        queries=len(pairs),
        ndcg=fmean(changes),
        ndcg_p=randomisation_p(*ndcg),
        recall=fmean(recall[1]) - fmean(recall[0]),
        recall_p=randomisation_p(*recall),
        better=sum(change > 0.0 for change in changes),
        worse=sum(change < 0.0 for change in changes),
    )


def _both(
    pairs: Sequence[tuple[QueryResult, QueryResult]], value: Callable[[QueryResult], float]
) -> tuple[list[float], list[float]]:
    return [value(old) for old, _ in pairs], [value(new) for _, new in pairs]


def changed_most(before: Run, after: Run) -> Iterator[tuple[QueryResult, QueryResult]]:
    """Yield the queries whose nDCG changed, largest loss first."""
    known = {result.id: result for result in before.results}
    pairs = [(known[one.id], one) for one in after.results if one.id in known]
    yield from sorted(
        ((old, new) for old, new in pairs if old.ndcg != new.ndcg),
        key=lambda pair: pair[1].ndcg - pair[0].ndcg,
    )

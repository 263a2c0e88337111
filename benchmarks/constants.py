"""Measure what each constant of search earns, and how well the constants hold on an unseen set.

    python -m benchmarks.constants BASE... [--every 4] [--only FULL_BM25] [--keep FOLDER]

Every BASE is an indexed knowledge base with queries.jsonl and qrels.tsv; nothing is written to it.
Each constant is set to other values, among them the one that turns its part of the search off, and
every set is measured again (nDCG@10, mean over the forms or kinds of its queries; of meetings and
notes alone where no other page is judged). `--keep` keeps the figures of each value in a folder for
the next run, or for one that runs at the same time with other constants: empty it after the search
was changed.

Leaving one set out: for each set, the constants are chosen on the other sets, and all the choices
together are measured on the set left out. The figure is what a base that nobody tuned on can
expect. A part of the search that no test demands is off unless the others gain .003 by it. All
other constants have the value that is best on the others, one constant at a time: first however
little that gains, then only if the gain is certain, which means that the 95 % bootstrap interval
over the queries of the others is above 0.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import kbx_tui.search
from benchmarks.common import row
from benchmarks.evaluating import KINDS
from kbx_tui import KnowledgeBase
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.metrics import bootstrap_interval
from kbx_tui.evaluation.runs import measure


@dataclass(frozen=True)
class Grid:
    """The values that are tried instead of that of a constant."""

    values: Sequence[Any] = ()
    off: Any = None
    """The value that turns this part of the search off; None where none does."""
    demanded_by: str = ""
    """The module of tests that fails when it is off; empty where none does."""

    @property
    def all_values(self) -> Sequence[Any]:
        return [*([] if self.off is None else [self.off]), *self.values]


DEMO, LINKS = "test_judging", "test_entity_pass"

GRIDS: Mapping[str, Grid] = {
    "LEXICAL_HALF": Grid((10.0, 12.5, 17.5, 20.0)),
    "LEXICAL_WEIGHT": Grid((0.4, 0.6)),
    "NAMES_LEXICAL_WEIGHT": Grid((0.6, 0.7, 0.75), off=0.5, demanded_by=DEMO),
    "VECTOR_FLOOR": Grid((0.2, 0.4), off=0.0, demanded_by="test_evidence"),
    "IDENTIFIER_WEIGHT": Grid((0.85, 1.0), off=0.5, demanded_by=DEMO),
    "REPEATS_COUNTED": Grid((2, 4), off=1, demanded_by="test_query_terms"),
    "PAIR_WEIGHT": Grid((0.2, 0.4), off=0.0, demanded_by=DEMO),
    "FEEDBACK_WEIGHT": Grid((0.2, 0.4), off=0.0, demanded_by=DEMO),
    "FEEDBACK_DOCUMENTS": Grid((2, 5)),
    "TITLE_BONUS": Grid((4.0, 12.0), off=0.0, demanded_by="test_search"),
    "PROPAGATION_SHARE": Grid((0.8, 0.85, 0.95), off=0.0, demanded_by="test_continuations"),
    "DATE_WEIGHT": Grid((0.2, 0.4), off=0.0, demanded_by="test_dates"),
    "MEMBER_STRENGTH": Grid(((0.7, 0.3), (0.9, 0.1)), off=(1.0, 0.0), demanded_by=LINKS),
    "MENTION_STRENGTH": Grid(((0.4, 0.5), (0.6, 0.3)), off=(1.0, 0.0), demanded_by=LINKS),
    "COUNT_SCALE": Grid((2.0, 4.0)),
    "ABOUT_FLOOR": Grid((0.4, 0.6), off=1.0, demanded_by=LINKS),
    "FULL_BM25": Grid((1.25, 1.4, 1.6, 1.75)),
    "FULL_COSINE": Grid((0.4, 0.45, 0.55, 0.6)),
    "ANSWER_POWER": Grid((1.25, 1.75), off=1.0, demanded_by=DEMO),
    "THING_SHARPNESS": Grid((3, 5), off=1, demanded_by="test_evidence"),
    "THING_WEIGHT": Grid((0.8, 0.9), off=1.0),
    "SECOND_SIGNAL": Grid(off=0.0),
    "FACT_WEIGHT": Grid(off=0.0),
    "MEANING_WEIGHT": Grid(off=0.0),
}

LEAST_GAIN = 0.003
"""What a part of the search must earn on the mean of some sets unless a test demands it: half of
what one swap of two ranks moves a small set."""

Figures = dict[str, dict[str, tuple[str, float]]]
"""By set and query: the form or kind of the query, and nDCG@10."""
Found = Mapping[tuple[str, Any], Figures]
"""Figures by constant and value."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bases", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="measure every n-th query of a set")
    parser.add_argument("--only", nargs="*", choices=GRIDS, default=list(GRIDS))
    parser.add_argument("--keep", type=Path, help="folder that keeps figures between runs")
    options = parser.parse_args()
    figures_of = partial(measured, every=options.every, keep=options.keep)
    now = figures_of(options.bases, {})
    row("constants as they are", _shown(now, now))
    found: dict[tuple[str, Any], Figures] = {}
    for name in options.only:
        for value in GRIDS[name].all_values:
            found[name, value] = figures_of(options.bases, {name: value})
            row(f"{name} = {value}", _shown(found[name, value], now))
    for certain in (False, True) if len(options.bases) > 1 else ():
        left_out: Figures = {}
        for base in options.bases:
            chosen = best_elsewhere(found, now, base.name, certain=certain)
            left_out |= figures_of([base], chosen)
            row(f"{base.name} left out", f"{chosen}")
        gains = "certain gains" if certain else "any gain"
        row(f"each set with constants of the others, {gains}", _shown(left_out, now))


def measured(
    bases: Sequence[Path], values: Mapping[str, Any], *, every: int = 1, keep: Path | None = None
) -> Figures:
    """Return the figures with some constants set to other values; those of one value are kept."""
    figures = {}
    if len(values) > 1:
        keep = None
    with set_constants(values):
        for base in bases:
            changed = "".join(f" {name}={value}" for name, value in values.items())
            kept = keep and keep / f"{base.name} {every}{changed}.json"
            if kept and kept.is_file():
                figures[base.name] = json.loads(kept.read_text("utf-8"))
                continue
            figures[base.name] = _measured_now(base, values, every)
            if kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps(figures[base.name]), "utf-8")
    return figures


def _measured_now(
    base: Path, values: Mapping[str, Any], every: int
) -> dict[str, tuple[str, float]]:
    with KnowledgeBase(base) as kb:
        queries = kb.judgments.queries(base)
        kinds = judged_kinds(kb, queries)
        retrieve = partial(
            kb.retrieve,
            doc_types=kinds,
            feedback=values.get("FEEDBACK_WEIGHT"),
            parts=values.get("PROPAGATION_SHARE"),
        )
        run = measure(queries[::every], retrieve, kb.tuning(), base=base.name, doc_types=kinds)
    return {result.id: (result.group, result.ndcg) for result in run.results}


def judged_kinds(kb: KnowledgeBase, queries: Sequence[JudgedQuery]) -> tuple[str, ...]:
    """Return the kinds of document to search: meetings and notes, or () for all."""
    paths = {path for query in queries for path in query.grades}
    others = {
        path
        for kind in kb.documents.kinds()
        if kind not in KINDS
        for path in kb.documents.of_kind(kind)
    }
    return KINDS if paths.isdisjoint(others) else ()


@contextmanager
def set_constants(values: Mapping[str, Any]) -> Iterator[None]:
    """Set constants in every module of search that has them, for the time of the context."""
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(kbx_tui.search.__path__, "kbx_tui.search.")
    ]
    before = [
        (module, name, getattr(module, name))
        for module in modules
        for name in values
        if hasattr(module, name)
    ]
    for module, name, _ in before:
        setattr(module, name, values[name])
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def best_elsewhere(
    found: Found, now: Figures, left_out: str, *, certain: bool = False
) -> dict[str, Any]:
    """Return the values other than today's that are chosen on all sets but one.

    By the rules of this module: of the gains, only certain ones count, or any.
    """
    others = [name for name in now if name != left_out]
    chosen: dict[str, Any] = {}
    for name in dict.fromkeys(name for name, _ in found):
        grid = GRIDS[name]
        if grid.off is not None and not grid.demanded_by:
            lost = -fmean(_changes(found[name, grid.off], now, others))
            if lost < LEAST_GAIN:
                chosen[name] = grid.off
                continue
        best = 0.0
        for value in grid.values:
            changes = _changes(found[name, value], now, others)
            if fmean(changes) > best and (not certain or _is_certain(changes)):
                best, chosen[name] = fmean(changes), value
    return chosen


def _changes(figures: Figures, now: Figures, names: Sequence[str]) -> list[float]:
    """Return the change of each query of some sets, weighted so that their mean is that of sets.

    A set counts by the mean of its forms or kinds, and these by the mean of their queries.
    """
    total = sum(len(now[name]) for name in names)
    changes = []
    for name in names:
        sizes = Counter(group for group, _ in now[name].values())
        for query, (group, before) in now[name].items():
            weight = total / (len(names) * len(sizes) * sizes[group])
            changes.append(weight * (figures[name][query][1] - before))
    return changes


def _is_certain(changes: Sequence[float]) -> bool:
    interval = bootstrap_interval(changes)
    return interval is not None and interval[0] > 0.0


def _mean(figures: Mapping[str, tuple[str, float]]) -> float:
    """Return the mean over the forms or kinds of the queries of a set."""
    groups: dict[str, list[float]] = {}
    for group, ndcg in figures.values():
        groups.setdefault(group, []).append(ndcg)
    return fmean(map(fmean, groups.values()))


def _shown(figures: Figures, now: Figures) -> str:
    changes = {name: _mean(figures[name]) - _mean(now[name]) for name in figures}
    cells = [
        f"{name} {_mean(figures[name]):.4f} ({change:+.4f})" for name, change in changes.items()
    ]
    return "  ".join([*cells, f"mean {fmean(changes.values()):+.4f}"])


if __name__ == "__main__":
    main()

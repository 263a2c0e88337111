"""Measure the speed of tuning, and whether what it chooses is as good on other queries.

    python -m benchmarks.tuning BASE... [--queries N] [--type TYPE,...]

A BASE is an indexed knowledge base with queries.jsonl and qrels.tsv (see `kbx eval` in
docs/cli.md); nothing is written to it. For the speed, its queries are repeated up to N. For the
choice, they are halved at random 20 times: what one half chooses is compared with the default
setting on the other half.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common import row
from kbx_tui import KnowledgeBase
from kbx_tui.evaluation.judged_evidence import JudgedEvidence
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.optimise import advise
from kbx_tui.search.request import Tuning
from kbx_tui.tui.tune.curve import TUNABLES, Tunable, plot_lines, read_curve, steps_of_query

KINDS = "meeting,note"
ALPHA, THRESHOLD = TUNABLES[:2]
STEPS = [step / 20 for step in range(21)]
NO_LIMIT = 2**40
SPLITS, TOLERANCE = 20, 0.005


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bases", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--type", default=KINDS)
    options = parser.parse_args()
    kinds = tuple(filter(None, options.type.split(",")))
    for base in options.bases:
        with KnowledgeBase(base) as kb:
            queries = tuple(query for query in kb.judgments.queries(base) if query.is_measurable)
            choices(kb, queries, kinds)
            if options.queries:
                speed(kb, queries, options.queries, kinds)


def choices(kb: KnowledgeBase, queries: tuple[JudgedQuery, ...], kinds: tuple[str, ...]) -> None:
    """Print what all queries choose, and what halves choose and are worth on the other half."""
    kb.warm()
    current, began = kb.tuning(), time.process_time()
    kept = kb.tuner.judged_evidence(queries, doc_types=kinds, limit=NO_LIMIT)
    searched = time.process_time()
    advice = kb.tuner.advise(kept, current)
    chosen_after = time.process_time() - searched
    row(f"{kb.root.name}: {len(kept)} queries", advice.verdict)
    row("  best setting", f"{dict(advice.changes)}")
    row("  to keep the evidence, to choose", f"{searched - began:.1f} s, {chosen_after:.1f} s")
    differences, changed = list[float](), 0
    for split in range(SPLITS):
        halves = np.array_split(np.random.default_rng(split).permutation(len(kept)), 2)
        chosen = advise(kept, current, np.sort(halves[0]))
        figures = kept.measure([current, chosen.best if chosen.wins else current]).ndcg
        differences.append(float((figures[1] - figures[0])[halves[1]].mean()))
        changed += chosen.wins
    worse = sum(difference < -TOLERANCE for difference in differences)
    row(f"  {SPLITS} half splits: changed, worse by > {TOLERANCE}", f"{changed}, {worse}")
    row(
        "  difference on the other half: least, mean",
        f"{min(differences):+.4f} {sum(differences) / SPLITS:+.4f}",
    )


def speed(
    kb: KnowledgeBase, queries: tuple[JudgedQuery, ...], count: int, kinds: tuple[str, ...]
) -> None:
    """Print the memory that evidence takes, and CPU milliseconds of measuring settings."""
    many = tuple(islice(cycle(queries), count))
    kept = kb.tuner.judged_evidence(many, doc_types=kinds, limit=NO_LIMIT)
    size = f"{len(kept.evidence[0])} documents, {kept.bytes / 1e6:.1f} MB"
    row(f"  {len(kept)} queries of this set", size)
    tuning = kb.tuning()
    grid = [
        replace(tuning, alpha=alpha / 19, entity_threshold=threshold / 9)
        for alpha in range(20)
        for threshold in range(10)
    ]
    _timed("200 settings of alpha and threshold, first time", kept, grid)
    _timed("200 settings of alpha and threshold, again", kept, grid)
    _timed("curve over alpha at another threshold", kept, _alphas(tuning, 0.33))
    _timed("curve over alpha, again", kept, _alphas(tuning, 0.33))
    _timed("curve over threshold, first time", kept, _thresholds(tuning, 0.5))
    _timed("curve over threshold at another alpha", kept, _thresholds(tuning, 0.37))
    _redrawn("alpha moves, its curve redrawn", kept, ALPHA, tuning, "alpha")
    _redrawn("threshold moves, curve over alpha redrawn", kept, ALPHA, tuning, "entity_threshold")
    _redrawn("threshold moves, its curve redrawn", kept, THRESHOLD, tuning, "entity_threshold")
    for change in (
        {"gate": "hard"},
        {"parent": "max"},
        {"max_entities": 3},
        {"hotness_weight": 0.2},
    ):
        changed = replace(tuning, **change)
        _timed(f"another knob, first time: {change}", kept, [changed])
        _timed("  and its curve over alpha", kept, _alphas(changed, tuning.entity_threshold))


def _alphas(tuning: Tuning, threshold: float) -> list[Tuning]:
    return [replace(tuning, alpha=alpha, entity_threshold=threshold) for alpha in STEPS]


def _thresholds(tuning: Tuning, alpha: float) -> list[Tuning]:
    return [replace(tuning, alpha=alpha, entity_threshold=threshold) for threshold in STEPS]


def _redrawn(label: str, kept: JudgedEvidence, knob: Tunable, tuning: Tuning, moved: str) -> None:
    """Print the median and the greatest milliseconds of reading and drawing a curve, in 60 moves.

    The curve of the tune mode in a terminal of 140 x 40, with the steps of one query.
    """
    query, times = kept.queries[0].text, list[float]()
    for move in range(60):
        changes: dict[str, Any] = {moved: 0.2 + move / 100}
        now = replace(tuning, **changes)
        began = time.process_time()
        curve = read_curve(kept, knob, "ndcg", now)
        plot_lines(curve, steps_of_query(kept, query, knob, now), 68, 16)
        times.append((time.process_time() - began) * 1000)
    row(f"  {label}", f"median {median(times):.1f} ms, most {max(times):.1f} ms")


def _timed(label: str, kept: JudgedEvidence, tunings: list[Tuning]) -> None:
    """Print milliseconds of processor time: other programs on the machine do not count."""
    began = time.process_time()
    kept.measure(tunings)
    row(f"  {label}", f"{(time.process_time() - began) * 1000:.1f} ms")


if __name__ == "__main__":
    main()

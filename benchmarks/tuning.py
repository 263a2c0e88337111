"""Measure how fast settings are measured from the kept evidence of judged queries.

    python -m benchmarks.tuning BASE... [--queries N] [--type TYPE,...]

A BASE is an indexed knowledge base with queries.jsonl and qrels.tsv (see `kbx eval` in
docs/cli.md); nothing is written to it. With --queries, its queries are repeated up to N.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from benchmarks.common import row
from kbx_tui import KnowledgeBase
from kbx_tui.evaluation.judged_evidence import JudgedEvidence
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.search.evidence.tuning import Tuning

KINDS = "meeting,note"
STEPS = [step / 20 for step in range(21)]
NO_LIMIT = 2**40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bases", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--type", default=KINDS)
    options = parser.parse_args()
    kinds = tuple(filter(None, options.type.split(",")))
    for base in options.bases:
        with KnowledgeBase(base) as kb:
            speed(kb, kb.judgments(base), options.queries, kinds)


def speed(
    kb: KnowledgeBase, queries: tuple[JudgedQuery, ...], count: int, kinds: tuple[str, ...]
) -> None:
    """Print seconds and memory of keeping evidence, and milliseconds of measuring settings."""
    kb.warm()
    answerable = [query for query in queries if query.is_measurable]
    many = tuple(islice(cycle(answerable), count))
    began = time.perf_counter()
    kept = kb.judged_evidence(many, doc_types=kinds, limit=NO_LIMIT)
    seconds = time.perf_counter() - began
    documents = len(kept.evidence[0])
    row(f"{kb.root.name}: {len(kept)} queries, {documents} documents", f"{seconds:.1f} s to keep")
    row("  memory of evidence and lines", f"{kept.bytes / 1e6:.1f} MB")
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
    for change in (
        {"gate": "hard"},
        {"parent": "max"},
        {"max_entities": 3},
        {"hotness_weight": 0.2},
    ):
        changed = replace(tuning, **change)  # type: ignore[arg-type]
        _timed(f"another knob, first time: {change}", kept, [changed])
        _timed("  and its curve over alpha", kept, _alphas(changed, tuning.entity_threshold))


def _alphas(tuning: Tuning, threshold: float) -> list[Tuning]:
    return [replace(tuning, alpha=alpha, entity_threshold=threshold) for alpha in STEPS]


def _thresholds(tuning: Tuning, alpha: float) -> list[Tuning]:
    return [replace(tuning, alpha=alpha, entity_threshold=threshold) for threshold in STEPS]


def _timed(label: str, kept: JudgedEvidence, tunings: list[Tuning]) -> None:
    row(f"  {label}", f"{_seconds(lambda: kept.measure(tunings)) * 1000:.1f} ms")


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()

"""Measure search quality on labelled bases: default settings, flat, and the seed preset.

    python -m benchmarks.evaluating BASE... [--save FOLDER]

A BASE is an indexed knowledge base with queries.jsonl and qrels.tsv (see `kbx eval` in
docs/cli.md); nothing is written to it. Only meetings and notes count as results; entity pages are
for pass 1. `--save` keeps the runs, for `kbx eval --compare`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.common import row
from kbx_tui import KnowledgeBase
from kbx_tui.evaluation.runs import GroupMetrics, Run, group_metrics, save_run

KINDS = ("meeting", "note")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bases", nargs="+", type=Path)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    row("set, form or kind", "auto nDCG@10 R@10 MRR | flat nDCG R | seed nDCG R | pass 1, two-pass")
    for base in options.bases:
        with KnowledgeBase(base) as kb:
            queries = kb.judgments.queries(base)
            runs = {
                "auto": kb.judgments.evaluate(queries, doc_types=KINDS),
                "flat": kb.judgments.evaluate(queries, doc_types=KINDS, mode="flat"),
                "seed": kb.judgments.evaluate(queries, doc_types=KINDS, preset="seed"),
            }
        report(runs)
        for name, run in runs.items() if options.save else ():
            options.save.mkdir(parents=True, exist_ok=True)
            save_run(run, options.save / f"{base.name}-{name}.json", overwrite=True)


def report(runs: dict[str, Run]) -> None:
    """Print a line per group, with the three runs side by side."""
    for auto, flat, seed in zip(*map(group_metrics, runs.values()), strict=True):
        first = "  -  " if auto.entity_first is None else f"{auto.entity_first:.3f}"
        row(
            f"{runs['auto'].base} {auto.group} ({auto.queries})",
            f"{_pair(auto)} {auto.mrr:.3f} | {_pair(flat)} | {_pair(seed)} | "
            f"{first} {auto.two_pass:4.0%}  {auto.milliseconds:.1f} ms",
        )


def _pair(group: GroupMetrics) -> str:
    return f"{group.ndcg:.3f} {group.recall:.3f}"


if __name__ == "__main__":
    main()

"""Measure the ranking of experts on labelled topics: MAP, MRR and P@5 per weight.

    python -m benchmarks.experts FOLDER [--base INDEXED] [--type person]

FOLDER holds memory/, experts.jsonl (id, text) and experts.tsv (id, path of the expert's page,
grade). Only entities of one type are evaluated. It is copied and indexed (minutes) unless INDEXED
is an indexed copy.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from benchmarks.common import copy_of, median
from kbx_tui import KnowledgeBase
from kbx_tui.experts.expert_engine import WEIGHTS

EVERYBODY = 100_000
TODAY = date(2026, 1, 1)
"""Fixed, so that the figures do not change from day to day."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--base", type=Path)
    parser.add_argument("--type", default="person")
    options = parser.parse_args()
    topics, experts = read_topics(options.folder)
    if options.base:
        measure(options.base, topics, experts, options.type)
    else:
        with copy_of(options.folder) as base:
            measure(base, topics, experts, options.type)


def read_topics(folder: Path) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Return the text of each topic, and the pages of its experts, both by topic id."""
    lines = (folder / "experts.jsonl").read_text(encoding="utf-8").splitlines()
    topics = {row["id"]: row["text"] for row in map(json.loads, lines)}
    experts: dict[str, set[str]] = {}
    for line in (folder / "experts.tsv").read_text(encoding="utf-8").splitlines():
        topic, path, _ = line.split("\t")
        experts.setdefault(topic, set()).add(path)
    return topics, experts


def measure(
    base: Path, topics: Mapping[str, str], experts: Mapping[str, set[str]], kind: str
) -> None:
    print(f"{base.name}: {len(experts)} topics, entities of type {kind}")
    print(f"{'weight':<12}{'MAP':>7}{'MRR':>7}{'P@5':>7}{'found':>8}{'ms':>8}")
    with KnowledgeBase(base) as kb:
        kb.index()
        pages = {one.id: one.path for one in kb.entities.find("", EVERYBODY)}
        for weight in WEIGHTS:
            kb.experts("warm up", weight=weight)
            runs, spent = [], []
            for topic, wanted in experts.items():
                began = time.perf_counter()
                found = kb.experts(topics[topic], EVERYBODY, weight=weight, now=TODAY).experts
                spent.append((time.perf_counter() - began) * 1000)
                ranked = [pages[one.entity_id] for one in found if one.type == kind]
                runs.append([path in wanted for path in ranked] + [False] * 5)
            figures = zip(runs, experts.values(), strict=True)
            precisions = [average_precision(run, len(wanted)) for run, wanted in figures]
            print(
                f"{weight:<12}{mean(precisions):>7.3f}"
                f"{mean([reciprocal_rank(run) for run in runs]):>7.3f}"
                f"{mean([sum(run[:5]) / 5 for run in runs]):>7.3f}"
                f"{sum(any(run) for run in runs):>8}{median(spent):>8.1f}"
            )


def average_precision(run: Sequence[bool], relevant: int) -> float:
    """Return the mean precision at the ranks of the relevant entities, 0 for missed ones."""
    ranks = [rank for rank, is_relevant in enumerate(run, 1) if is_relevant]
    return sum(found / rank for found, rank in enumerate(ranks, 1)) / relevant


def reciprocal_rank(run: Sequence[bool]) -> float:
    return next((1 / rank for rank, is_relevant in enumerate(run, 1) if is_relevant), 0.0)


def mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


if __name__ == "__main__":
    main()

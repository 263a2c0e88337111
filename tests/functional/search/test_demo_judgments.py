"""Search on the demo gives what two judges want to see, see demo_judgments/README.md."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.evaluation.judgments import JudgedQuery, read_judgments
from kbx_tui.evaluation.metrics import ndcg
from kbx_tui.search.request import Tuning

JUDGMENTS = Path(__file__).with_name("demo_judgments")
CUTOFF = 10

FLOORS = {
    "alias+topic": 0.78, "date": 0.72, "keyword": 0.91, "person": 0.94, "person+topic": 0.84,
    "project+topic": 0.86, "role+topic": 0.69, "team+topic": 0.87, "topic": 0.81,
}  # fmt: skip
"""Lowest nDCG@10 by kind of query, mean over both judges."""


@pytest.fixture(scope="module")
def both_judges(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[JudgedQuery, JudgedQuery]]:
    """Return each query with the grades of the first and of the second judge."""
    second = tmp_path_factory.mktemp("second")
    shutil.copy(JUDGMENTS / "queries.jsonl", second)
    shutil.copy(JUDGMENTS / "second_judge.tsv", second / "qrels.tsv")
    return list(zip(read_judgments(JUDGMENTS), read_judgments(second), strict=True))


def measured(
    kb: KnowledgeBase, judged: list[tuple[JudgedQuery, JudgedQuery]], tuning: Tuning
) -> Mapping[str, float]:
    """Return the mean nDCG@10 by kind of query."""
    found: dict[str, list[float]] = defaultdict(list)
    for first, second in judged:
        evidence = kb.retrieve(first.text)
        best = kb.rank(evidence, tuning).best(CUTOFF)
        paths = [evidence.paths[row] for row in best]
        found[first.group].append((ndcg(paths, first.grades) + ndcg(paths, second.grades)) / 2)
    return {kind: fmean(values) for kind, values in found.items()}


def test_no_kind_of_query_falls_below_its_floor(
    demo_kb_path: Path, both_judges: list[tuple[JudgedQuery, JudgedQuery]]
) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        found = measured(kb, both_judges, kb.tuning())
    below = {kind: value for kind, value in found.items() if value < FLOORS[kind]}
    assert not below


def test_two_passes_are_better_than_one_on_the_whole(
    demo_kb_path: Path, both_judges: list[tuple[JudgedQuery, JudgedQuery]]
) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        two_pass = measured(kb, both_judges, kb.tuning())
        flat = measured(kb, both_judges, replace(kb.tuning(), hierarchy=False))
    counts = Counter(first.group for first, _ in both_judges)
    assert sum(two_pass[kind] * n for kind, n in counts.items()) > sum(
        flat[kind] * n for kind, n in counts.items()
    )


def test_every_judged_document_is_in_the_demo(
    demo_kb_path: Path, both_judges: list[tuple[JudgedQuery, JudgedQuery]]
) -> None:
    judged = {path for pair in both_judges for query in pair for path in query.grades}
    assert all((demo_kb_path / path).is_file() for path in judged)
    ids = [json.loads(line)["id"] for line in (JUDGMENTS / "queries.jsonl").open(encoding="utf-8")]
    assert len(ids) == len(set(ids)) == 60

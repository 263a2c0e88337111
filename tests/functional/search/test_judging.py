"""Judging on the demo: what is stored, and that no grade is ever lost."""

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from kbx_tui import Judgment, KnowledgeBase, NotFound, OutOfRange, Tuning, WriteFault
from kbx_tui.demo import JUDGMENTS as DEMO_JUDGMENTS
from kbx_tui.demo import SHIPPED, SHIPPED_JUDGMENTS
from kbx_tui.evaluation.judgments import JudgedQuery, read_judgments
from kbx_tui.evaluation.metrics import ndcg
from tests.command_line import CommandLine

ALICE, BOB = "memory/people/alice-chen.md", "memory/people/bob-okafor.md"
FILE = ".kbx/judgments.jsonl"


def test_a_grade_is_stored_with_time_knobs_and_generation(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.judgments.add("who runs the migration", ALICE, 2, tuning=Tuning(alpha=0.3))
        generation = kb.status().generation
    (line,) = (demo_copy / FILE).read_text(encoding="utf-8").splitlines()
    fields = json.loads(line)
    assert (fields["query"], fields["path"], fields["grade"]) == (
        "who runs the migration", ALICE, 2,
    )  # fmt: skip
    assert fields["knobs"]["alpha"] == 0.3
    assert fields["generation"] == generation > 0
    assert fields["when"].endswith("Z")


@pytest.mark.parametrize(
    "path", ["memory/none.md", "../outside.md", "/etc/passwd", "kbx.toml", "."]
)
def test_only_documents_of_the_base_are_judged(demo_copy: Path, path: str) -> None:
    with KnowledgeBase(demo_copy) as kb:
        with pytest.raises(NotFound, match="no document"):
            kb.judgments.add("migration", path, 1)
        with pytest.raises(OutOfRange):
            kb.judgments.add("migration", ALICE, 4)
    assert not (demo_copy / FILE).exists()


def test_a_base_without_an_index_can_be_judged(fresh_demo: Path) -> None:
    with KnowledgeBase(fresh_demo) as kb:
        assert kb.judgments.add("migration", ALICE, 1).generation is None


def test_judgments_survive_a_full_index_run(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.judgments.add("migration", ALICE, 1)
        before = (demo_copy / FILE).read_bytes()
        kb.index(full=True, fast=True)
        assert (demo_copy / FILE).read_bytes() == before


def test_judgments_of_an_app_that_runs_elsewhere_are_seen(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as ours, KnowledgeBase(demo_copy) as theirs:
        assert ours.judgments.grades("migration") == {}
        theirs.judgments.add("migration", ALICE, 2)
        assert ours.judgments.grades("migration") == {ALICE: 2}
        with pytest.raises(WriteFault, match="judged again"):
            theirs.judgments.undo(Judgment("migration", ALICE, 1))


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


LEAST_JUDGED = 0.95
"""Of the first 10 results; the pool had the first 10 of seven settings."""


@pytest.fixture
def judged_demo(demo_copy: Path) -> Path:
    """The indexed demo with the shipped judgments, as an installed copy has them."""
    shutil.copy(SHIPPED / SHIPPED_JUDGMENTS, demo_copy / DEMO_JUDGMENTS)
    return demo_copy


def test_twelve_queries_are_judged_and_every_document_exists(judged_demo: Path) -> None:
    said: list[str] = []
    with KnowledgeBase(judged_demo, notice=said.append) as kb:
        queries = kb.judgments.queries()
    assert not said
    assert len(queries) == 12
    assert all(3 in query.grades.values() and 0 in query.grades.values() for query in queries)
    assert not any(query.unsure for query in queries)
    assert all((judged_demo / path).is_file() for query in queries for path in query.grades)
    lines = (SHIPPED / SHIPPED_JUDGMENTS).read_text(encoding="utf-8").splitlines()
    assert len(lines) == sum(len(query.grades) for query in queries)


@pytest.mark.parametrize("mode", ["auto", "flat", "fast"])
def test_eval_works_on_the_demo_at_once(kbx: CommandLine, judged_demo: Path, mode: str) -> None:
    ran = kbx("eval", "--mode", mode, "--json", "--kb", judged_demo)
    assert ran.code == 0
    (group,) = ran.json["groups"]
    assert group["queries"] == 12
    assert group["judged"] >= LEAST_JUDGED
    assert group["ndcg"] > 0.6

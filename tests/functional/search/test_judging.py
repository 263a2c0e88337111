"""Judging on the demo: what is stored, and that no grade is ever lost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kbx_tui import Judgment, KnowledgeBase, NotFound, OutOfRange, Tuning, WriteFault
from tests.command_line import program_environment

ALICE, BOB = "memory/people/alice-chen.md", "memory/people/bob-okafor.md"
FILE = ".kbx/judgments.jsonl"

WRITER = """
import sys
from kbx_tui import KnowledgeBase
with KnowledgeBase(sys.argv[1]) as kb:
    for number in range(int(sys.argv[3])):
        kb.judgments.add(f"{sys.argv[2]} {number}", "memory/people/alice-chen.md", number % 4)
        print(number, flush=True)
"""


def start_writer(base: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, base, name, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env=program_environment({}),
    )


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


def test_grades_of_a_query_change_and_can_be_undone(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        first = kb.judgments.add("migration", ALICE, 2)
        second = kb.judgments.add("migration", ALICE, 3)
        unsure = kb.judgments.add("migration", BOB, None)
        assert kb.judgments.grades(" migration ") == {ALICE: 3, BOB: None}
        (judged,) = kb.judgments.queries()
        assert (judged.text, judged.grades, judged.unsure) == ("migration", {ALICE: 3}, {BOB})
        assert kb.judgments.undo().undone == unsure
        assert kb.judgments.undo(second).restored == first
        assert kb.judgments.grades("migration") == {ALICE: 2}
        assert kb.judgments.undo().restored is None
        assert kb.judgments.queries() == ()
        with pytest.raises(WriteFault, match="no judgment"):
            kb.judgments.undo()


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


def test_two_writers_at_once_lose_no_grade(demo_copy: Path) -> None:
    writers = {name: start_writer(demo_copy, name, 40) for name in ("left", "right")}
    for writer in writers.values():
        assert writer.wait(60) == 0
    with KnowledgeBase(demo_copy) as kb:
        stored = {query.text: query.grades[ALICE] for query in kb.judgments.queries()}
    assert stored == {f"{name} {number}": number % 4 for name in writers for number in range(40)}
    assert len((demo_copy / FILE).read_bytes().splitlines()) == 80


@pytest.mark.parametrize("after", [1, 7, 23])
def test_a_killed_process_loses_no_grade_that_it_reported(demo_copy: Path, after: int) -> None:
    writer = start_writer(demo_copy, "killed", 100_000)
    assert writer.stdout
    for _ in range(after):
        reported = int(writer.stdout.readline())
    writer.send_signal(signal.SIGKILL)
    rest = writer.stdout.read().split()
    writer.wait(30)
    reported = int(rest[-1]) if rest else reported
    said: list[str] = []
    with KnowledgeBase(demo_copy, notice=said.append) as kb:
        numbers = {int(query.text.split()[1]) for query in kb.judgments.queries()}
        assert numbers >= set(range(reported + 1))
        kb.judgments.add("the next one", ALICE, 3)
        assert kb.judgments.grades("the next one") == {ALICE: 3}
    assert not said


def test_judgments_of_an_app_that_runs_elsewhere_are_seen(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as ours, KnowledgeBase(demo_copy) as theirs:
        assert ours.judgments.grades("migration") == {}
        theirs.judgments.add("migration", ALICE, 2)
        assert ours.judgments.grades("migration") == {ALICE: 2}
        with pytest.raises(WriteFault, match="judged again"):
            theirs.judgments.undo(Judgment("migration", ALICE, 1))

"""Runs and sweeps over evidence built from plain numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from kbx_tui.errors import ConfigError, KbxError, NotFound
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.measure import Sweep, measure, sweep
from kbx_tui.evaluation.runs import changed_most, compare, figures, read_run, save_run
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Tuning
from tests.unit.search.building import components, entity, evidence

PATHS = [f"memory/notes/{row:04}.md" for row in range(3)]
PERSON = JudgedQuery("q1", "alice", "person", {PATHS[2]: 2}, frozenset({"memory/people/e0.md"}))
TOPIC = JudgedQuery("q2", "lunch", "topic", {PATHS[0]: 1}, frozenset())
UNJUDGED = JudgedQuery("q3", "soup", "topic", {PATHS[0]: 0}, frozenset())


class Engine:
    """Row 0 fits the words best, row 2 belongs to the entity; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, query: str) -> Evidence:
        self.asked.append(query)
        scores = components([9.0, 5.0, 1.0], [0.5, 0.4, 0.3])
        found = [(entity(0, 1.0, named=True), {2: 1.0})] if query == "alice" else []
        return evidence(scores, entities=found)


def test_a_run_tells_how_good_each_query_was() -> None:
    run = measure([PERSON, TOPIC, UNJUDGED], Engine(), Tuning(), base="b", doc_types=["note"])
    person, topic = run.results
    assert (person.ndcg, person.recall, person.reciprocal_rank) == (1.0, 1.0, 1.0)
    assert (person.search_mode, person.entity_first) == ("two_pass", True)
    assert (topic.search_mode_reason, topic.entity_first) == ("no_entities", None)
    assert topic.top[0] == PATHS[0]
    assert (run.skipped, run.doc_types, run.vector_share) == (1, ("note",), 1.0)


def test_figures_are_means_by_group_and_over_all() -> None:
    run = measure([PERSON, TOPIC], Engine(), Tuning(), base="b", mode="flat")
    person, topic, everything = figures(run)
    assert [row.group for row in (person, topic, everything)] == ["person", "topic", "all"]
    assert person.mrr == pytest.approx(1 / 3)
    assert person.two_pass == 0.0
    assert (person.entity_first, topic.entity_first) == (1.0, None)
    assert everything.ndcg == pytest.approx((person.ndcg + topic.ndcg) / 2)


def test_a_single_group_needs_no_sum() -> None:
    (only,) = figures(measure([TOPIC], Engine(), Tuning(), base="b"))
    assert only.group == "topic"


def test_two_pass_keeps_entities_however_badly_they_fit() -> None:
    def weak(query: str) -> Evidence:
        return evidence(components([9.0, 5.0], [0.5, 0.4]), entities=[(entity(0, 0.1), {1: 1.0})])

    for mode, expected in (("auto", "flat"), ("two_pass", "two_pass")):
        run = measure([PERSON], weak, Tuning(), base="b", mode=mode)  # type: ignore[arg-type]
        assert run.results[0].search_mode == expected


def test_a_sweep_retrieves_once_per_query() -> None:
    engine = Engine()
    found = sweep([PERSON, TOPIC], engine, Tuning(), "alpha", values=[0.0, 0.5, 1.0])
    assert engine.asked == ["alice", "lunch"]
    assert found.ndcg["person"] == (1.0, 1.0, 0.5)  # at 1 the entity counts for nothing: rank 3
    assert found.ndcg["topic"] == (1.0, 1.0, 1.0)


def test_the_best_of_equal_values_is_the_middle_one() -> None:
    assert Sweep("alpha", (0.0, 0.5, 1.0), {"all": (0.3, 0.3, 0.3)}).best("all") == 0.5
    assert Sweep("alpha", (0.0, 0.5, 1.0), {"all": (0.3, 0.2, 0.4)}).best("all") == 1.0


def test_nothing_judged_relevant_is_said() -> None:
    with pytest.raises(NotFound, match="no query"):
        measure([UNJUDGED], Engine(), Tuning(), base="b")


def test_the_listener_hears_how_far_it_is() -> None:
    heard: list[tuple[int, int]] = []
    measure([PERSON, TOPIC], Engine(), Tuning(), base="b", listener=lambda *at: heard.append(at))
    assert heard == [(0, 2), (1, 2)]


def test_a_saved_run_comes_back_and_can_be_compared(tmp_path: Path) -> None:
    queries = [PERSON, TOPIC]
    flat = measure(queries, Engine(), Tuning(), base="b", mode="flat")
    save_run(flat, tmp_path / "flat.json")
    assert read_run(tmp_path / "flat.json") == flat
    auto = measure(queries, Engine(), Tuning(), base="b")
    person, topic, everything = compare(flat, auto)
    assert person.ndcg == pytest.approx(0.5)
    assert (person.better, person.worse) == (1, 0)
    assert (topic.ndcg, topic.ndcg_p, topic.better) == (0.0, 1.0, 0)
    assert everything.queries == 2
    assert [new.id for _, new in changed_most(flat, auto)] == ["q1"]


def test_only_queries_of_both_runs_are_compared() -> None:
    both = measure([PERSON, TOPIC], Engine(), Tuning(), base="b")
    one = msgspec.structs.replace(both, results=both.results[:1])
    assert [row.queries for row in compare(one, both)] == [1, 1]


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no run at"):
        read_run(tmp_path / "none.json")
    (tmp_path / "odd.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"no run saved by"):
        read_run(tmp_path / "odd.json")
    run = measure([TOPIC], Engine(), Tuning(), base="b")
    with pytest.raises(KbxError, match="cannot write"):
        save_run(run, tmp_path / "no" / "such" / "folder.json")


def test_knobs_of_a_mode_leave_the_others_alone() -> None:
    tuning = replace(Tuning(), alpha=0.3)
    run = measure([PERSON], Engine(), tuning, base="b", mode="flat", preset="seed")
    assert (run.mode, run.preset) == ("flat", "seed")

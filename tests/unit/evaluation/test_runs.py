"""Runs and sweeps over hand-made evidence."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from kbx_tui.errors import ConfigError, NotFound, WriteFault
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.runs import (
    Sweep,
    compare_runs,
    group_metrics,
    highest_grade,
    measure,
    measured_again,
    read_saved_run,
    save_run,
    sweep,
)
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.request import Tuning
from tests.unit.search.building import components, entity, evidence

PATHS = [f"memory/notes/{row:04}.md" for row in range(3)]
PERSON = JudgedQuery("q1", "alice", "person", {PATHS[2]: 2}, frozenset({"memory/people/e0.md"}))
TOPIC = JudgedQuery("q2", "lunch", "topic", {PATHS[0]: 1}, frozenset())
UNJUDGED = JudgedQuery("q3", "soup", "topic", {PATHS[0]: 0}, frozenset())


class FakeRetrieval:
    """Ranks row 0 first by words and row 2 by its entity; records the queries."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    def __call__(self, query: str) -> Evidence:
        self.queries.append(query)
        scores = components([9.0, 5.0, 1.0], [0.5, 0.4, 0.3])
        entities = [(entity(0, 1.0, named=True), {2: 1.0})] if query == "alice" else []
        return evidence(scores, entities=entities)


def test_run_holds_the_metrics_of_each_query() -> None:
    run = measure(
        [PERSON, TOPIC, UNJUDGED], FakeRetrieval(), Tuning(), base="b", doc_types=["note"]
    )
    person, topic = run.results
    assert (person.ndcg, person.recall, person.reciprocal_rank) == (1.0, 1.0, 1.0)
    assert (person.search_mode, person.entity_first) == ("two_pass", True)
    assert (topic.search_mode_reason, topic.entity_first) == ("no_entities", None)
    assert topic.top[0] == PATHS[0]
    assert (run.skipped, run.doc_types, run.vector_share) == (1, ("note",), 1.0)


def test_run_counts_the_queries_of_which_only_candidates_were_scored() -> None:
    def wide(query: str) -> Evidence:
        found = FakeRetrieval()(query)
        return (
            replace(found, scope=replace(found.scope, candidates=2)) if query == "lunch" else found
        )

    run = measure([PERSON, TOPIC], wide, Tuning(), base="b")
    assert run.by_candidates == 1


def test_group_metrics_are_means_per_group_and_overall() -> None:
    run = measure([PERSON, TOPIC], FakeRetrieval(), Tuning(), base="b", mode="flat")
    person, topic, everything = group_metrics(run)
    assert [row.group for row in (person, topic, everything)] == ["person", "topic", "all"]
    assert person.mrr == pytest.approx(1 / 3)
    assert person.two_pass == 0.0
    assert (person.entity_first, topic.entity_first) == (1.0, None)
    assert everything.ndcg == pytest.approx((person.ndcg + topic.ndcg) / 2)
    (only,) = group_metrics(measure([TOPIC], FakeRetrieval(), Tuning(), base="b"))
    assert only.group == "topic"


def test_two_pass_mode_keeps_low_scoring_entities() -> None:
    def weak(query: str) -> Evidence:
        return evidence(components([9.0, 5.0], [0.5, 0.4]), entities=[(entity(0, 0.1), {1: 1.0})])

    for mode, expected in (("auto", "flat"), ("two_pass", "two_pass")):
        run = measure([PERSON], weak, Tuning(), base="b", mode=mode)  # type: ignore[arg-type]
        assert run.results[0].search_mode == expected


def test_a_sweep_retrieves_each_query_once_and_reports_the_judged_share() -> None:
    retrieval = FakeRetrieval()
    swept = sweep([PERSON, TOPIC], retrieval, Tuning(), "alpha", values=[0.0, 0.5, 1.0])
    assert retrieval.queries == ["alice", "lunch"]
    assert swept.ndcg["person"] == (1.0, 1.0, 0.5)  # alpha 1 ignores the entity: rank 3
    assert swept.ndcg["topic"] == (1.0, 1.0, 1.0)

    swept = sweep([PERSON, TOPIC], FakeRetrieval(), Tuning(), "alpha", values=[0.0, 1.0])
    runs = (
        measure([PERSON, TOPIC], FakeRetrieval(), replace(Tuning(), alpha=alpha), base="b")
        for alpha in (0.0, 1.0)
    )
    assert swept.judged == tuple([*group_metrics(run)][-1].judged for run in runs)
    assert swept.judged == pytest.approx((2 / 3, 1 / 3))


def test_best_value_is_the_middle_one_on_ties_and_high_grades_extend_the_scale() -> None:
    assert Sweep("alpha", (0.0, 0.5, 1.0), {"all": (0.3, 0.3, 0.3)}, (1.0,) * 3).best("all") == 0.5
    assert Sweep("alpha", (0.0, 0.5, 1.0), {"all": (0.3, 0.2, 0.4)}, (1.0,) * 3).best("all") == 1.0

    assert highest_grade([PERSON]) == highest_grade([]) == 3
    assert highest_grade([replace(PERSON, grades={PATHS[0]: 4})]) == 4


def test_queries_without_relevant_documents_raise_not_found() -> None:
    with pytest.raises(NotFound, match="no query"):
        measure([UNJUDGED], FakeRetrieval(), Tuning(), base="b")


def test_progress_is_reported_per_query() -> None:
    calls: list[tuple[int, int]] = []
    measure(
        [PERSON, TOPIC],
        FakeRetrieval(),
        Tuning(),
        base="b",
        progress=lambda *progress: calls.append(progress),
    )
    assert calls == [(0, 2), (1, 2)]


def test_saved_run_can_be_read_and_compared(tmp_path: Path) -> None:
    queries = [PERSON, TOPIC]
    flat = measure(queries, FakeRetrieval(), Tuning(), base="b", mode="flat", preset="seed")
    assert (flat.mode, flat.preset) == ("flat", "seed")
    save_run(flat, tmp_path / "flat.json")
    assert read_saved_run(tmp_path / "flat.json") == flat
    auto = measure(queries, FakeRetrieval(), Tuning(), base="b")
    person, topic, everything = compare_runs({"flat.json": flat}, auto)
    assert person.against == "flat.json"
    assert person.ndcg.mean == pytest.approx(0.5)
    assert (person.ndcg.wins, person.ndcg.ties, person.ndcg.losses) == (1, 0, 0)
    assert (topic.ndcg.mean, topic.ndcg.p, topic.ndcg.wins) == (0.0, 1.0, 0)
    assert everything.ndcg.queries == 2


def test_p_values_are_adjusted_for_the_number_of_runs_compared_with() -> None:
    flat = measure([PERSON, TOPIC], FakeRetrieval(), Tuning(), base="b", mode="flat")
    auto = measure([PERSON, TOPIC], FakeRetrieval(), Tuning(), base="b")
    rows = compare_runs({"one": flat, "same": auto, "two": flat}, auto)
    person = {row.against: row for row in rows if row.group == "person"}
    assert [row.ndcg_p_holm for row in person.values()] == [1.0, 1.0, 1.0]
    assert {row.group for row in rows} == {"person", "topic", "all"}


def test_a_saved_run_is_measured_again_with_later_judgments() -> None:
    before = measure([PERSON, TOPIC], FakeRetrieval(), Tuning(), base="b", mode="flat")
    more = replace(PERSON, grades={PATHS[2]: 2, PATHS[0]: 3})
    again = measured_again(before, [more, UNJUDGED])
    assert [result.id for result in again.results] == ["q1"]
    fresh = measure([more], FakeRetrieval(), Tuning(), base="b", mode="flat").results[0]
    assert again.results[0].ndcg == fresh.ndcg > before.results[0].ndcg
    assert (again.results[0].judged, before.results[0].judged) == (2 / 3, 1 / 3)


def test_only_queries_in_both_runs_are_compared() -> None:
    both = measure([PERSON, TOPIC], FakeRetrieval(), Tuning(), base="b")
    first = msgspec.structs.replace(both, results=both.results[:1])
    assert [row.ndcg.queries for row in compare_runs({"first": first}, both)] == [1, 1]


def test_invalid_run_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no run at"):
        read_saved_run(tmp_path / "none.json")
    (tmp_path / "odd.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"not a run saved by"):
        read_saved_run(tmp_path / "odd.json")
    run = measure([TOPIC], FakeRetrieval(), Tuning(), base="b")
    with pytest.raises(WriteFault, match="there is no folder"):
        save_run(run, tmp_path / "no" / "such" / "folder.json")

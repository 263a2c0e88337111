"""`kbx eval` on a small labelled knowledge base, with the real engine."""

import re
import shutil
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.functional.vaults import write_vault

MEETING = "memory/meetings/2026/03/17/go-no-go.md"


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_vault(tmp_path_factory.mktemp("labelled"))
    (root / "queries.jsonl").write_text(
        '{"id": "q1", "text": "what did Alice Chen say about the rehearsal?", "kind": "person"}\n'
        '{"id": "q2", "text": "what is for lunch on Monday?", "kind": "topic"}\n'
        '{"id": "q3", "text": "nobody judged this", "kind": "topic"}\n',
        encoding="utf-8",
    )
    (root / "qrels.tsv").write_text(f"q1\t{MEETING}\t2\nq2\tmemory/notes/lunch.md\t1\n")
    (root / "entities.tsv").write_text("q1\tmemory/people/alice-chen.md\t1\n")
    return root


def test_metrics_are_grouped_by_kind_of_query(kbx: CommandLine, labelled: Path) -> None:
    ran = kbx("eval", labelled, "--json", "--type", "meeting,note")
    assert ran.code == 0
    person, topic, everything = ran.json["groups"]
    assert (person["group"], person["ndcg"], person["two_pass"]) == ("person", 1.0, 1.0)
    assert (person["entity_first"], topic["entity_first"]) == (1.0, None)
    assert everything["queries"] == 2
    assert ran.json["doc_types"] == ["meeting", "note"]
    assert ran.json["queries"][0]["top"][0] == MEETING
    assert "left out 1 queries without a document judged relevant" in ran.err


def test_saved_run_can_be_compared(kbx: CommandLine, labelled: Path, tmp_path: Path) -> None:
    saved = tmp_path / "flat.json"
    options = ("--mode", "flat", "--preset", "seed", "--json", "--save", saved)
    assert kbx("eval", labelled, *options).json["preset"] == "seed"
    ran = kbx("eval", labelled, "--compare", saved)
    assert ran.code == 0
    assert "nDCG@10" in ran.out
    assert "against" in ran.out
    compared = kbx("eval", labelled, "--compare", saved, "--json").json["compared"]
    assert [row["group"] for row in compared] == ["person", "topic", "all"]
    assert compared[-1]["against"] == str(saved)
    assert compared[-1]["ndcg"]["queries"] == 2
    assert "more queries" in ran.out or "cannot be estimated" in ran.out


def test_every_mean_comes_with_its_share_of_judged_results(
    kbx: CommandLine, labelled: Path
) -> None:
    ran = kbx("eval", labelled)
    head, *rows = ran.out.splitlines()
    assert head.split()[:3] == ["queries", "judged@10", "nDCG@10"]
    rows = rows[: rows.index("")]  # a legend follows
    assert rows
    assert all(re.search(r" \d+ % +1?\.\d{3} ", row) for row in rows)
    groups = kbx("eval", labelled, "--json").json["groups"]
    assert groups[0]["ndcg_interval"] is None  # of a single query
    low, high = groups[-1]["ndcg_interval"]
    assert 0.0 <= low <= groups[-1]["ndcg"] <= high <= 1.0
    assert all(0.0 < group["judged"] <= 1.0 for group in groups)
    assert all(group["rbp"] + group["rbp_residual"] <= 1.0 for group in groups)


def test_an_earlier_run_is_measured_with_the_judgments_of_today(
    kbx: CommandLine, labelled: Path, tmp_path: Path
) -> None:
    for name in ("queries.jsonl", "qrels.tsv"):
        shutil.copy(labelled / name, tmp_path)
    saved = tmp_path / "before.json"
    assert kbx("eval", tmp_path, "--kb", labelled, "--save", saved).code == 0
    with (tmp_path / "qrels.tsv").open("a") as qrels:
        qrels.write(f"q2\t{MEETING}\t3\n")
    compared = kbx("eval", tmp_path, "--kb", labelled, "--compare", saved, "--json").json[
        "compared"
    ]
    assert [row["ndcg"]["mean"] for row in compared] == [0.0, 0.0, 0.0]
    assert [row["judged"] - row["judged_before"] for row in compared] == [0.0, 0.0, 0.0]


def test_a_run_without_a_common_query_is_named(
    kbx: CommandLine, labelled: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "before.json"
    assert kbx("eval", labelled, "--save", saved).code == 0
    saved.write_text(saved.read_text().replace('"q1"', '"x1"').replace('"q2"', '"x2"'))
    ran = kbx("eval", labelled, "--compare", saved)
    assert ran.code == 0
    assert "no judged query in common" in ran.err


@pytest.mark.parametrize("knob", ["alpha", "threshold"])
def test_sweep_marks_the_best_value(kbx: CommandLine, labelled: Path, knob: str) -> None:
    sweep = kbx("eval", labelled, "--sweep", knob, "--json").json
    assert sweep["knob"] == knob
    assert len(sweep["values"]) == len(sweep["ndcg"]["all"]) == 21
    assert sweep["best"]["person"] in sweep["values"]
    assert len(sweep["judged"]) == 21
    table = kbx("eval", labelled, "--sweep", knob).out
    assert "*" in table
    assert "judged@10" in table.splitlines()[0]


def test_own_judgments_are_used_by_default(kbx: CommandLine, labelled: Path) -> None:
    assert kbx("eval", "--kb", labelled).code == 4
    own = labelled / ".kbx" / "judgments.jsonl"
    own.write_text('{"query": "soup", "path": "memory/notes/lunch.md", "grade": 1}\n')
    (row,) = kbx("eval", "--kb", labelled, "--json").json["groups"]
    assert (row["group"], row["ndcg"]) == ("own", 1.0)


def test_sweep_with_a_mode_and_missing_file_are_refused(
    kbx: CommandLine, labelled: Path, demo_kb_path: Path
) -> None:
    ran = kbx("eval", labelled, "--sweep", "alpha", "--mode", "flat")
    assert ran.code == 2
    assert "--sweep" in ran.err

    ran = kbx("eval", demo_kb_path)
    assert ran.code == 4
    assert "qrels.tsv" in ran.err

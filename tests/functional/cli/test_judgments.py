"""`kbx judgments` on the demo: grades go in and out, and none of the user's is overwritten."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.evaluation.blind_preferences import Better, ShownList
from kbx_tui.evaluation.judgments import knobs_of
from kbx_tui.search.query_history import QueryHistory
from tests.command_line import CommandLine
from tests.trusting import copy_base

ALICE, BOB = "memory/people/alice-chen.md", "memory/people/bob-okafor.md"
RUTH = "memory/people/ruth-castellane.md"
QUERY = "who decided: rollback plan"


@pytest.fixture
def base(kbx: CommandLine, demo_copy: Path) -> Path:
    """The demo with two grades and one unsure."""
    for path, grade in ((ALICE, "3"), (BOB, "0"), (RUTH, "unsure")):
        assert kbx("judgments", "add", QUERY, path, grade, "--kb", demo_copy).code == 0
    return demo_copy


def grades(kbx: CommandLine, base: Path, query: str = QUERY) -> dict[str, int | str]:
    rows = kbx("judgments", "list", query, "--kb", base, "--json").json
    return {row["path"]: row["grade"] for row in rows}


def test_queries_are_listed_with_their_number_of_grades(kbx: CommandLine, base: Path) -> None:
    (row,) = kbx("judgments", "list", "--kb", base, "--json").json
    assert row == {"query": QUERY, "grades": {"0": 1, "1": 0, "2": 0, "3": 1, "unsure": 1}}
    assert QUERY in kbx("judgments", "list", "--kb", base).out
    assert grades(kbx, base) == {ALICE: 3, BOB: 0, RUTH: "unsure"}
    lines = kbx("judgments", "list", QUERY, "--kb", base).out.splitlines()
    assert [line.split()[0] for line in lines] == ["3", "0", "unsure"]


def test_an_empty_list_says_how_to_begin(kbx: CommandLine, demo_copy: Path) -> None:
    ran = kbx("judgments", "list", "--kb", demo_copy)
    assert (ran.code, ran.out) == (0, "")
    assert "kbx judgments --help" in ran.err
    ran = kbx("judgments", "undo", "--kb", demo_copy)
    assert ran.code == 7
    assert "no judgment to undo" in ran.err


def test_the_last_grade_is_undone_first(kbx: CommandLine, base: Path) -> None:
    kbx("judgments", "add", QUERY, BOB, "2", "--kb", base)
    ran = kbx("judgments", "undo", "--kb", base, "--json")
    assert ran.json == {"query": QUERY, "path": BOB, "undone": 2, "grade": 0}
    assert "not judged" in kbx("judgments", "undo", "--kb", base).out
    assert grades(kbx, base) == {ALICE: 3, BOB: 0}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("add", QUERY, "memory/none.md", "1"), 4),
        (("add", QUERY, ALICE, "4"), 2),
        (("add", " ", ALICE, "1"), 2),
        (("import", "none.qrels"), 4),
        (("import", "kbx.toml", "--format", "opensearch"), 4),
        (("import", ".", "--format", "qrels"), 2),
        (("export", "no/such/folder/file.qrels"), 7),
    ],
)
def test_bad_input_is_one_sentence(
    kbx: CommandLine, base: Path, arguments: tuple[str, ...], code: int
) -> None:
    ran = kbx("judgments", *arguments, "--kb", base)
    assert ran.code == code
    assert "Traceback" not in ran.err
    assert grades(kbx, base) == {ALICE: 3, BOB: 0, RUTH: "unsure"}


def test_an_export_imported_elsewhere_has_the_same_grades(
    kbx: CommandLine, base: Path, demo_kb_path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "judgments.txt"
    ran = kbx("judgments", "export", file, "--format", "opensearch", "--kb", base)
    assert ran.code == 0
    assert "left out 1 judged not sure" in ran.err
    other = copy_base(demo_kb_path, tmp_path / "other")
    ran = kbx("judgments", "import", file, "--kb", other)
    assert (ran.code, ran.err) == (0, "")
    assert "added 2" in ran.out
    assert grades(kbx, other) == {ALICE: 3, BOB: 0}


def test_topics_exported_with_qrels_give_them_texts(
    kbx: CommandLine, base: Path, tmp_path: Path
) -> None:
    qrels, topics = tmp_path / "judgments.qrels", tmp_path / "topics.jsonl"
    assert kbx("judgments", "export", qrels, "--topics", topics, "--kb", base).code == 0
    assert qrels.read_text().splitlines()[0] == f"who%20decided:%20rollback%20plan 0 {ALICE} 3"
    assert json.loads(topics.read_text())["text"] == QUERY
    ran = kbx("judgments", "import", qrels, "--topics", topics, "--kb", base, "--json")
    assert (ran.json["added"], ran.json["unchanged"]) == (0, 2)


def test_a_different_grade_is_listed_and_kept_unless_replaced(
    kbx: CommandLine, base: Path, tmp_path: Path
) -> None:
    file = tmp_path / "theirs.csv"
    file.write_text(f"query,docid,rating\n{QUERY},{ALICE},1\n{QUERY},{BOB},0\nlunch,{BOB},2\n")
    before = (base / ".kbx/judgments.jsonl").read_bytes()
    dry = kbx("judgments", "import", file, "--dry-run", "--kb", base)
    assert "would add 1" in dry.out
    assert (base / ".kbx/judgments.jsonl").read_bytes() == before
    ran = kbx("judgments", "import", file, "--kb", base)
    assert f"line 2: 1, yours 3  {ALICE}" in ran.out
    assert "--replace" in ran.out
    assert grades(kbx, base)[ALICE] == 3
    assert grades(kbx, base, "lunch") == {BOB: 2}
    data = kbx("judgments", "import", file, "--replace", "--kb", base, "--json").json
    assert [(row["path"], row["grade"], row["in_file"]) for row in data["conflicts"]] == [
        (ALICE, 3, 1)
    ]
    assert grades(kbx, base)[ALICE] == 1
    kbx("judgments", "undo", "--kb", base)
    assert grades(kbx, base)[ALICE] == 3


def test_broken_lines_and_unknown_documents_are_named(
    kbx: CommandLine, base: Path, tmp_path: Path
) -> None:
    file = tmp_path / "theirs.qrels"
    file.write_text(f"lunch 0 {ALICE} 1\nlunch 0\nlunch 0 memory/gone.md 2\nlunch 0 {ALICE} 2\n")
    ran = kbx("judgments", "import", file, "--kb", base)
    assert ran.code == 0
    assert "line 2: not query id" in ran.err
    assert "line 4: grade 2, but 1 in line 1" in ran.err
    assert "memory/gone.md" in ran.out
    assert grades(kbx, base, "lunch") == {ALICE: 1, "memory/gone.md": 2}


def test_a_run_for_trec_tools_can_be_compared_again(
    kbx: CommandLine, base: Path, tmp_path: Path
) -> None:
    run = tmp_path / "flat.run"
    assert kbx("eval", "--mode", "flat", "--save", run, "--kb", base).code == 0
    fields = run.read_text().splitlines()[0].split()
    assert (fields[0], fields[1], fields[3], fields[5]) == (
        "who%20decided:%20rollback%20plan", "Q0", "1", "kbx-flat",
    )  # fmt: skip
    with run.open("a") as lines:
        lines.write("broken\n")
    ran = kbx("eval", "--mode", "flat", "--compare", run, "--kb", base, "--json")
    (row,) = ran.json["compared"]
    assert (row["ndcg"]["mean"], row["ndcg"]["ties"]) == (0.0, 1)
    assert "not query id, Q0" in ran.err


def test_measures_of_an_exported_run_agree_with_ir_measures(
    kbx: CommandLine, base: Path, tmp_path: Path
) -> None:
    ir = pytest.importorskip("ir_measures")
    run, qrels = tmp_path / "auto.run", tmp_path / "judgments.qrels"
    kbx("judgments", "export", qrels, "--kb", base)
    (query,) = kbx("eval", "--save", run, "--kb", base, "--json").json["queries"]
    theirs = {
        "ndcg": ir.nDCG(gains={1: 1, 2: 3, 3: 7}) @ 10,
        "ndcg_linear": ir.nDCG @ 10,
        "recall": ir.R @ 10,
        "precision": ir.P @ 5,
        "average_precision": ir.AP,
        "reciprocal_rank": ir.RR,
        "judged": ir.Judged @ 10,
    }
    for name, measure in theirs.items():  # one by one: two kinds of nDCG at once may give 0
        judged, ranked = ir.read_trec_qrels(str(qrels)), ir.read_trec_run(str(run))
        measured = ir.calc_aggregate([measure], judged, ranked)
        assert round(measured[measure], 4) == query[name], name


PREFERENCES_QUERY = "what did Alice Chen decide about the rollback plan"


def prefer(base: Path, better: Better) -> None:
    """Answer for the lists of a flat search, first, and of one in two passes."""
    with KnowledgeBase(base) as kb:
        evidence = kb.retrieve(PREFERENCES_QUERY)
        flat, two_pass = (replace(kb.tuning(), hierarchy=each) for each in (False, True))
        first, second = (
            ShownList(kb.rank(evidence, tuning).best_paths(5), knobs_of(tuning))
            for tuning in (flat, two_pass)
        )
        assert first.paths != second.paths
        kb.preferences.add(PREFERENCES_QUERY, first, second, better)
        votes = kb.preferences.count(flat, two_pass)
        assert (votes.wins_a, votes.wins_b) == (better == "first", better == "second")
        assert kb.preferences.count(flat, flat).wins_a == 0


def test_a_preference_is_listed_counted_by_eval_and_undone(
    kbx: CommandLine, demo_copy: Path, tmp_path: Path
) -> None:
    assert "no such preference" in kbx("judgments", "list", "--preferences", "--kb", demo_copy).err
    prefer(demo_copy, "second")
    assert "1 preference, see --preferences" in kbx("judgments", "list", "--kb", demo_copy).out
    listed = kbx("judgments", "list", PREFERENCES_QUERY, "--preferences", "--kb", demo_copy)
    assert f"{PREFERENCES_QUERY}: hierarchy True, not False" in listed.out
    (row,) = kbx("judgments", "list", "--preferences", "--kb", demo_copy, "--json").json
    assert (row["query"], row["better"]) == (PREFERENCES_QUERY, "second")
    assert row["second"]["knobs"]["hierarchy"] is True

    best = row["second"]["paths"][0]
    kbx("judgments", "add", PREFERENCES_QUERY, best, "3", "--kb", demo_copy)
    saved = tmp_path / "flat.json"
    kbx("eval", "--kb", demo_copy, "--mode", "flat", "--save", saved)
    ran = kbx("eval", "--kb", demo_copy, "--compare", saved)
    assert "the earlier 0, this run 1, neither 0; sign test p 1.000" in ran.out
    compared = kbx("eval", "--kb", demo_copy, "--compare", saved, "--json").json["compared"]
    expected = {"wins_a": 0, "wins_b": 1, "neither": 0, "undecided": 0, "p": 1.0}
    assert compared[-1]["votes"] == expected

    ran = kbx("judgments", "undo", "--preference", "--kb", demo_copy)
    assert PREFERENCES_QUERY in ran.out
    assert kbx("judgments", "undo", "--preference", "--kb", demo_copy).code == 7


def test_queries_are_listed_and_cleared(kbx: CommandLine, fresh_demo: Path) -> None:
    def run(*arguments: str) -> str:
        result = kbx("--kb", str(fresh_demo), "history", *arguments)
        assert result.code == 0, result.err
        return result.out

    history = QueryHistory(fresh_demo)
    history.add("rollback plan")
    history.add("what did\x1b[2J alice decide")
    newest, oldest = run("list").splitlines()
    assert "alice decide" in newest
    assert "\x1b" not in newest
    assert oldest.endswith("  rollback plan")
    listed = json.loads(run("list", "--json"))
    assert listed[1]["query"] == "rollback plan"
    assert listed[1]["when"].startswith("20")
    assert (listed[1]["found"], listed[1]["settings"]) == (None, {})
    assert json.loads(run("clear", "--dry-run", "--json")) == {"queries": 2, "cleared": False}
    assert run("clear") == "forgot 2 queries\n"
    assert run("list") == ""


def test_saved_queries_are_listed_and_removed(kbx: CommandLine, demo_copy: Path) -> None:
    where = ("--kb", str(demo_copy), "history")
    assert "no query is saved yet" in kbx(*where, "saved").err
    with KnowledgeBase(demo_copy) as kb:
        kb.queries.save("open incidents", "error code 5032", {"alpha": 0.7})
    (row,) = json.loads(kbx(*where, "saved", "--json").out)
    assert (row["name"], row["query"]) == ("open incidents", "error code 5032")
    assert row["documents"] > 0
    assert "open incidents  20" in kbx(*where, "saved").out
    log = demo_copy / ".kbx" / "saved_queries.jsonl"
    own = log.read_bytes()
    log.write_bytes(own + json.dumps({"name": "N" * 10_000, "query": "x", "at": 1.0}).encode())
    assert len(kbx(*where, "saved").out) < 11_000
    log.write_bytes(own)
    search = ("--kb", str(demo_copy), "search", "--fast", "--explain", "--json")
    ran = kbx(*search, "--saved", "open incidents", "--limit", "3").json
    assert ran["results"] == kbx(*search, "error code 5032", "--limit", "3").json["results"]
    assert ran["meta"]["explain"]["hierarchy_alpha"] == 0.7
    ran = kbx(*search, "--saved", "open incidents", "--hierarchy-alpha", "0.2").json
    assert ran["meta"]["explain"]["hierarchy_alpha"] == 0.2
    assert "no query is saved as 'x'" in kbx(*search, "--saved", "x").err
    assert "has its own query" in kbx(*search, "--saved", "open incidents", "more").err
    missing = kbx(*where, "remove", "closed")
    assert missing.code != 0
    assert "no query is saved as 'closed'; the names are open incidents" in missing.err
    assert kbx(*where, "remove", "open", "incidents").out == (
        "removed open incidents: error code 5032\n"
    )
    assert json.loads(kbx(*where, "saved", "--json").out) == []

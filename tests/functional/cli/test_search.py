"""`kbx search`: the listing it prints, and that any text is a valid query."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command_line import CommandLine, run_program
from tests.functional.vaults import write_vault


@pytest.mark.parametrize("query", ["", "   ", "\t\n"], ids=["empty", "spaces", "blanks"])
def test_empty_query_is_refused(kbx: CommandLine, demo_kb_path: Path, query: str) -> None:
    ran = kbx("search", query, "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == ("kbx: the query is empty; say what to look for; see `kbx search --help`\n")


def test_missing_query_is_refused(kbx: CommandLine, demo_kb_path: Path) -> None:
    assert kbx("search", "--kb", demo_kb_path).code == 2


def test_query_of_several_words_needs_no_quotes(kbx: CommandLine, demo_kb_path: Path) -> None:
    unquoted = kbx("search", "error", "code", "5032", "--json", "--kb", demo_kb_path).json
    quoted = kbx("search", "error code 5032", "--json", "--kb", demo_kb_path).json
    assert unquoted["query"] == quoted["query"] == "error code 5032"
    assert unquoted["results"] == quoted["results"]


def test_query_may_start_with_a_dash(kbx: CommandLine, demo_kb_path: Path) -> None:
    ran = kbx("search", "--json", "--kb", demo_kb_path, "--", "--no-hierarchy", "migration")
    assert ran.json["query"] == "--no-hierarchy migration"


def test_listing_shows_mode_entities_scores_and_places(
    kbx: CommandLine, demo_kb_path: Path
) -> None:
    ran = kbx("search", "what has Grace been working on?", "--limit", "3", "--kb", demo_kb_path)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith("two-pass · Grace Tully · 3 of ")
    assert "● Grace Tully 1.00" in lines[1]
    assert lines[2] == ""
    assert lines[3].lstrip().startswith("1 ")
    assert "█" in lines[3]
    assert "▒" in lines[3]
    place, _, line = lines[4].strip().rpartition(":")
    assert (demo_kb_path / place).is_file()
    assert int(line) >= 1


def test_explain_prints_sums_that_add_up(
    kbx: CommandLine, demo_kb_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    ran = kbx("search", "what has Grace been working on?", "--explain", "--kb", demo_kb_path)
    sums = [line.strip() for line in ran.out.splitlines() if re.search(r"^\s+\w+ [.1]\d* = ", line)]
    assert {line.split()[0] for line in sums} == {"score", "document", "entity"}
    for line in sums:
        total, _, parts = line.partition(" = ")
        values = [float(value) for value in re.findall(r"(?:^|\+ )([.1][.\d]*) ", parts)]
        assert round(sum(values), 2) == float(total.split()[1]), line


def test_explain_names_scope_and_options(
    kbx: CommandLine, demo_kb_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    options = ("--path", "memory/notes", "--gate", "hard", "--parent", "max", "--max-entities", "2")
    ran = kbx("search", "what did Grace do", "--explain", *options, "--kb", demo_kb_path)
    scope = ran.out.splitlines()[2]
    assert re.match(r"\d+ of \d+ documents in scope · path memory/notes · ", scope)
    assert scope.endswith("at most 2 entities · gate hard · parent max")


def test_alpha_1_is_not_a_flat_search(kbx: CommandLine, demo_kb_path: Path) -> None:
    query = ("search", "what did Grace decide about rollbacks", "--json", "--kb", demo_kb_path)
    two_pass = kbx(*query, "--hierarchy-alpha", "1", "--explain").json
    flat = kbx(*query, "--no-hierarchy", "--explain").json
    searched = [answer["meta"]["explain"]["document_query"] for answer in (two_pass, flat)]
    assert "Grace" not in searched[0]
    assert "Grace" in searched[1]
    assert [row["score"] for row in two_pass["results"]] != [
        row["score"] for row in flat["results"]
    ]


def test_search_without_results_suggests_what_to_try(kbx: CommandLine, demo_kb_path: Path) -> None:
    ran = kbx("search", "migration", "--path", "memory/nowhere", "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (0, "")
    assert "there are no documents in memory/nowhere" in ran.err


def test_first_search_indexes_the_base(kbx: CommandLine, fresh_demo: Path) -> None:
    ran = kbx("search", "rollback plan", "--json", "--kb", fresh_demo)
    assert ran.code == 0
    assert "is not indexed yet" in ran.err
    assert ran.json["results"][0]["path"] == "memory/notes/2026-01-30-rollback-plan.md"
    assert ran.json["meta"]["vector_share"] == 0.0
    assert kbx("search", "rollback plan", "--json", "--kb", fresh_demo).err == ""
    status = kbx("status", "--kb", fresh_demo).out
    assert "0 %, 0 vectors; 90 texts without one, `kbx index` computes the rest" in status


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (
            ["--type", "memo"],
            "no document has type memo; existing types: context, glossary, meeting",
        ),
        (["--type", "note", "--from", "2027"], "no document matches type note and from 2027;"),
    ],
    ids=["type", "two-filters"],
)
def test_filters_that_match_nothing_are_named(
    kbx: CommandLine, demo_kb_path: Path, filters: list[str], message: str
) -> None:
    ran = kbx("search", "migration", *filters, "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (0, "")
    assert message in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--hierarchy-alpha", "1.5"],
        ["--hierarchy-alpha", "nan"],
        ["--hierarchy-threshold", "-0.1"],
        ["--max-entities", "0"],
        ["--limit", "0"],
        ["--gate", "wooden"],
        ["--parent", "none"],
        ["--path", "../.."],
        ["--no-such-option"],
    ],
    ids=" ".join,
)
def test_invalid_value_gives_one_line_and_exit_code_2(
    kbx: CommandLine, demo_kb_path: Path, arguments: list[str]
) -> None:
    ran = kbx("search", "migration", *arguments, "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("kbx: ")
    assert ran.err.count("\n") == 1


def test_text_of_documents_never_controls_the_terminal(kbx: CommandLine, tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x9b31m\u202efdp.exe\x1b[2J bananas"
    (tmp_path / "evil.md").write_text(f"# Title {evil}\n\nbananas {evil}\n", encoding="utf-8")
    acting = ("\x1b", "\x07", "\x9b", "\u202e")
    for options in ([], ["--explain"], ["--json"], ["--json", "--explain"]):
        ran = kbx("search", "bananas", *options, "--kb", tmp_path)
        assert "bananas" in ran.out
        assert not any(sign in ran.out for sign in acting)
    assert evil.split()[-1] in ran.json["results"][0]["snippet"]


def test_undecodable_bytes_in_a_query_are_replaced(demo_kb_path: Path) -> None:
    ran = run_program("search", "--fast", "--json", b"migration \xff\xfe", "--kb", demo_kb_path)
    assert ran.code == 0
    assert ran.json["query"] == "migration \ufffd\ufffd"


def test_undecodable_bytes_match_no_path_and_no_type(kbx: CommandLine, demo_kb_path: Path) -> None:
    for option in ("--path", "--type"):
        ran = kbx("search", "x", option, "\udcff", "--fast", "--json", "--kb", demo_kb_path)
        assert (ran.code, ran.json["results"]) == (0, [])


def test_json_is_valid_on_an_ascii_terminal(demo_kb_path: Path) -> None:
    ran = run_program(
        "search", "café", "--fast", "--json", "--kb", demo_kb_path,
        env={"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert ran.code == 0
    assert ran.json["query"] == "café"


def test_search_warns_when_files_are_newer_than_the_index(kbx: CommandLine, tmp_path: Path) -> None:
    base = write_vault(tmp_path)
    kbx("--kb", base, "index", "--fast")
    assert "changed since" not in kbx("--kb", base, "search", "soup", "--fast").err
    write_vault(base, {"memory/notes/new.md": "# New\n\nA zorkmid.\n"})
    (base / "memory/notes/lunch.md").unlink()
    ran = kbx("--kb", base, "search", "soup", "--fast")
    assert "changed since the last run; `kbx index` updates the index" in ran.err
    kbx("--kb", base, "index", "--fast")
    assert "changed since" not in kbx("--kb", base, "search", "soup", "--fast").err

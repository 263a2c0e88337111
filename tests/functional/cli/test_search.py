"""`kbx search`: the listing it prints, and that any text is a valid query."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from kbx_tui.cli.output import table_text
from tests.command_line import CommandLine, run_program
from tests.functional.vaults import write_vault
from tests.parsed_page import ParsedPage


def test_query_needs_no_quotes_and_may_start_with_a_dash(
    kbx: CommandLine, demo_kb_path: Path
) -> None:
    unquoted = kbx("search", "error", "code", "5032", "--json", "--kb", demo_kb_path).json
    quoted = kbx("search", "error code 5032", "--json", "--kb", demo_kb_path).json
    assert unquoted["query"] == quoted["query"] == "error code 5032"
    assert unquoted["results"] == quoted["results"]

    ran = kbx("search", "--json", "--kb", demo_kb_path, "--", "--no-hierarchy", "migration")
    assert ran.json["query"] == "--no-hierarchy migration"


def test_listing_shows_mode_entities_scores_and_places(
    kbx: CommandLine, demo_kb_path: Path
) -> None:
    ran = kbx("search", "what did Grace say about alerts?", "--limit", "3", "--kb", demo_kb_path)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith("two-pass · Grace Tully · 3 of ")
    assert "● Grace Tully 1.00" in lines[1]
    assert lines[2] == ""
    assert lines[3].lstrip().startswith("1 ")
    assert "━" in lines[3]
    assert "─" in lines[3]
    place, _, line = lines[4].strip().rpartition(":")
    assert (demo_kb_path / place).is_file()
    assert int(line) >= 1


def test_explain_prints_sums_that_add_up(
    kbx: CommandLine, demo_kb_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    ran = kbx("search", "what did Grace decide about alerts?", "--explain", "--kb", demo_kb_path)
    sums = [line.strip() for line in ran.out.splitlines() if re.search(r"^\s+\w+ [.1]\d* = ", line)]
    assert {line.split()[0] for line in sums} == {"score", "document", "entity"}
    for line in sums:
        total, _, parts = line.partition(" = ")
        values = [float(value) for value in re.findall(r"(?:^|\+ )([.1][.\d]*) ", parts)]
        assert round(sum(values), 2) == float(total.split()[1]), line


def test_first_search_indexes_the_base(kbx: CommandLine, fresh_demo: Path) -> None:
    ran = kbx("search", "rollback plan", "--json", "--kb", fresh_demo)
    assert ran.code == 0
    assert "is not indexed yet" in ran.err
    assert ran.json["results"][0]["path"] == "memory/notes/2026-01-30-rollback-plan.md"
    assert ran.json["meta"]["vector_share"] == 0.0
    assert kbx("search", "rollback plan", "--json", "--kb", fresh_demo).err == ""
    status = kbx("status", "--kb", fresh_demo).out
    assert "0 %, 0 vectors; 90 texts without one, `kbx index` computes the rest" in status


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
        assert (ran.code, ran.out) == (4, "")


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


def test_a_page_says_how_to_repeat_the_search(
    kbx: CommandLine, demo_kb_path: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    search = ("search", "rollback", "--fast", "--kb", demo_kb_path, "--limit", "2")
    ran = kbx(*search, "--html", page)
    assert (ran.code, ran.out, ran.err) == (0, "", f"kbx: 2 results written to {page}\n")
    assert "--fast --limit 2 rollback" in ParsedPage(page.read_text("utf-8")).text


def test_a_dash_is_stdout(kbx: CommandLine, demo_kb_path: Path) -> None:
    ran = kbx("search", "rollback", "--fast", "--kb", demo_kb_path, "--html", "-")
    assert ran.code == 0
    assert ran.out.startswith("<!doctype html>")
    assert ran.err == ""


def test_a_page_of_several_bases_names_the_base_of_each_result(
    kbx: CommandLine, tmp_path: Path
) -> None:
    home = write_vault(tmp_path / "home", {"a.md": "# Rollback plan\n", "people/bo.md": "# Bo\n"})
    work = write_vault(tmp_path / "work", {"b.md": "# Tea\n\nrollback\n"})
    ran = kbx("search", "rollback", "--fast", "--kb", home, "--kb", work, "--html", "-")
    text = ParsedPage(ran.out).text
    assert "Search in home, work" in text
    assert "home · note · a.md:" in text
    assert "work · note · b.md:" in text
    assert "kbx search --kb home --kb work --fast rollback" in text
    assert str(tmp_path) not in ran.out


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    """Return `--kb` options for two bases, of folders with the same name."""
    home = {"notes/rollback.md": "# Rollback plan\n\nHow we roll back.\n", "people/bo.md": "# Bo\n"}
    work = {"notes/a.md": "# Deployment\n\nA rollback takes an hour.\n", "notes/b.md": "# Tea\n"}
    roots = [
        write_vault(tmp_path / "home" / "notes", home),
        write_vault(tmp_path / "work" / "notes", work),
    ]
    return [option for root in roots for option in ("--kb", str(root))]


def test_results_of_several_bases_are_merged_and_say_whose_they_are(
    kbx: CommandLine, two: list[str]
) -> None:
    answer = kbx("search", "rollback plan", "--fast", "--json", *two).json
    first, second = answer["results"]
    assert (first["base"], first["path"]) == (two[1], "notes/rollback.md")
    assert (second["base"], second["path"]) == (two[3], "notes/a.md")
    assert first["explain"] is None
    assert set(answer["bases"]) == {two[1], two[3]}
    listing = kbx("search", "rollback", "--fast", "--explain", *two).out
    assert f"{two[3]}  notes/a.md" in listing
    assert "meaning (not used)" in " ".join(listing.split())
    assert (
        len(kbx("search", "rollback", "--fast", "--json", "--limit", "1", *two).json["results"])
        == 1
    )
    assert not list(Path(two[3]).rglob("*rollback*"))


def test_a_base_without_a_pinned_entity_is_left_out_with_a_note(
    kbx: CommandLine, two: list[str]
) -> None:
    shown = kbx("search", "rollback", "--pin", "person:bo", "--fast", "--json", *two)
    assert {result["base"] for result in shown.json["results"]} == {two[1]}
    assert two[3] in shown.json["notes"][0]
    refused = kbx("search", "rollback", "--pin", "person:nobody", "--fast", *two)
    assert refused.code == 4


@pytest.mark.parametrize("command", [["status"], ["mcp"], ["jsonl"]])
def test_other_commands_refuse_several_bases(
    kbx: CommandLine, two: list[str], command: list[str]
) -> None:
    refused = kbx(*two, *command)
    assert refused.code == 2
    assert "only the app and `kbx search` take several knowledge bases" in refused.err
    assert refused.err.count("\n") == 1


def test_the_app_takes_several_bases_and_names_one_that_is_none(
    kbx: CommandLine, two: list[str], tmp_path: Path
) -> None:
    assert "the app needs a terminal" in kbx(*two).err
    refused = kbx(*two, "--kb", str(tmp_path / "gone"))
    assert refused.code == 4
    assert "gone" in refused.err


def test_the_same_base_given_twice_is_one(kbx: CommandLine, two: list[str]) -> None:
    assert kbx("status", "--kb", two[1], "--kb", two[1]).code == 0


def test_known_bases_are_listed(
    kbx: CommandLine, two: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from kbx_tui.tui.app_state import AppState

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert "opened no knowledge base" in kbx("bases").out
    state = AppState()
    for root in (Path(two[1]), tmp_path / "gone"):
        state.open_base(root)
    listed = kbx("bases", "--json").json
    assert [base["name"] for base in listed] == ["gone", "notes"]
    assert [base["exists"] for base in listed] == [False, True]
    assert "(not there)" in kbx("bases").out


def test_lists_are_printed_as_tables_and_paths(kbx: CommandLine, demo_kb_path: Path) -> None:
    search = ("search", "rollback", "--limit", "3", "--fast", "--kb", demo_kb_path)
    found = kbx(*search, "--json").json["results"]
    (names, *rows) = csv.reader(kbx(*search, "--format", "csv").out.splitlines())
    assert names == ["path", "line", "title", "date", "doc_type", "score", "snippet"]
    assert [(row[0], float(row[5])) for row in rows] == [
        (result["path"], result["score"]) for result in found
    ]
    paths = kbx(*search, "--format", "paths").out
    assert paths.splitlines() == [result["path"] for result in found]
    markdown = kbx("entity", "list", "--type", "team", "--format", "markdown", "--kb", demo_kb_path)
    assert markdown.out.startswith(
        "| id | name | type | path |\n| --- | --- | --- | --- |\n| team:"
    )
    facts = kbx("memory", "list", "--format", "csv", "--kb", demo_kb_path)
    assert facts.out.startswith("fact_id,text,date,")
    both = kbx(*search, "--format", "csv", "--json")
    assert (both.code, both.out, "are two outputs" in both.err) == (2, "", True)
    assert kbx(*search, "--format", "csv", "--html", "-").code == 2


def test_table_holds_hostile_text_as_text() -> None:
    rows: list[dict[str, Any]] = [
        {"path": "a|b.md", "text": '=HYPERLINK("x")\x1b[2J\nend', "n": -1.5},
        {"path": None, "text": "\uff1d1+1"},
        {"text": "in a cell of its own; =1+1"},  # where a semicolon separates
    ]
    assert table_text(rows, "csv").splitlines() == [
        "path,text,n",
        'a|b.md,"\'=HYPERLINK(""x"") end",-1.5',
        ",'\uff1d1+1,",
        ",in a cell of its own;' =1+1,",
    ]
    assert "a\\|b.md" in table_text(rows, "markdown")
    assert table_text(rows, "paths") == "a|b.md"
    assert table_text([], "csv") == table_text([], "markdown") == table_text([], "paths") == ""

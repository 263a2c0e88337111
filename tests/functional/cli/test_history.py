"""`kbx history` lists and clears the queries asked in the app."""

from __future__ import annotations

import json
from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.search.query_history import QueryHistory
from tests.command_line import CommandLine


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

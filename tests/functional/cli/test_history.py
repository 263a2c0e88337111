"""`kbx history` lists and clears the queries asked in the app."""

from __future__ import annotations

import json
from pathlib import Path

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
    assert json.loads(run("clear", "--dry-run", "--json")) == {"queries": 2, "cleared": False}
    assert run("clear") == "forgot 2 queries\n"
    assert run("list") == ""

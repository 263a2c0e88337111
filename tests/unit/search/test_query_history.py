"""The queries asked in the app: newest first, each once, and limited."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.search import query_history
from kbx_tui.search.query_history import LIMIT, QueryHistory

HISTORY_FILE = Path(".kbx", "queries.jsonl")


def asked(root: Path) -> list[str]:
    return [past.query for past in QueryHistory(root).read()]


def test_there_is_no_history_at_first(tmp_path: Path) -> None:
    assert asked(tmp_path) == []
    assert QueryHistory(tmp_path).clear() == 0
    assert not (tmp_path / HISTORY_FILE).exists()


def test_a_query_asked_again_moves_to_the_top(tmp_path: Path) -> None:
    history = QueryHistory(tmp_path)
    for query in ("a", "b", " ", "a"):
        history.add(query)
    first, second = history.read()
    assert (first.query, second.query) == ("a", "b")
    assert first.at >= second.at > 0.0


def test_two_apps_lose_no_query(tmp_path: Path) -> None:
    one, other = QueryHistory(tmp_path), QueryHistory(tmp_path)
    one.add("a")
    other.add("b")
    one.add("c")
    assert asked(tmp_path) == ["c", "b", "a"]


def test_long_file_keeps_the_newest_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_history, "COMPACTED_BYTES", 20_000)
    file = tmp_path / HISTORY_FILE
    file.parent.mkdir()
    lines = (f'{{"query": "query {number}"}}\n' for number in range(LIMIT + 500))
    file.write_text("".join(lines), encoding="utf-8")
    QueryHistory(tmp_path).add("last")
    assert asked(tmp_path)[:2] == ["last", f"query {LIMIT + 499}"]
    assert len(asked(tmp_path)) == LIMIT
    assert len(file.read_bytes().splitlines()) == LIMIT


def test_broken_lines_are_reported_and_forgotten_with_the_rest(tmp_path: Path) -> None:
    QueryHistory(tmp_path).add("a")
    with (tmp_path / HISTORY_FILE).open("ab") as stream:
        stream.write(b'{"query": "  "}\n\xff\n{"quer')
    QueryHistory(tmp_path).add("b")
    said: list[str] = []
    history = QueryHistory(tmp_path, said.append)
    assert [past.query for past in history.read()] == ["b", "a"]
    assert "3 lines cannot be read" in said[0]
    assert history.clear() == 2
    assert (tmp_path / HISTORY_FILE).read_bytes() == b""

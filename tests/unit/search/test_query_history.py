"""The queries asked in the app: newest first, each once, and limited."""

from pathlib import Path

import pytest

from kbx_tui import ConfigError, NotFound
from kbx_tui.errors import WriteFault
from kbx_tui.search import query_history
from kbx_tui.search.query_history import (
    LIMIT,
    QueryHistory,
    SavedQueries,
    SavedQuery,
    news,
    valid_name,
)

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


SAVED_FILE = Path(".kbx", "saved_queries.jsonl")


def test_queries_are_stored_by_name_and_removed(tmp_path: Path) -> None:
    saved = SavedQueries(tmp_path, lambda text: None)
    assert saved.read() == ()
    for name, query in (("b", "one"), ("A", "two"), ("b", "three")):
        saved.put(SavedQuery(name, query, 1.0, {"alpha": 0.7}, {"x.md": "v"}))
    assert [(one.name, one.query) for one in saved.read()] == [("A", "two"), ("b", "three")]
    assert saved.find(" b ").settings == {"alpha": 0.7}
    assert saved.remove("A").query == "two"
    with pytest.raises(NotFound, match="no query is saved as 'A'; the names are b"):
        saved.remove("A")


def test_a_query_that_was_removed_meanwhile_is_not_updated(tmp_path: Path) -> None:
    saved = SavedQueries(tmp_path, lambda text: None)
    saved.put(SavedQuery("a", "one", 1.0))
    opened = saved.remove("a")
    saved.update(opened)
    assert saved.read() == ()
    saved.put(opened)
    saved.update(SavedQuery("a", "one", 2.0))
    assert saved.find("a").at == 2.0


def test_new_and_changed_documents_are_distinguished() -> None:
    before = {"a": "1", "b": "1", "gone": "1"}
    now = [("c", "1"), ("b", "2"), ("a", "1")]
    assert news(before, now) == {"c": True, "b": False}


@pytest.mark.parametrize("name", ["", "  ", "a\x1bb", "x" * 101])
def test_names_that_cannot_be_shown_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="1 to 100 printable characters"):
        valid_name(name)
    assert valid_name(" open   incidents ") == "open incidents"


def test_a_lock_that_cannot_be_had_is_a_write_fault(tmp_path: Path) -> None:
    (tmp_path / ".kbx" / "saved_queries.lock").mkdir(parents=True)
    with pytest.raises(WriteFault, match=r"saved_queries\.lock"):
        SavedQueries(tmp_path, lambda text: None).put(SavedQuery("a", "one", 1.0))

"""Queries saved by name, and what is new in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui import ConfigError, NotFound
from kbx_tui.errors import WriteFault
from kbx_tui.search.query_history import (
    SavedQueries,
    SavedQuery,
    news,
    valid_name,
)

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


def test_lines_that_cannot_be_read_are_reported_and_stay(tmp_path: Path) -> None:
    said: list[str] = []
    saved = SavedQueries(tmp_path, said.append)
    saved.put(SavedQuery("a", "one", 1.0))
    with (tmp_path / SAVED_FILE).open("ab") as stream:
        stream.write(b'{"name": " ", "query": "x", "at": 1}\n{"nam')
    saved.put(SavedQuery("b", "two", 1.0))
    assert [one.name for one in saved.read()] == ["a", "b"]
    assert "2 lines cannot be read" in said[0]
    assert b'{"nam' in (tmp_path / SAVED_FILE).read_bytes()


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

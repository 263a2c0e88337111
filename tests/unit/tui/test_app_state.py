"""What the app remembers survives, and what is damaged does no harm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kbx_tui.tui.app_state import QUERIES, RECENT_BASES, Memory, user_file


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "kb" / ".kbx").mkdir(parents=True)
    return tmp_path / "kb"


def test_theme_and_bases_are_there_the_next_time(base: Path) -> None:
    memory = Memory()
    memory.remember_theme("nord")
    memory.open_base(base)
    assert Memory().user.theme == "nord"
    assert Memory().user.bases == [str(base)]


def test_the_base_opened_last_comes_first_and_once(tmp_path: Path) -> None:
    memory = Memory()
    for name in ("a", "b", "a"):
        memory.open_base(tmp_path / name)
    assert memory.user.bases == [str(tmp_path / "a"), str(tmp_path / "b")]
    for number in range(30):
        memory.open_base(tmp_path / str(number))
    assert len(memory.user.bases) == RECENT_BASES


def test_queries_and_hidden_panes_are_kept_with_the_base(base: Path) -> None:
    memory = Memory()
    memory.open_base(base)
    memory.base.hidden = ["why"]
    for number in range(QUERIES + 5):
        memory.remember_query(f"query {number}")
    memory.remember_query("query 7")
    memory.remember_query("")
    memory.write_base()
    again = Memory()
    again.open_base(base)
    assert again.base.hidden == ["why"]
    assert again.base.queries[0] == "query 7"
    assert len(again.base.queries) == QUERIES


def test_a_base_without_a_folder_of_ours_gets_none(tmp_path: Path) -> None:
    memory = Memory()
    memory.open_base(tmp_path)
    memory.write_base()
    assert not (tmp_path / ".kbx").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"theme": 7}', b"\xff\xfe", b'{"x": 1}'])
def test_a_damaged_file_counts_as_empty(content: bytes) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_bytes(content)
    assert Memory().user.bases == []
    assert Memory().user.theme == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().parent.chmod(0o500)
    Memory().remember_theme("nord")


def test_a_file_in_the_place_of_the_folder_is_no_failure() -> None:
    user_file().parent.parent.mkdir(parents=True, exist_ok=True)
    user_file().parent.write_text("in the way")
    Memory().remember_theme("nord")
    assert Memory().user.theme == ""

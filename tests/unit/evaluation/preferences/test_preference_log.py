"""Preferences outlive their process, whatever else is in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.errors import WriteFault
from kbx_tui.evaluation.blind_preferences import Preference, PreferenceLog, ShownList
from kbx_tui.state_file import ignore

FILE = Path(".kbx", "preferences.jsonl")

QUERY = "who decides: “rollback”"
FIRST = ShownList(("memory/a b.md", "memory/ü.md"), {"alpha": 0.4})
SECOND = ShownList(("memory/ü.md",), {"alpha": 0.6})
ONE = Preference(QUERY, FIRST, SECOND, "second", "2026-03-17T09:41:05Z", 41)


@pytest.fixture
def log(tmp_path: Path) -> PreferenceLog:
    return PreferenceLog(tmp_path, ignore)


def test_another_process_reads_what_was_stored(log: PreferenceLog, tmp_path: Path) -> None:
    log.add(ONE)
    assert PreferenceLog(tmp_path, ignore).read() == (ONE,) == log.read()


def test_the_last_answer_on_the_same_two_lists_counts(log: PreferenceLog) -> None:
    turned = Preference(QUERY, SECOND, FIRST, "neither")
    log.add(ONE)
    log.add(turned)
    assert log.read() == (turned,)


def test_a_preference_is_undone_only_while_it_counts(log: PreferenceLog) -> None:
    other = Preference("another", FIRST, SECOND, "first")
    log.add(ONE)
    log.add(other)
    assert log.undo(ONE) == ONE
    with pytest.raises(WriteFault, match="taken back since"):
        log.undo(ONE)
    assert log.undo() == other
    assert log.read() == ()
    with pytest.raises(WriteFault, match="no preference to undo"):
        log.undo()


def test_a_line_that_a_crash_cut_off_costs_no_other(log: PreferenceLog, tmp_path: Path) -> None:
    log.add(ONE)
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes() + file.read_bytes()[:40])
    said: list[str] = []
    other = Preference("another", FIRST, SECOND, "first")
    log.add(other)
    assert PreferenceLog(tmp_path, said.append).read() == (ONE, other)
    assert "line 2" in said[0]


@pytest.mark.parametrize(
    "line",
    [
        '{"query": "q", "first": {"paths": ["a"]}, "second": {"paths": ["a"]}, "better": "first"}',
        '{"query": " ", "first": {"paths": ["a"]}, "second": {"paths": []}, "better": "first"}',
        '{"query": "q", "first": {"paths": ["a"]}, "second": {"paths": []}, "better": "A"}',
    ],
    ids=["equal-lists", "blank-query", "unknown-answer"],
)
def test_an_invalid_line_is_named_and_left_out(
    log: PreferenceLog, tmp_path: Path, line: str
) -> None:
    log.add(ONE)
    with (tmp_path / FILE).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    said: list[str] = []
    assert PreferenceLog(tmp_path, said.append).read() == (ONE,)
    assert "line 2" in said[0]

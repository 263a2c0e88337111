"""Killed, or two at once: nothing half-written, nothing acknowledged lost. More: benchmarks."""

from __future__ import annotations

from benchmarks import writing


def test_killed_writers_leave_whole_files_that_can_be_put_back() -> None:
    writing.kills(4, seed=3)


def test_two_processes_lose_nothing() -> None:
    writing.race(15)

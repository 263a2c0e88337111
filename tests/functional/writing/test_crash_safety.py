"""Killed and concurrent writers leave no half-written file and lose no acknowledged write.

`python -m benchmarks.writing` runs the same checks at length.
"""

from benchmarks import writing


def test_files_are_complete_and_undoable_after_writers_are_killed() -> None:
    writing.kills(4, seed=3)


def test_two_concurrent_writers_lose_no_writes() -> None:
    writing.race(15)

"""Moves between two rankings."""

from __future__ import annotations

from kbx_tui.tui.drawing.lines import move_text, rank_moves


def test_rank_moves_leave_out_new_and_unmoved_documents() -> None:
    before = {"a": 1, "b": 2, "c": 3, "same": 5}
    now = {"c": 1, "a": 2, "b": 3, "new": 4, "same": 5}
    assert rank_moves(before, now) == {"c": 2, "a": -1, "b": -1}


def test_moves_are_shown_with_their_direction() -> None:
    assert [move_text(move) for move in (2, 0, -1)] == [" ▲2", "", " ▼1"]

"""A write whose process died is finished by the next process."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from kbx_tui.editing import journal
from kbx_tui.editing.file_change import StagedChange
from kbx_tui.editing.file_edits import undo, write_files
from kbx_tui.editing.journal import finish_interrupted
from tests.unit.editing.two_pages import (
    AFTER,
    BEFORE,
    OTHER,
    PAGE,
    contents,
    edits_of_both,
    temporary_files,
)


def die(*_: object) -> NoReturn:
    raise KeyboardInterrupt


@pytest.mark.parametrize("replaced", [0, 1, 2])
def test_interrupted_write_is_finished_and_can_be_undone(
    root: Path, monkeypatch: pytest.MonkeyPatch, replaced: int
) -> None:
    count = 0
    replace_target = StagedChange.replace_target

    def die_after_some_files(staged: StagedChange) -> None:
        nonlocal count
        if count == replaced:
            die()
        count += 1
        replace_target(staged)

    monkeypatch.setattr(StagedChange, "replace_target", die_after_some_files)
    if replaced == 2:
        monkeypatch.setattr(journal, "finish", die)
    with pytest.raises(KeyboardInterrupt):
        write_files(root, edits_of_both(), "two pages")
    monkeypatch.undo()
    finish_interrupted(root)
    assert contents(root) == [AFTER, AFTER]
    assert temporary_files(root) == []
    assert finish_interrupted(root) == ()
    undo(root)
    assert contents(root) == [BEFORE, BEFORE]


def test_recovery_does_not_touch_files_edited_since(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StagedChange, "replace_target", die)
    with pytest.raises(KeyboardInterrupt):
        write_files(root, edits_of_both(), "two pages")
    monkeypatch.undo()
    (root / PAGE).write_bytes(b"mine")
    assert finish_interrupted(root) == (OTHER,)
    assert (root / PAGE).read_bytes() == b"mine"
    assert [change.path for change in journal.entries(root)[0].changes] == [OTHER]

"""Files are written whole or not at all, never over somebody else's work, and can be put back."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui.editing import file_edits, journal
from kbx_tui.editing.file_edits import FileEdit, finish_interrupted, write_files
from kbx_tui.editing.undo import undo
from kbx_tui.errors import FileChanged, WriteFault

PAGE, OTHER = "memory/people/ada.md", "memory/people/bo.md"
BEFORE = b"# Ada\r\n\r\n## Recent Facts\r\n- one  \r\n"
AFTER = BEFORE + b"- two\r\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in (PAGE, OTHER):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(BEFORE)
    return tmp_path


def both(again: Callable[[bytes], bytes] | None = None) -> list[FileEdit]:
    return [FileEdit(path, BEFORE, AFTER, again) for path in (PAGE, OTHER)]


def left_over(root: Path) -> list[str]:
    return [file.name for file in (root / "memory").rglob(".*")]


def test_a_write_is_one_entry_and_one_undo(root: Path) -> None:
    outcome = write_files(root, both(), "two pages")
    assert (outcome.paths, outcome.failed) == ((PAGE, OTHER), {})
    assert (root / PAGE).read_bytes() == AFTER
    assert undo(root).told == "two pages"
    assert (root / PAGE).read_bytes() == (root / OTHER).read_bytes() == BEFORE
    with pytest.raises(WriteFault, match="nothing to undo"):
        undo(root)


def test_a_page_that_was_made_is_gone_after_undo(root: Path) -> None:
    write_files(root, [FileEdit("memory/teams/new.md", None, b"# New\n")], "new")
    assert (root / "memory/teams/new.md").read_bytes() == b"# New\n"
    undo(root)
    assert not (root / "memory/teams/new.md").exists()


def test_writes_are_taken_back_in_any_order_that_fits(root: Path) -> None:
    write_files(root, [FileEdit(PAGE, BEFORE, AFTER)], "first")
    write_files(root, [FileEdit(OTHER, BEFORE, AFTER)], "second")
    write_files(root, [FileEdit(PAGE, AFTER, AFTER + b"- three\r\n")], "third")
    assert undo(root, 2).told == "second"
    with pytest.raises(FileChanged, match="by hand: take out '- two'"):
        undo(root, 1)
    with pytest.raises(WriteFault, match="undone already"):
        undo(root, 2)
    assert [undo(root).told, undo(root).told] == ["third", "first"]
    assert (root / PAGE).read_bytes() == BEFORE


def test_a_file_that_somebody_edited_is_never_overwritten(root: Path) -> None:
    theirs = BEFORE + b"- theirs\r\n"
    (root / PAGE).write_bytes(theirs)
    outcome = write_files(root, both(), "two pages")
    fault = outcome.failed[PAGE]
    assert isinstance(fault, FileChanged)
    assert ("theirs" in fault.found, "theirs" in fault.expected) == (True, False)
    assert (root / PAGE).read_bytes() == theirs
    assert (root / OTHER).read_bytes() == AFTER


def test_an_edit_that_still_fits_is_made_on_what_is_there_by_now(root: Path) -> None:
    (root / PAGE).write_bytes(BEFORE + b"- theirs\r\n")
    write_files(root, both(lambda data: data + b"- ours\r\n"), "two pages")
    assert (root / PAGE).read_bytes() == BEFORE + b"- theirs\r\n- ours\r\n"


def test_an_editor_that_saves_in_the_last_moment_wins(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = journal.begin

    def saved_meanwhile(root: Path, entry: journal.JournalEntry) -> None:
        begin(root, entry)
        (root / PAGE).write_bytes(b"saved by an editor")

    monkeypatch.setattr(journal, "begin", saved_meanwhile)
    outcome = write_files(root, both(), "two pages")
    assert (root / PAGE).read_bytes() == b"saved by an editor"
    assert (outcome.paths, list(outcome.failed)) == ((OTHER,), [PAGE])
    undo(root)
    assert (root / OTHER).read_bytes() == BEFORE


def test_undo_leaves_a_file_alone_that_was_edited_since(root: Path) -> None:
    write_files(root, both(), "two pages")
    (root / PAGE).write_bytes(AFTER + b"- more\r\n")
    with pytest.raises(FileChanged, match="edited since write 1"):
        undo(root)
    assert (root / OTHER).read_bytes() == AFTER


def test_mode_and_link_stay(root: Path) -> None:
    real = root / "memory" / "elsewhere" / "ada.md"
    real.parent.mkdir()
    (root / PAGE).rename(real)
    real.chmod(0o640)
    (root / PAGE).symlink_to(real)
    write_files(root, [FileEdit(PAGE, BEFORE, AFTER)], "linked")
    assert (root / PAGE).is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (AFTER, 0o640)


def test_a_file_and_a_link_to_it_are_not_written_at_once(root: Path) -> None:
    (root / OTHER).unlink()
    (root / OTHER).symlink_to(root / PAGE)
    outcome = write_files(root, both(), "twice")
    assert (outcome.paths, list(outcome.failed)) == ((PAGE,), [OTHER])
    assert (root / PAGE).read_bytes() == AFTER


def test_a_link_that_leads_out_is_not_written_through(root: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.md"
    outside.write_bytes(BEFORE)
    (root / PAGE).unlink()
    (root / PAGE).symlink_to(outside)
    outcome = write_files(root, [FileEdit(PAGE, BEFORE, AFTER)], "out")
    assert "outside" in str(outcome.failed[PAGE])
    assert outside.read_bytes() == BEFORE


@pytest.mark.parametrize("path", ["../x.md", "memory/../../x.md", "/tmp/x.md", "memory/x.txt"])
def test_only_markdown_in_the_base_is_written(root: Path, path: str) -> None:
    outcome = write_files(root, [FileEdit(path, None, b"x")], "out")
    assert list(outcome.failed) == [path]
    assert not (root / path).exists()


@pytest.mark.parametrize("call", range(1, 4))
def test_a_full_disk_leaves_all_files_as_they_were(
    root: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    calls = 0
    flush_to_disk = os.fsync

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush_to_disk(handle)

    monkeypatch.setattr(os, "fsync", full)
    outcome = write_files(root, both(), "two pages")
    monkeypatch.undo()
    if call == 2:  # the folder of the journal: not every file system can do that, so it is no fault
        assert outcome.failed == {}
        return
    assert {path: str(fault) for path, fault in outcome.failed.items()} == {
        path: f"{path} was not written (No space left on device); it is as it was"
        for path in (PAGE, OTHER)
    }
    assert (root / PAGE).read_bytes() == (root / OTHER).read_bytes() == BEFORE
    assert left_over(root) == []
    assert not (root / journal.FOLDER / journal.BEGUN).exists()
    assert len(write_files(root, both(), "again").paths) == 2


@pytest.mark.parametrize("replaced", [0, 1, 2])
def test_a_write_that_died_is_finished_by_whoever_looks_next(
    root: Path, monkeypatch: pytest.MonkeyPatch, replaced: int
) -> None:
    count = 0
    replace = file_edits._replace

    def dying(one: file_edits._Ready) -> None:
        nonlocal count
        if count == replaced:
            raise KeyboardInterrupt
        count += 1
        replace(one)

    monkeypatch.setattr(file_edits, "_replace", dying)
    if replaced == 2:
        monkeypatch.setattr(journal, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_files(root, both(), "two pages")
    monkeypatch.undo()
    finish_interrupted(root)
    assert (root / PAGE).read_bytes() == (root / OTHER).read_bytes() == AFTER
    assert left_over(root) == []
    assert finish_interrupted(root) == ()
    undo(root)
    assert (root / PAGE).read_bytes() == (root / OTHER).read_bytes() == BEFORE


def test_finishing_leaves_alone_what_was_edited_since(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        file_edits, "_replace", lambda one: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        write_files(root, both(), "two pages")
    monkeypatch.undo()
    (root / PAGE).write_bytes(b"mine")
    assert finish_interrupted(root) == (OTHER,)
    assert (root / PAGE).read_bytes() == b"mine"
    assert [one.path for one in journal.entries(root)[0].changes] == [OTHER]


def test_a_journal_that_cannot_be_read_is_said_and_nothing_is_written(root: Path) -> None:
    (root / journal.FOLDER).mkdir(parents=True)
    (root / journal.FOLDER / journal.BEGUN).write_text("{", encoding="utf-8")
    with pytest.raises(WriteFault, match="look at it, then remove it"):
        write_files(root, both(), "two pages")
    assert (root / PAGE).read_bytes() == BEFORE


def test_files_of_one_group_are_written_all_or_none(root: Path) -> None:
    third = "memory/people/cy.md"
    (root / third).write_bytes(BEFORE)
    grouped = [replace(edit, group="g") for edit in both()]
    (root / PAGE).write_bytes(b"edited meanwhile")
    outcome = write_files(root, [*grouped, FileEdit(third, BEFORE, AFTER)], "three")
    assert outcome.paths == (third,)
    assert set(outcome.failed) == {PAGE, OTHER}
    assert f"as it goes with {PAGE}" in str(outcome.failed[OTHER])
    assert (root / OTHER).read_bytes() == BEFORE


@pytest.mark.parametrize("whole", [True, False])
def test_a_group_that_fails_midway_is_put_back(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, whole: bool
) -> None:
    replace_one = file_edits._replace

    def fails_on_the_second(one: file_edits._Ready) -> None:
        if one.change.path == OTHER:
            raise WriteFault("the disk is gone")
        replace_one(one)

    monkeypatch.setattr(file_edits, "_replace", fails_on_the_second)
    if whole:
        with pytest.raises(WriteFault, match="the disk is gone"):
            write_files(root, both(), "two", whole=True)
    else:
        grouped = [replace(edit, group="g") for edit in both()]
        assert write_files(root, grouped, "two").entry is None
    assert (root / PAGE).read_bytes() == (root / OTHER).read_bytes() == BEFORE
    assert left_over(root) == []
    assert journal.entries(root) == ()


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"number":"2","at":5,"told":7,"changes":[]}', "[" * 100_000],
    ids=["cut-off", "a-list", "wrong-types", "deep"],
)
def test_an_unreadable_last_write_is_named_and_no_older_one_undone(root: Path, text: str) -> None:
    write_files(root, [FileEdit(PAGE, BEFORE, AFTER)], "first")
    write_files(root, [FileEdit(OTHER, BEFORE, AFTER)], "second")
    (root / journal.FOLDER / "000002.json").write_text(text)
    for number in (None, 2):
        with pytest.raises(WriteFault, match=r"000002\.json cannot be read"):
            undo(root, number)
    assert (root / PAGE).read_bytes() == AFTER
    assert undo(root, 1).told == "first"  # asked for by its number

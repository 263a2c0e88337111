"""Files are written completely or not at all, and never over changes made by others."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui.editing import journal
from kbx_tui.editing.file_edits import FileEdit, undo, write_files
from kbx_tui.editing.journal import StagedChange
from kbx_tui.errors import FileChanged, WriteFault
from tests.unit.editing.two_pages import (
    AFTER,
    BEFORE,
    OTHER,
    PAGE,
    contents,
    edits_of_both,
    temporary_files,
)


def test_file_changed_by_another_program_is_never_overwritten(root: Path) -> None:
    theirs = BEFORE + b"- theirs\r\n"
    (root / PAGE).write_bytes(theirs)
    outcome = write_files(root, edits_of_both(), "two pages")
    fault = outcome.failed[PAGE]
    assert isinstance(fault, FileChanged)
    assert ("theirs" in fault.found, "theirs" in fault.expected) == (True, False)
    assert contents(root) == [theirs, AFTER]


def test_edit_that_still_fits_is_rebased_onto_newer_content(root: Path) -> None:
    (root / PAGE).write_bytes(BEFORE + b"- theirs\r\n")
    write_files(root, edits_of_both(lambda data: data + b"- ours\r\n"), "two pages")
    assert (root / PAGE).read_bytes() == BEFORE + b"- theirs\r\n- ours\r\n"


def test_editor_that_saves_just_before_the_rename_wins(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = journal.begin

    def begin_then_save(root: Path, entry: journal.JournalEntry) -> None:
        begin(root, entry)
        (root / PAGE).write_bytes(b"saved by an editor")

    monkeypatch.setattr(journal, "begin", begin_then_save)
    outcome = write_files(root, edits_of_both(), "two pages")
    assert (root / PAGE).read_bytes() == b"saved by an editor"
    assert (outcome.paths, list(outcome.failed)) == ((OTHER,), [PAGE])
    undo(root)
    assert (root / OTHER).read_bytes() == BEFORE


def test_write_keeps_file_mode_and_symbolic_link(root: Path) -> None:
    real = root / "memory" / "elsewhere" / "ada.md"
    real.parent.mkdir()
    (root / PAGE).rename(real)
    real.chmod(0o640)
    (root / PAGE).symlink_to(real)
    write_files(root, [FileEdit(PAGE, BEFORE, AFTER)], "linked")
    assert (root / PAGE).is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (AFTER, 0o640)


def test_file_and_a_link_to_it_are_not_both_written(root: Path) -> None:
    (root / OTHER).unlink()
    (root / OTHER).symlink_to(root / PAGE)
    outcome = write_files(root, edits_of_both(), "twice")
    assert (outcome.paths, list(outcome.failed)) == ((PAGE,), [OTHER])
    assert (root / PAGE).read_bytes() == AFTER


def test_link_to_a_file_outside_the_base_is_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.md"
    outside.write_bytes(BEFORE)
    (root / PAGE).unlink()
    (root / PAGE).symlink_to(outside)
    outcome = write_files(root, [FileEdit(PAGE, BEFORE, AFTER)], "out")
    assert "outside" in str(outcome.failed[PAGE])
    assert outside.read_bytes() == BEFORE


@pytest.mark.parametrize("path", ["../x.md", "memory/../../x.md", "/tmp/x.md", "memory/x.txt"])
def test_only_markdown_files_within_the_base_are_written(root: Path, path: str) -> None:
    outcome = write_files(root, [FileEdit(path, None, b"x")], "out")
    assert list(outcome.failed) == [path]
    assert not (root / path).exists()


@pytest.mark.parametrize("failing_call", range(1, 4))
def test_full_disk_leaves_all_files_unchanged(
    root: Path, monkeypatch: pytest.MonkeyPatch, failing_call: int
) -> None:
    calls = 0
    flush_to_disk = os.fsync

    def fsync_on_full_disk(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls == failing_call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush_to_disk(handle)

    monkeypatch.setattr(os, "fsync", fsync_on_full_disk)
    outcome = write_files(root, edits_of_both(), "two pages")
    monkeypatch.undo()
    if failing_call == 2:  # syncing the journal folder, which some file systems cannot do
        assert outcome.failed == {}
        return
    assert {path: str(fault) for path, fault in outcome.failed.items()} == {
        path: f"{path} was not written (No space left on device); it is unchanged"
        for path in (PAGE, OTHER)
    }
    assert contents(root) == [BEFORE, BEFORE]
    assert temporary_files(root) == []
    assert not (root / journal.PENDING).exists()
    assert len(write_files(root, edits_of_both(), "again").paths) == 2


def test_files_of_one_group_are_written_all_or_none(root: Path) -> None:
    third = "memory/people/cy.md"
    (root / third).write_bytes(BEFORE)
    grouped = [replace(edit, group="g") for edit in edits_of_both()]
    (root / PAGE).write_bytes(b"edited meanwhile")
    outcome = write_files(root, [*grouped, FileEdit(third, BEFORE, AFTER)], "three")
    assert outcome.paths == (third,)
    assert set(outcome.failed) == {PAGE, OTHER}
    assert f"because {PAGE} was not" in str(outcome.failed[OTHER])
    assert (root / OTHER).read_bytes() == BEFORE


@pytest.mark.parametrize("all_or_nothing", [True, False])
def test_group_that_fails_midway_is_rolled_back(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, all_or_nothing: bool
) -> None:
    replace_target = StagedChange.replace_target

    def fail_on_the_second_file(staged: StagedChange) -> None:
        if staged.path == OTHER:
            raise WriteFault("the disk is gone")
        replace_target(staged)

    monkeypatch.setattr(StagedChange, "replace_target", fail_on_the_second_file)
    if all_or_nothing:
        with pytest.raises(WriteFault, match="the disk is gone"):
            write_files(root, edits_of_both(), "two", all_or_nothing=True)
    else:
        grouped = [replace(edit, group="g") for edit in edits_of_both()]
        assert write_files(root, grouped, "two").entry is None
    assert contents(root) == [BEFORE, BEFORE]
    assert temporary_files(root) == []
    assert journal.entries(root) == ()


def test_one_undo_reverts_a_write_of_several_files(root: Path) -> None:
    outcome = write_files(root, edits_of_both(), "two pages")
    assert (outcome.paths, outcome.failed) == ((PAGE, OTHER), {})
    assert (root / PAGE).read_bytes() == AFTER
    assert undo(root).description == "two pages"
    assert contents(root) == [BEFORE, BEFORE]
    with pytest.raises(WriteFault, match="nothing to undo"):
        undo(root)


def test_writes_can_be_undone_in_any_order_that_fits(root: Path) -> None:
    write_files(root, [FileEdit(PAGE, BEFORE, AFTER)], "first")
    write_files(root, [FileEdit(OTHER, BEFORE, AFTER)], "second")
    write_files(root, [FileEdit(PAGE, AFTER, AFTER + b"- three\r\n")], "third")
    assert undo(root, 2).description == "second"
    with pytest.raises(FileChanged, match=r"by hand: take out “- two”$"):
        undo(root, 1)
    with pytest.raises(WriteFault, match="already undone"):
        undo(root, 2)
    assert [undo(root).description, undo(root).description] == ["third", "first"]
    assert (root / PAGE).read_bytes() == BEFORE


def test_undo_is_refused_after_a_later_edit(root: Path) -> None:
    write_files(root, edits_of_both(), "two pages")
    (root / PAGE).write_bytes(AFTER + b"- more\r\n")
    with pytest.raises(FileChanged, match="edited since write 1"):
        undo(root)
    assert (root / OTHER).read_bytes() == AFTER


def test_a_refused_undo_quotes_one_line_and_hands_over_the_rest(root: Path) -> None:
    page = b"# New\n\n- \x1b[31m" + b"x" * 300 + b"\n"
    write_files(
        root, [FileEdit(PAGE, BEFORE, AFTER.replace(b"- two\r\n", b"- 2\r\n- 3\r\n"))], "edit"
    )
    write_files(root, [FileEdit("memory/teams/new.md", None, page)], "new")
    (root / PAGE).write_bytes(BEFORE)
    (root / "memory/teams/new.md").write_bytes(page + b"more\n")
    with pytest.raises(FileChanged, match=r"take out “# New” and the 2 lines after it$") as refused:
        undo(root, 2)
    assert (refused.value.expected, refused.value.replaced) == (page.decode(), "")
    with pytest.raises(FileChanged, match=r"take out “- 2” and the 1 line after it$"):
        undo(root, 1)


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"number":"2","at":5,"told":7,"changes":[]}', "[" * 100_000],
    ids=["truncated", "a-list", "wrong-types", "deeply-nested"],
)
def test_unreadable_last_write_is_reported_and_no_older_one_undone(root: Path, text: str) -> None:
    write_files(root, [FileEdit(PAGE, BEFORE, AFTER)], "first")
    write_files(root, [FileEdit(OTHER, BEFORE, AFTER)], "second")
    (root / journal.FOLDER / "000002.json").write_text(text)
    for number in (None, 2):
        with pytest.raises(WriteFault, match=r"000002\.json cannot be read"):
            undo(root, number)
    assert (root / PAGE).read_bytes() == AFTER
    assert undo(root, 1).description == "first"


def test_journal_files_keep_their_format(root: Path) -> None:
    write_files(root, [FileEdit(PAGE, BEFORE, AFTER)], "first")
    stored = json.loads((root / journal.FOLDER / "000001.json").read_bytes())
    assert list(stored) == ["number", "at", "told", "changes", "undoes", "digest"]
    assert (stored["number"], stored["told"], stored["undoes"]) == (1, "first", None)
    (change,) = stored["changes"]
    assert list(change) == ["path", "start", "removed", "inserted", "before", "after"]
    assert (change["start"], change["removed"]) == (len(BEFORE), "")
    assert change["inserted"] == "LSB0d28NCg=="

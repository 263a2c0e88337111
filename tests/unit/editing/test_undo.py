"""Undo restores the exact bytes, or refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbx_tui.editing import journal
from kbx_tui.editing.file_edits import FileEdit, undo, write_files
from kbx_tui.errors import FileChanged, WriteFault
from tests.unit.editing.two_pages import AFTER, BEFORE, OTHER, PAGE, contents, edits_of_both


def test_one_undo_reverts_a_write_of_several_files(root: Path) -> None:
    outcome = write_files(root, edits_of_both(), "two pages")
    assert (outcome.paths, outcome.failed) == ((PAGE, OTHER), {})
    assert (root / PAGE).read_bytes() == AFTER
    assert undo(root).description == "two pages"
    assert contents(root) == [BEFORE, BEFORE]
    with pytest.raises(WriteFault, match="nothing to undo"):
        undo(root)


def test_undo_removes_a_page_that_the_write_created(root: Path) -> None:
    write_files(root, [FileEdit("memory/teams/new.md", None, b"# New\n")], "new")
    assert (root / "memory/teams/new.md").read_bytes() == b"# New\n"
    undo(root)
    assert not (root / "memory/teams/new.md").exists()


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

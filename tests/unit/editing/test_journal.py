"""A write whose process died is finished by the next process."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from kbx_tui.editing import journal
from kbx_tui.editing.file_edits import FileEdit, undo, write_files
from kbx_tui.editing.journal import (
    FOLDER,
    PENDING,
    JournalEntry,
    StagedChange,
    begin,
    finish_interrupted,
    smallest_change,
)
from kbx_tui.errors import RecordDamaged, WriteFault
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


RECORD = FOLDER / "000001.json"
NEW = "memory/people/eve.md"
LATIN = "# Café\r\n\r\n- déjà vu\r\n".encode("latin-1")

Contents = Mapping[str, bytes | None]

WRITES: dict[str, tuple[Contents, Contents]] = {
    "add": ({PAGE: BEFORE}, {PAGE: AFTER}),
    "edit": ({PAGE: AFTER}, {PAGE: AFTER.replace(b"one", b"other")}),
    "delete": ({PAGE: BEFORE, OTHER: BEFORE}, {PAGE: None}),
    "create": ({PAGE: None, OTHER: BEFORE}, {PAGE: BEFORE}),
    "rename": ({PAGE: AFTER, NEW: None}, {PAGE: None, NEW: AFTER}),
    "two alike": ({PAGE: BEFORE, OTHER: BEFORE, NEW: BEFORE}, {PAGE: AFTER, OTHER: AFTER}),
    "not UTF-8": ({PAGE: LATIN}, {PAGE: LATIN + b"- \xff\xfe\r\n"}),
}


def lay_out(root: Path, contents: Contents) -> None:
    for path, data in contents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).unlink(missing_ok=True)
        if data is not None:
            (root / path).write_bytes(data)


def pages(root: Path) -> Contents:
    found = {path: root / path for path in (PAGE, OTHER, NEW)}
    return {path: file.read_bytes() if file.exists() else None for path, file in found.items()}


def write(root: Path, before: Contents, after: Contents) -> tuple[Contents, Contents, bytes]:
    """Make a write and return all pages before and after, and the record."""
    lay_out(root, before)
    whole = pages(root)
    edits = [FileEdit(path, before.get(path), data) for path, data in after.items()]
    write_files(root, edits, "a write – of pages")
    return whole, pages(root), (root / RECORD).read_bytes()


def damaged(record: bytes, step: int) -> Iterator[bytes]:
    """Yield the record with one bit flipped, one byte lost, and cut off, at every `step` bytes."""
    for index in range(0, len(record), step):
        flipped = record[index] ^ (1 << (index // step % 8))
        yield record[:index] + bytes([flipped]) + record[index + 1 :]
        yield record[:index] + record[index + 1 :]
        yield record[:index]


def without_digest(record: bytes) -> bytes:
    """Return the record as older versions wrote it."""
    stored = json.loads(record)
    del stored["digest"]
    return json.dumps(stored, ensure_ascii=False, indent=1).encode()


@pytest.mark.parametrize(
    ("name", "form"),
    [
        *((name, bytes) for name in WRITES),
        # Nothing in an older record shows that a path is not that of the deleted page.
        *((name, without_digest) for name in WRITES if name not in ("delete", "rename")),
    ],
)
def test_undo_by_a_damaged_record_restores_the_exact_bytes_or_refuses(
    tmp_path: Path, name: str, form: Callable[[bytes], bytes]
) -> None:
    before, after, record = write(tmp_path, *WRITES[name])
    undone = refused = 0
    for data in damaged(form(record), step=13):
        for file in (tmp_path / FOLDER).iterdir():
            file.unlink()
        (tmp_path / RECORD).write_bytes(data)
        try:
            undo(tmp_path)
        except WriteFault:
            refused += 1
            assert pages(tmp_path) == after
        else:
            undone += 1
            assert pages(tmp_path) == before
            lay_out(tmp_path, after)
    assert refused > undone


@pytest.mark.parametrize("name", WRITES)
def test_recovery_by_a_damaged_record_finishes_the_write_or_sets_it_aside(
    tmp_path: Path, name: str
) -> None:
    before, after, record = write(tmp_path, *WRITES[name])
    said: list[str] = []
    for data in damaged(record, step=13):
        lay_out(tmp_path, before)
        for file in (tmp_path / FOLDER).iterdir():
            file.unlink()
        (tmp_path / PENDING).write_bytes(data)
        said.clear()
        finish_interrupted(tmp_path, said.append)
        assert not (tmp_path / PENDING).exists()
        if said:
            assert pages(tmp_path) == before
            (kept,) = (tmp_path / FOLDER).iterdir()
            assert kept.read_bytes() == data
            assert kept.suffix == ".unreadable"
            assert str(kept) in said[0]
        else:
            assert pages(tmp_path) == after


@pytest.mark.parametrize("name", WRITES)
def test_recovery_by_a_damaged_older_record_writes_no_wrong_bytes(
    tmp_path: Path, name: str
) -> None:
    before, after, record = write(tmp_path, *WRITES[name])
    for data in damaged(without_digest(record), step=13):
        lay_out(tmp_path, before)
        (tmp_path / PENDING).write_bytes(data)
        finish_interrupted(tmp_path)
        assert not (tmp_path / PENDING).exists()
        for path, found in pages(tmp_path).items():
            assert found in (before[path], after[path])


def test_undo_by_an_undamaged_record_of_an_older_version(tmp_path: Path) -> None:
    before, _, record = write(tmp_path, *WRITES["two alike"])
    (tmp_path / RECORD).write_bytes(without_digest(record))
    undo(tmp_path)
    assert pages(tmp_path) == before


def test_refusal_has_both_versions(tmp_path: Path) -> None:
    _, _, record = write(tmp_path, *WRITES["add"])
    (tmp_path / RECORD).write_bytes(record.replace(b"a write", b"A write"))
    with pytest.raises(
        RecordDamaged, match=r"000001\.json is damaged and may not restore"
    ) as error:
        undo(tmp_path)
    assert error.value.path == PAGE
    assert error.value.current == AFTER.decode().replace("\r\n", "\n")
    assert error.value.restored == BEFORE.decode().replace("\r\n", "\n")


def test_record_of_another_write_is_not_undone(tmp_path: Path) -> None:
    _, after, record = write(tmp_path, *WRITES["add"])
    (tmp_path / FOLDER / "000007.json").write_bytes(record)
    with pytest.raises(WriteFault, match=r"000007\.json cannot be read"):
        undo(tmp_path)
    assert pages(tmp_path) == after


def test_pending_record_of_a_path_outside_the_base_is_set_aside(tmp_path: Path) -> None:
    root = tmp_path / "base"
    _, after, record = write(root, *WRITES["add"])
    (tmp_path / "victim.md").write_bytes(BEFORE)
    stored = json.loads(without_digest(record))
    stored["changes"][0]["path"] = "../victim.md"
    (root / PENDING).write_text(json.dumps(stored))
    said: list[str] = []
    assert finish_interrupted(root, said.append) == ()
    assert len(said) == 1
    assert (tmp_path / "victim.md").read_bytes() == BEFORE
    assert pages(root) == after


@pytest.mark.parametrize("number", ["9" * 250, "9" * 18, "\u0669" * 9])
def test_a_record_whose_number_no_write_has_is_none(tmp_path: Path, number: str) -> None:
    lay_out(tmp_path, {PAGE: BEFORE, f"{FOLDER.as_posix()}/{number}.json": b"{}"})
    entry = write_files(tmp_path, [FileEdit(PAGE, BEFORE, AFTER)], "a").entry
    assert entry is not None
    assert (entry.number, undo(tmp_path).number) == (1, 1)
    assert (tmp_path / PAGE).read_bytes() == BEFORE


def test_after_the_last_number_nothing_is_written(tmp_path: Path) -> None:
    lay_out(tmp_path, {PAGE: BEFORE, f"{FOLDER.as_posix()}/{'9' * 17}.json": b"{}"})
    with pytest.raises(WriteFault, match="move it away"):
        write_files(tmp_path, [FileEdit(PAGE, BEFORE, AFTER)], "a")
    assert (tmp_path / PAGE).read_bytes() == BEFORE


@pytest.mark.parametrize("number", [10**250, 10**17, 0, -5])
def test_a_pending_record_whose_number_no_write_has_is_set_aside(
    tmp_path: Path, number: int
) -> None:
    lay_out(tmp_path, {PAGE: BEFORE})
    begin(tmp_path, JournalEntry(1, "", "a", (smallest_change(PAGE, BEFORE, AFTER),)))
    stored = json.loads(without_digest((tmp_path / PENDING).read_bytes()))
    (tmp_path / PENDING).write_text(json.dumps(stored | {"number": number}))
    said: list[str] = []
    assert finish_interrupted(tmp_path, said.append) == ()
    assert "not finished" in said[0]
    assert (tmp_path / PAGE).read_bytes() == BEFORE


ELSEWHERE = [
    "memory/../.git/hooks/new.md",
    ".claude/commands/new.md",
    "linked/commands/new.md",
    f"{'d/' * 1_500}new.md",
]


@pytest.mark.parametrize("path", ELSEWHERE)
def test_a_record_from_elsewhere_writes_only_pages(tmp_path: Path, path: str) -> None:
    lay_out(tmp_path, {PAGE: BEFORE})
    (tmp_path / "linked").symlink_to(".claude")
    entry = JournalEntry(1, "2026-01-01 00:00:00", "a", (smallest_change(path, None, b"new"),))
    begin(tmp_path, entry)
    assert finish_interrupted(tmp_path) == ()
    assert [file.name for file in tmp_path.rglob("*.md")] == ["ada.md"]
    assert write_files(tmp_path, [FileEdit(PAGE, BEFORE, AFTER)], "b").paths == (PAGE,)


@pytest.mark.parametrize("before", [None, BEFORE])
def test_no_page_in_a_hidden_folder_is_written_through_a_link(
    tmp_path: Path, before: bytes | None
) -> None:
    lay_out(tmp_path, {PAGE: BEFORE, ".claude/command.md": BEFORE})
    (tmp_path / "linked").symlink_to(".claude")
    path = "linked/command.md" if before else "linked/new.md"
    outcome = write_files(tmp_path, [FileEdit(path, before, AFTER)], "a")
    assert "or is in a hidden folder" in str(outcome.failed[path])
    assert (tmp_path / ".claude" / "command.md").read_bytes() == BEFORE
    assert not (tmp_path / ".claude" / "new.md").exists()


def test_nothing_is_written_through_a_link_in_place_of_a_temporary_file(tmp_path: Path) -> None:
    lay_out(tmp_path, {PAGE: BEFORE})
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / PAGE).with_name(".ada.md.kbx-edit").symlink_to(victim)
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / ".begun.json.tmp").symlink_to(victim)
    write_files(tmp_path, [FileEdit(PAGE, BEFORE, AFTER)], "first")
    assert (tmp_path / PAGE).read_bytes() == AFTER
    assert victim.read_bytes() == b"mine"

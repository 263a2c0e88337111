"""Files that differ from the index are counted by content, and read only when that is needed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbx_tui.api import KnowledgeBase
from kbx_tui.index.build import file_changes
from kbx_tui.index.build.file_changes import FILE, FileHashes
from kbx_tui.knowledge.vault import read_page

FILES = 20


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeBase]:
    """An indexed base; ticks of the clock are small, so that its new files are remembered."""
    monkeypatch.setattr(file_changes, "TICK_NS", -1)
    for number in range(FILES):
        page = tmp_path / f"memory/{number}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"# Note {number}\n\nbody {number:03}\n", encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
        yield kb


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files read from now on."""
    paths: list[str] = []

    def record(file: Path) -> bytes:
        paths.append(file.name)
        return read_page(file)

    monkeypatch.setattr(file_changes, "read_page", record)
    return paths


def page(base: KnowledgeBase, number: int) -> Path:
    return base.root / f"memory/{number}.md"


def test_unchanged_files_are_not_read(base: KnowledgeBase, read: list[str]) -> None:
    assert base.count_newer_files() == 0
    assert read == []


def test_one_stat_per_file(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    stats: list[str] = []
    stat = os.stat

    def record(path: Any, *rest: Any, **options: Any) -> os.stat_result:
        if str(path).endswith(".md"):
            stats.append(str(path))
        return stat(path, *rest, **options)

    monkeypatch.setattr(os, "stat", record)
    assert base.count_newer_files() == 0
    assert len(stats) == FILES


def test_touched_file_is_read_once_and_not_reported(base: KnowledgeBase, read: list[str]) -> None:
    os.utime(page(base, 3), (4e9, 4e9))  # a time in the future
    assert base.count_newer_files() == 0
    assert read == ["3.md"]
    assert base.count_newer_files() == 0
    assert read == ["3.md"]


def test_changed_file_is_read_once_and_reported_until_it_is_indexed(
    base: KnowledgeBase, read: list[str]
) -> None:
    page(base, 3).write_text("# Another\n", encoding="utf-8")
    assert [base.count_newer_files() for _ in range(3)] == [1, 1, 1]
    assert read == ["3.md"]
    base.index(fast=True)
    assert base.count_newer_files() == 0


def test_rewrite_of_the_same_size_and_time_is_noticed(base: KnowledgeBase) -> None:
    before = page(base, 3).stat()
    while time.time_ns() <= before.st_ctime_ns + 50_000_000:
        pass  # the next tick of the file system's clock
    page(base, 3).write_text("# Note 3\n\nbody 004\n", encoding="utf-8")
    os.utime(page(base, 3), ns=(before.st_atime_ns, before.st_mtime_ns))
    after = page(base, 3).stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert base.count_newer_files() == 1


def test_old_file_moved_into_the_base_is_reported(base: KnowledgeBase) -> None:
    moved = base.root / "moved.md"
    moved.write_text("# Moved\n", encoding="utf-8")
    os.utime(moved, (1.0, 1.0))
    moved.rename(page(base, FILES))
    assert base.count_newer_files() == 1
    page(base, 0).unlink()
    assert base.count_newer_files() == 2


@pytest.mark.parametrize("content", [None, b"", b"garbage", b'0\n{"memory/3.md": [[1, 2], "x"]}'])
def test_without_what_was_remembered_all_files_are_read_once(
    base: KnowledgeBase, read: list[str], content: bytes | None
) -> None:
    file = base.root / FILE
    file.unlink() if content is None else file.write_bytes(content)
    assert base.count_newer_files() == 0
    assert len(read) == FILES
    assert base.count_newer_files() == 0
    assert len(read) == FILES


def test_flipped_byte_in_what_was_remembered_reports_no_file(base: KnowledgeBase) -> None:
    file = base.root / FILE
    data = bytearray(file.read_bytes())
    data[-10] ^= 1  # in a hash
    file.write_bytes(data)
    assert base.count_newer_files() == 0


def test_file_that_has_just_changed_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its next change could have the same time."""
    monkeypatch.setattr(file_changes, "TICK_NS", 10**15)
    monkeypatch.setattr(file_changes, "COARSE_TICK_NS", 10**15)
    file = tmp_path / "a.md"
    file.write_bytes(b"one")
    (tmp_path / ".kbx").mkdir()
    known = FileHashes(tmp_path)
    first = known.hash_of("a.md", file)
    known.save(["a.md"])
    file.write_bytes(b"two")
    assert FileHashes(tmp_path).hash_of("a.md", file) != first


def test_counting_works_without_a_place_to_remember(base: KnowledgeBase) -> None:
    (base.root / FILE).unlink()
    (base.root / FILE).mkdir()
    assert base.count_newer_files() == 0
    page(base, 1).write_text("# Another\n", encoding="utf-8")
    assert base.count_newer_files() == 1

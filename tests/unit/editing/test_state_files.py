import os
import resource
import signal
from pathlib import Path

import pytest

from kbx_tui.editing.state_files import append_lines, unreadable_state_files


def test_lines_are_added_whole(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    assert append_lines(file, [b"one", b"two"]) == 0
    assert append_lines(file, [b"three"], synced=True) == 8
    assert file.read_bytes() == b"one\ntwo\nthree\n"


def test_a_cut_off_line_is_ended_first(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"one\ntw")
    append_lines(file, [b"three"])
    assert file.read_bytes() == b"one\ntw\nthree\n"


def test_a_line_of_a_log_ends_at_a_line_feed_alone(tmp_path: Path) -> None:
    file = tmp_path / ".kbx" / "kept.jsonl"
    file.parent.mkdir()
    file.write_text('{"query": "a\u2028b\x85c"}\n{"query": "d"}\n', encoding="utf-8")
    assert [path for path, _ in unreadable_state_files(tmp_path)] == []


def test_what_is_not_a_regular_file_is_set_aside(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.symlink_to(tmp_path / "elsewhere")
    append_lines(file, [b"one"], synced=True)
    assert file.read_bytes() == b"one\n"
    assert not (tmp_path / "elsewhere").exists()
    (kept,) = tmp_path.glob("*.unreadable")
    assert kept.is_symlink()


def test_lines_are_not_added_to_a_page_of_which_the_file_is_another_name(tmp_path: Path) -> None:
    page, file = tmp_path / "page.md", tmp_path / "lines.jsonl"
    page.write_bytes(b"# Page\n")
    file.hardlink_to(page)
    append_lines(file, [b"one"])
    assert (page.read_bytes(), file.read_bytes()) == (b"# Page\n", b"# Page\none\n")


@pytest.mark.parametrize("name", ["drafts.jsonl", "journal/000001.json"])
def test_a_file_without_end_is_named_and_not_read(tmp_path: Path, name: str) -> None:
    file = tmp_path / ".kbx" / name
    file.parent.mkdir(parents=True)
    with file.open("wb") as stream:
        stream.truncate(1 << 40)
    ((path, reason),) = unreadable_state_files(tmp_path)
    assert (path, "larger than" in reason) == (f".kbx/{name}", True)


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
def test_a_write_for_which_there_is_no_space_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    append_lines(file, [b"one"])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError):
            append_lines(file, [b"x" * 500])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert file.read_bytes() == b"one\n"

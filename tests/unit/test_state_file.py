"""State files are read without blocking, and only if they are regular files with valid content."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from kbx_tui.state_file import (
    UnusableFile,
    decode_json,
    read_regular_file,
    remove_leaked,
    set_aside,
)
from tests.damage import DAMAGES, time_limit


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "state.json"
    file.write_bytes(b'{"a": 1}')
    return file


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
@pytest.mark.parametrize("follow_links", [False, True])
@pytest.mark.parametrize("name", ["a folder", "a pipe", "a socket", "a device", "too large"])
def test_only_regular_files_of_a_usual_size_are_read(
    file: Path, name: str, *, follow_links: bool
) -> None:
    DAMAGES[name](file)
    with time_limit(5), pytest.raises(UnusableFile):
        read_regular_file(file, follow_links=follow_links)


def test_links_are_followed_only_on_request_and_the_size_limit_is_inclusive(file: Path) -> None:
    assert read_regular_file(file, limit=8) == b'{"a": 1}'
    with pytest.raises(UnusableFile, match="larger than 7 bytes"):
        read_regular_file(file, limit=7)
    DAMAGES["a link"](file)
    assert read_regular_file(file, follow_links=True) == b"not ours"
    with pytest.raises(UnusableFile, match="a symbolic link, not a regular file"):
        read_regular_file(file)


def test_missing_file_is_not_unusable(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular_file(tmp_path / "none.json")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"\xff",
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 2}}',
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": 1} {}',
        b"[1]",
        b'{"a":' * 100_000,
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_every_kind_of_invalid_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_json(data, dict[str, Any])


def test_files_set_aside_never_replace_each_other(file: Path) -> None:
    kept = []
    for content in (b"one", b"two", b"three"):
        file.write_bytes(content)
        kept.append(set_aside(file))
    assert not file.exists()
    assert [path.read_bytes() for path in kept] == [b"one", b"two", b"three"]
    assert all(re.fullmatch(r"state\.[\d-]+\.unreadable", path.name) for path in kept)


def test_only_old_temporary_files_of_the_given_name_are_removed(tmp_path: Path) -> None:
    old, new, other = (f"words.bin.{digit * 32}" for digit in "abc")
    names = (old, new, "words.bin", "mine.bin.0af3")
    for name in names:
        (tmp_path / name).write_bytes(b"")
        if name != new:
            os.utime(tmp_path / name, (1.0, 1.0))
    (tmp_path / other).symlink_to(tmp_path / "words.bin")
    remove_leaked(tmp_path, re.compile(r"words\.bin\.[0-9a-f]{32}"))
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["mine.bin.0af3", "words.bin", new, other]

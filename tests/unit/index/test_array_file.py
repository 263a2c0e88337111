"""Arrays are written at once, in pieces or in any order, and read as if at once."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbx_tui.index.array_file import ArrayWriter, VerifiedFiles, map_arrays

TAG = "kbx arrays 1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "arrays.bin"


def arrays_in(file: Path) -> dict[str, Any]:
    arrays = map_arrays(file.parent, file.name, TAG)
    assert arrays is not None
    return {name: array.tolist() for name, array in arrays.items()}


def test_arrays_of_any_shape_come_back_as_they_went_in(file: Path) -> None:
    pieces = [np.array([1, 2], np.uint8), np.zeros(0, np.uint8), np.array([3], np.uint8)]
    with file.open("w+b") as out:
        writer = ArrayWriter(out, TAG)
        writer.add("first", np.arange(6, dtype=np.int32).reshape(3, 2))
        writer.append("second", iter(pieces))
        writer.add("third", np.zeros((0, 4), np.int8))
        writer.add("fourth", np.array([b"ab", b"c"]))
        writer.finish()
    assert arrays_in(file) == {
        "first": [[0, 1], [2, 3], [4, 5]],
        "second": [1, 2, 3],
        "third": [],
        "fourth": [b"ab", b"c"],
    }


def test_an_array_written_through_a_mapping_in_any_order(file: Path) -> None:
    with file.open("w+b") as out:
        writer = ArrayWriter(out, TAG)
        mapped = writer.map("first", np.int32, (3000, 1))
        nothing = writer.map("second", np.int32, (0, 5))
        writer.add("third", np.array([9]))
        assert nothing.shape == (0, 5)
        for number in reversed(range(1, 3000)):
            mapped[number] = number
        writer.finish()
    expected = {"first": [[number] for number in range(3000)], "second": [], "third": [9]}
    assert arrays_in(file) == expected


def test_a_file_of_another_format_has_no_arrays(file: Path) -> None:
    with file.open("w+b") as out:
        ArrayWriter(out, "kbx arrays 2").finish()
    assert map_arrays(file.parent, file.name, TAG) is None
    assert map_arrays(file.parent, "missing.bin", TAG) is None


def test_room_for_a_mapping_is_taken_before_it_is_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", no_space, raising=False)
    with file.open("w+b") as out, pytest.raises(OSError, match="No space left"):
        ArrayWriter(out, TAG).map("first", np.int32, (3,))


def test_where_room_cannot_be_taken_zeros_are_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("os.posix_fallocate", raising=False)
    with file.open("w+b") as out:
        ArrayWriter(out, TAG).map("first", np.int8, (3_000_000,))
    assert file.stat().st_size > 3_000_000


def test_a_small_file_may_be_cut_off_while_it_is_read(file: Path) -> None:
    with file.open("w+b") as out:
        writer = ArrayWriter(out, TAG)
        writer.add("first", np.arange(100_000))
        writer.finish()
    arrays = map_arrays(file.parent, file.name, TAG)
    assert arrays is not None
    if (child := os.fork()) == 0:  # which SIGBUS would end
        os.truncate(file, 0)
        os._exit(arrays["first"].tolist() != list(range(100_000)))
    assert os.waitpid(child, 0)[1] == 0


def test_a_file_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    verified, long_ago = VerifiedFiles(tmp_path), (1, 2, 3, 0)
    for name in ("new", "old"):
        verified.add(name, long_ago, digest=7)
    (tmp_path / "new").touch()
    verified.keep()
    assert verified.digests().keys() == {"new"}

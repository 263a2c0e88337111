"""Arrays are written in pieces, several at once or in any order, and read as if at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbx_tui.index.array_file import ArrayWriter, map_arrays

NAMES = {name: f"stored {name}" for name in ("first", "second", "third")}
TAG = "kbx arrays 1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "arrays.bin"


def arrays_in(file: Path) -> dict[str, list[int]]:
    arrays = map_arrays(file.parent, file.name, TAG)
    return {name: array.tolist() for name, array in arrays.items()}


def test_arrays_written_at_the_same_time(file: Path) -> None:
    with file.open("w+b") as out:
        writer = ArrayWriter(out, TAG, NAMES)
        first, second = writer.begin("first", np.int32, 3), writer.begin("second", np.uint16, 2)
        second.append(np.array([7]))
        first.append(np.array([1, 2]))
        writer.add("third", np.zeros(0, np.int8))
        second.append(np.array([8]))
        first.append(np.array([3]))
        writer.finish()
    expected = {"stored first": [1, 2, 3], "stored second": [7, 8], "stored third": []}
    assert arrays_in(file) == expected


def test_an_array_whose_length_is_not_known_before(file: Path) -> None:
    with file.open("w+b") as out:
        writer = ArrayWriter(out, TAG, NAMES)
        first = writer.begin("first", np.int64)
        for number in range(20):
            first.append(np.array([number]))
        writer.add("second", np.array([5], np.int8))
        writer.finish()
    assert arrays_in(file) == {"stored first": [*range(20)], "stored second": [5]}


def test_an_array_written_through_a_mapping_in_any_order(file: Path) -> None:
    with file.open("w+b") as out:
        writer = ArrayWriter(out, TAG, NAMES)
        mapped, nothing = writer.map("first", np.int32, 3000), writer.map("second", np.int32, 0)
        writer.add("third", np.array([9]))
        assert len(nothing) == 0
        for number in reversed(range(1, 3000)):
            mapped[number] = number
        writer.finish()
    expected = {"stored first": [*range(3000)], "stored second": [], "stored third": [9]}
    assert arrays_in(file) == expected


@pytest.mark.parametrize("count", [1, 3])
def test_an_array_of_another_length_than_declared_is_refused(file: Path, count: int) -> None:
    with file.open("w+b") as out:
        writer = ArrayWriter(out, TAG, NAMES)
        writer.begin("first", np.int32, 2).append(np.arange(count))
        with pytest.raises(ValueError, match="of 8 bytes of an array were written"):
            writer.finish()


def test_room_for_a_mapping_is_taken_before_it_is_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", no_space, raising=False)
    with file.open("w+b") as out, pytest.raises(OSError, match="No space left"):
        ArrayWriter(out, TAG, NAMES).map("first", np.int32, 3)


def test_where_room_cannot_be_taken_zeros_are_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("os.posix_fallocate", raising=False)
    with file.open("w+b") as out:
        ArrayWriter(out, TAG, NAMES).map("first", np.int8, 3_000_000)
    assert file.stat().st_size > 3_000_000

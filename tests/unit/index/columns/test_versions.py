"""Versions of documents are found by row, however few or many differ."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.tables import text_hash
from kbx_tui.index.versions import (
    VersionColumn,
    are_among,
    count_differing,
    have_same_versions,
    rows_of_versions,
    version_array,
)

# Hashes, as real versions are: sums of shorter texts may be equal though the texts differ.
different = st.lists(st.sampled_from([text_hash(letter) for letter in "abcdefgh"]), unique=True)


@given(different, different)
def test_the_row_of_each_version_is_found(stored: list[str], current: list[str]) -> None:
    expected = [current.index(version) if version in current else -1 for version in stored]
    array = version_array(stored)
    assert rows_of_versions(array, version_array(current)).tolist() == expected


@given(different, st.randoms())
def test_the_same_versions_in_another_order_are_the_same(
    versions: list[str], random: object
) -> None:
    array = version_array(versions)
    assert have_same_versions(array, array[::-1])
    if versions:
        assert not have_same_versions(array, array[1:])
        other = array.copy()
        other[0] = b"z" * 32
        assert not have_same_versions(array, other)


def test_versions_are_texts() -> None:
    versions = VersionColumn(version_array(["a", "b"]))
    assert (list(versions), versions[1], versions[:1]) == (["a", "b"], "b", ("a",))


@given(different, different)
def test_versions_that_only_one_of_two_arrays_has_are_counted(
    some: list[str], others: list[str]
) -> None:
    first, second = version_array(some), version_array(others)
    assert count_differing(first, second) == len({*some} ^ {*others})
    assert are_among(first, second).tolist() == [each in others for each in some]

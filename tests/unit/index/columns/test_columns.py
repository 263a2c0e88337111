"""Columns of texts, and the versions of documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.arrays import Versions
from kbx_tui.index.tables import text_hash
from kbx_tui.index.text_columns import (
    BLOCK,
    CodedColumn,
    RowOfText,
    SortedTexts,
    TextArena,
    TextColumn,
    TextLists,
)
from kbx_tui.index.versions import are_among, count_differing, have_same_versions, rows_of_versions

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=9)


@given(texts, texts, st.integers(0, 99))
def test_a_column_equals_the_tuple_of_its_texts(
    older: list[str], newer: list[str], seed: int
) -> None:
    places = np.random.default_rng(seed).permutation(len(older) + len(newer))
    expected = tuple([*older, *newer][place] for place in places)
    column = TextColumn([TextArena.of(older), TextArena.of(newer)], places)
    assert tuple(column) == column[:] == expected
    assert tuple(column[row] for row in range(len(column))) == expected
    assert column[-2:] == expected[-2:]
    assert tuple(column.take(np.arange(len(expected))[::-1])) == expected[::-1]
    assert tuple(TextColumn.of(older)) == TextColumn.of(older)[:] == tuple(older)
    assert TextColumn.of(older)[1:3] == tuple(older[1:3])
    assert column.to_arrow().to_pylist() == list(expected)
    assert TextColumn.of(older).to_arrow().to_pylist() == older


@given(st.sets(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=12))
def test_a_text_of_a_sorted_column_is_found(present: set[str]) -> None:
    ordered = sorted(present)
    column = SortedTexts.of(ordered)
    row_of = RowOfText(column)
    for row, text in enumerate(ordered):
        assert column.index(text) == row_of[text] == row
        assert text in column
    assert column.find("missing") == -1
    assert row_of.get("missing") is None
    with pytest.raises(ValueError, match="missing"):
        column.index("missing")


def test_a_row_outside_a_column_is_an_error_and_surrogates_are_replaced() -> None:
    column = TextColumn.of(["a", "b"])
    assert column[-1] == "b"
    for row in (2, -3):
        with pytest.raises(IndexError, match="no row"):
            column[row]

    assert list(TextColumn.of(["a\udc80"])) == ["a?"]


@given(st.lists(texts, max_size=5))
def test_lists_of_texts_come_back_as_they_went_in(rows: list[list[str]]) -> None:
    expected = [tuple(text.replace("\0", "") for text in row) for row in rows]
    lists = TextLists(TextColumn.of(map(TextLists.joined, rows)))
    assert list(lists) == [lists[row] for row in range(len(rows))] == expected
    assert lists[1:] == tuple(expected[1:])


@given(texts, texts)
def test_a_coded_column_equals_the_tuple_of_its_texts(older: list[str], newer: list[str]) -> None:
    both = CodedColumn.concatenated([CodedColumn.of(older), CodedColumn.of(newer)])
    assert tuple(both) == both[:] == (*older, *newer)
    assert [both[row] for row in range(len(both))] == [*older, *newer]
    assert both.flags(str.isascii).tolist() == [text.isascii() for text in both]
    assert tuple(both.take(np.arange(len(older)))) == tuple(older)


@pytest.mark.parametrize(
    "texts",
    [
        [""] * 2_500, ["", "é"] * 1_250, ["ab"] * 2_500,
        [f"{'é' * (row > BLOCK)}{row}" for row in range(2 * BLOCK + 5)],
    ],
)  # fmt: skip
def test_many_texts_are_read_in_order_whatever_their_lengths(texts: list[str]) -> None:
    column = TextColumn.of(texts)
    assert list(column) == texts
    assert column[3:1_500] == tuple(texts[3:1_500])


# Hashes, as real versions are: sums of shorter texts may be equal though the texts differ.
def version_array(versions: list[str]) -> Versions:
    return np.array(versions, np.bytes_)


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


@given(different, different)
def test_versions_that_only_one_of_two_arrays_has_are_counted(
    some: list[str], others: list[str]
) -> None:
    first, second = version_array(some), version_array(others)
    assert count_differing(first, second) == len({*some} ^ {*others})
    assert are_among(first, second).tolist() == [each in others for each in some]

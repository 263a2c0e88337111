"""Columns of texts behave like tuples, whatever arrays they come from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.text_columns import (
    BLOCK,
    CodedColumn,
    RowOfText,
    SortedTexts,
    TextArena,
    TextColumn,
    TextLists,
)

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


def test_a_row_outside_a_column_is_an_error() -> None:
    column = TextColumn.of(["a", "b"])
    assert column[-1] == "b"
    for row in (2, -3):
        with pytest.raises(IndexError, match="no row"):
            column[row]


def test_texts_of_several_blocks_are_read_in_order() -> None:
    expected = [f"{'é' * (row > BLOCK)}{row}" for row in range(2 * BLOCK + 5)]
    assert list(TextColumn.of(expected)) == expected


def test_surrogates_are_replaced() -> None:
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


@pytest.mark.parametrize("texts", [[""] * 2_500, ["", "é"] * 1_250, ["ab"] * 2_500])
def test_many_texts_are_read_in_order_whatever_their_lengths(texts: list[str]) -> None:
    column = TextColumn.of(texts)
    assert list(column) == texts
    assert column[3:1_500] == tuple(texts[3:1_500])

"""Vectors are only taken from the table by which their rows were chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kbx_tui.index.vectors.vector_tables import TableChanged, gather


class ChangedStore:
    """A store whose table of vectors was written between two reads."""

    def __init__(self, hashes: Sequence[str]) -> None:
        self._hashes = hashes

    def read_batches(self, _: str, __: list[str], use: Callable[[Iterator[Any]], None]) -> None:
        for_all = np.arange(2.0 * len(self._hashes), dtype=np.float32)
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(for_all), 2)
        columns = [pa.array(self._hashes, pa.string()), vectors]
        table = pa.Table.from_arrays(columns, ["text_hash", "vector"])
        use(iter(table.to_batches(max_chunksize=2)))


@pytest.mark.parametrize("now", ["", "ab", "abcd", "acb"], ids=["empty", "cut", "longer", "moved"])
def test_rows_of_another_state_of_the_table_are_refused(now: str) -> None:
    before, found = pa.chunked_array([pa.array(list("abc"))]), np.zeros((3, 2), np.float32)
    wanted = [np.array([2, -1, 0])]
    gather(ChangedStore("abc"), before, wanted, [found])  # type: ignore[arg-type]
    assert found.tolist() == [[4.0, 5.0], [0.0, 0.0], [0.0, 1.0]]
    with pytest.raises(TableChanged):
        gather(ChangedStore(list(now)), before, wanted, [found])  # type: ignore[arg-type]

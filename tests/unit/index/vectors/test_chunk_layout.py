"""Vectors are only taken from the table by which their rows were chosen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kbx_tui.index.vectors.stored_vectors import TableChanged, gather


def batches_of(hashes: Sequence[str]) -> list[Any]:
    """Return a table of vectors of these texts."""
    for_all = np.arange(2.0 * len(hashes), dtype=np.float32)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(for_all), 2)
    columns = [pa.array(hashes, pa.string()), vectors]
    table = pa.Table.from_arrays(columns, ["text_hash", "vector"])
    return list(table.to_batches(max_chunksize=2))


@pytest.mark.parametrize("now", ["", "ab", "abcd", "acb"], ids=["empty", "cut", "longer", "moved"])
def test_rows_of_another_state_of_the_table_are_refused(now: str) -> None:
    before, found = pa.chunked_array([pa.array(list("abc"))]), np.zeros((3, 2), np.float32)
    wanted = [np.array([2, -1, 0])]
    gather(batches_of("abc"), before, wanted, [found])
    assert found.tolist() == [[4.0, 5.0], [0.0, 0.0], [0.0, 1.0]]
    with pytest.raises(TableChanged):
        gather(batches_of(list(now)), before, wanted, [found])

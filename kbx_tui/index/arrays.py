"""Types of the arrays in an index; shapes are documented where they are used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
"""Row numbers; of documents or entities in a snapshot unless stated otherwise."""
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
"""Texts in UTF-8, concatenated."""
Starts = NDArray[np.int64]
"""Where each text or part starts in another array; usually also where the last one ends."""
Hashes = NDArray[np.uint64]
Versions = NDArray[np.bytes_]
"""Versions of documents, or hashes of texts: 32 hex digits each."""
Matrix = NDArray[np.float32]
"""One vector per row."""
Vector = NDArray[np.float32]
Scores = NDArray[np.float64]


def ascending(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values; without indices, `np.unique` loads numpy.ma, which takes long."""
    return np.unique(values, return_index=True)[0]

"""Types of arrays that the index is made of; shapes are stated where they are used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
"""Numbers of rows, of documents or of entities in a snapshot where nothing else is said."""
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
"""Texts in UTF-8, one after the other."""
Starts = NDArray[np.int64]
"""Where each text, or each part, starts in another array, and mostly where the last one ends."""
Hashes = NDArray[np.uint64]
Versions = NDArray[np.bytes_]
"""Versions of documents, or hashes of texts: 32 hex digits each."""
Matrix = NDArray[np.float32]
"""A vector in each row."""
Vector = NDArray[np.float32]
Scores = NDArray[np.float64]

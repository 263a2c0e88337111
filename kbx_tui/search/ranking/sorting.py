"""The order of rows by several keys, ties by newer date, then path. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kbx_tui.search.evidence.evidence import Flags, Rows, Scores


def descending_order(rows: Rows, keys: Sequence[Scores | Flags], dates: Sequence[str]) -> Rows:
    """Return the order of `rows`, which must ascend, as indices into `rows`.

    `keys` have the shape of `rows`, the last one counts first; `dates` are those of all documents.
    """
    order = np.lexsort((rows, *(-key.astype(float) for key in keys)))
    tied = np.ones(max(len(rows) - 1, 0), dtype=np.bool_)
    for key in keys:
        tied &= key[order[1:]] == key[order[:-1]]
    return _newest_first(rows, order, tied, dates) if tied.any() else order


def _newest_first(rows: Rows, order: Rows, tied: Flags, dates: Sequence[str]) -> Rows:
    """Return `order` with runs of ties sorted by date; compares dates within ties only.

    `tied` flags positions that tie with the next one.
    """
    starts = np.flatnonzero(tied & ~np.concatenate(([False], tied[:-1])))
    ends = np.flatnonzero(tied & ~np.concatenate((tied[1:], [False]))) + 2
    for start, end in zip(starts, ends, strict=True):
        run = order[start:end].tolist()  # sorted by path, which a stable sort preserves
        order[start:end] = sorted(run, key=lambda index: dates[int(rows[index])], reverse=True)
    return order

"""Frecency: how frequently and how recently documents were opened (`hotness` in JSON and config).

    frecency = sigmoid(ln(1 + opens)) * 2^(-days / 7)

with the days since the document was last opened; 0 if it never was.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kbx_tui.search.evidence.evidence import Scores
from kbx_tui.search.usage_log import UsageLog
from kbx_tui.state_file import Notice, ignore

HALF_LIFE_DAYS = 7.0
DAY = 86_400.0


class OpenedDocuments:
    """The opened documents of one base, with their frecency."""

    def __init__(self, root: Path, notice: Notice = ignore) -> None:
        """`notice` receives one sentence about what cannot be read of the log."""
        self._log = UsageLog(root, notice)

    def add(self, path: str, *, now: float | None = None) -> None:
        """Log that a document was opened. Write errors are ignored."""
        self._log.add(path, round(time.time() if now is None else now, 3))

    def frecency(self, row_of: Mapping[str, int], *, now: float | None = None) -> Scores:
        """Return the frecency of every document by its row, 0..1."""
        frecency = np.zeros(len(row_of))
        moment = time.time() if now is None else now
        for path, (opens, last) in self._log.read().items():
            if path in row_of:
                days = max(0.0, moment - last) / DAY
                frequency = (1 + opens) / (2 + opens)  # sigmoid(ln(1 + opens))
                frecency[row_of[path]] = frequency * 2.0 ** (-days / HALF_LIFE_DAYS)
        return frecency

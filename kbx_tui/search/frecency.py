"""Frecency: how frequently and how recently documents were opened (`hotness` in JSON and config).

    frecency = sigmoid(ln(1 + opens)) * 2^(-days / 7)

with the days since the document was last opened; 0 if it never was. `.kbx/usage.jsonl` has one line
per opening.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from kbx_tui.editing.state.state_folder import state_folder
from kbx_tui.errors import WriteFault
from kbx_tui.search.evidence.evidence import Scores

USAGE_NAME = "usage.jsonl"
HALF_LIFE_DAYS = 7.0
DAY = 86_400.0


class OpenedDocuments:
    """The log of opened documents of one base."""

    def __init__(self, root: Path) -> None:
        self._root, self._file = root, root / ".kbx" / USAGE_NAME
        self._file_version: tuple[int, int] | None = None
        self._opens: dict[str, tuple[int, float]] = {}

    def add(self, path: str, *, now: float | None = None) -> None:
        """Log that a document was opened. Write errors are ignored."""
        line = json.dumps({"path": path, "at": round(time.time() if now is None else now, 3)})
        with suppress(OSError, WriteFault):
            state_folder(self._root)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    def frecency(self, row_of: Mapping[str, int], *, now: float | None = None) -> Scores:
        """Return the frecency of every document by its row, 0..1."""
        frecency = np.zeros(len(row_of))
        moment = time.time() if now is None else now
        for path, (opens, last) in self._read().items():
            if path in row_of:
                days = max(0.0, moment - last) / DAY
                frequency = (1 + opens) / (2 + opens)  # sigmoid(ln(1 + opens))
                frecency[row_of[path]] = frequency * 2.0 ** (-days / HALF_LIFE_DAYS)
        return frecency

    def _read(self) -> Mapping[str, tuple[int, float]]:
        """Return the number of openings and the last time, by path; rereads a changed file."""
        try:
            status = self._file.stat()
        except OSError:
            return {}
        version = (status.st_mtime_ns, status.st_size)
        if self._file_version != version:
            self._file_version, self._opens = version, {}
            with suppress(OSError), self._file.open(encoding="utf-8", errors="replace") as file:
                for line in file:
                    with suppress(ValueError, TypeError, KeyError):  # truncated, or edited
                        entry = json.loads(line)
                        path, moment = str(entry["path"]), float(entry["at"])
                        opens, last = self._opens.get(path, (0, 0.0))
                        self._opens[path] = (opens + 1, max(last, moment))
        return self._opens

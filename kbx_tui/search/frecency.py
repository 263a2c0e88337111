"""How hot documents are: opened often and lately. One line of `.kbx/usage.jsonl` per opening.

    hotness = sigmoid(ln(1 + opens)) * 2^(-days / 7)

with the days since the last opening; 0 for what was never opened.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from kbx_tui.errors import IndexFault
from kbx_tui.index.build.writer_lock import state_folder
from kbx_tui.search.evidence.evidence import Scores

USAGE_NAME = "usage.jsonl"
HALF_LIFE_DAYS = 7.0
DAY = 86_400.0


class Usage:
    """The openings of the documents of one base."""

    def __init__(self, root: Path) -> None:
        self._root, self._file = root, root / ".kbx" / USAGE_NAME
        self._read_at: tuple[int, int] | None = None
        self._opened: dict[str, tuple[int, float]] = {}

    def opened(self, path: str, *, now: float | None = None) -> None:
        """Note that a document was opened. Where that cannot be written, nothing is noted."""
        line = json.dumps({"path": path, "at": round(time.time() if now is None else now, 3)})
        with suppress(OSError, IndexFault):
            state_folder(self._root)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    def hotness(self, row_of: Mapping[str, int], *, now: float | None = None) -> Scores:
        """Return how hot each document is, by its row, 0..1."""
        hotness = np.zeros(len(row_of))
        moment = time.time() if now is None else now
        for path, (opens, last) in self._counts().items():
            if path in row_of:
                days = max(0.0, moment - last) / DAY
                often = (1 + opens) / (2 + opens)  # sigmoid(ln(1 + opens))
                hotness[row_of[path]] = often * 2.0 ** (-days / HALF_LIFE_DAYS)
        return hotness

    def _counts(self) -> Mapping[str, tuple[int, float]]:
        """Return openings and the last moment by path, read again when the file changed."""
        try:
            found = self._file.stat()
        except OSError:
            return {}
        if self._read_at != (found.st_mtime_ns, found.st_size):
            self._read_at, self._opened = (found.st_mtime_ns, found.st_size), {}
            for path, at in self._lines():
                opens, last = self._opened.get(path, (0, 0.0))
                self._opened[path] = (opens + 1, max(last, at))
        return self._opened

    def _lines(self) -> Iterator[tuple[str, float]]:
        with suppress(OSError), self._file.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                with suppress(ValueError, TypeError, KeyError):  # cut by a crash, or by hand
                    found = json.loads(line)
                    yield str(found["path"]), float(found["at"])

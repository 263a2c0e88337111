"""Frecency: how frequently and how recently documents were opened (`hotness` in JSON and config).

    frecency = sigmoid(ln(1 + opens)) * 2^(-days / 7)

where days are those since the document was last opened; 0 if it never was. Openings are logged in
`.kbx/usage.jsonl`, one line each. A long log is compacted to one line per document with the number
of openings and the time of the last, all that frecency needs. A lock prevents losing an opening
logged by another process meanwhile. Lines that cannot be read are kept as they are.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np

from kbx_tui.editing.state_files import Log, write_atomically
from kbx_tui.errors import WriteFault
from kbx_tui.search.evidence.scores import Scores
from kbx_tui.state_file import (
    Notice,
    ignore,
    invalid_lines,
    is_read_only,
    read_regular_file,
    unreadable,
)

HALF_LIFE_DAYS = 7.0
DAY = 86_400.0

COMPACTED_LINES = 2_000
"""The log is compacted when it has this many lines more than one per document."""
CHECKED_BYTES = 128 * 1024
MAX_OPENS = 10**12
"""Most openings in one line of the log: a line with more is damaged."""


class _Line(msgspec.Struct):
    path: str
    at: float
    """Time in seconds since 1970."""
    opens: int = 1


_DECODER = msgspec.json.Decoder(_Line)


class OpenedDocuments:
    def __init__(self, root: Path, notice: Notice = ignore) -> None:
        self._log = Log(root, "usage.jsonl", _Line, notice, brief=True)
        self._version: tuple[int, ...] | None = None
        self._opens: dict[str, tuple[int, float]] = {}

    def add(self, path: str, *, now: float | None = None) -> None:
        """Log that a document was opened. Write errors are ignored: losing one is harmless."""
        at = round(time.time() if now is None else now, 3)
        line = msgspec.json.encode({"path": path.encode("utf-8", "replace").decode(), "at": at})
        with suppress(OSError, WriteFault):
            with self._log.locked():
                size = self._log.append([line], synced=False)
            if size > CHECKED_BYTES:
                self.opens()

    def frecency(self, row_of: Mapping[str, int], *, now: float | None = None) -> Scores:
        frecency = np.zeros(len(row_of))
        moment = time.time() if now is None else now
        for path, (opens, last) in self.opens().items():
            if path in row_of:
                days = max(0.0, moment - last) / DAY
                frequency = (1 + opens) / (2 + opens)  # sigmoid(ln(1 + opens))
                frecency[row_of[path]] = frequency * 2.0 ** (-days / HALF_LIFE_DAYS)
        return frecency

    def opens(self) -> Mapping[str, tuple[int, float]]:
        """Return the number of openings and the last time, by path; rereads a changed log."""
        log, version = self._log, self._log.version()
        if version is None:
            return {}
        if self._version != version:
            self._version, self._opens = version, {}
            try:
                data = read_regular_file(log.file)
            except OSError as error:
                log.notice(unreadable(log.file, error))
                return self._opens
            self._opens, invalid = _count(data)
            if invalid:
                log.notice(invalid_lines(log.file, len(invalid)))
            is_long = data.count(b"\n") - len(self._opens) - len(invalid) > COMPACTED_LINES
            if is_long and not is_read_only(log.root):
                self._compact()
        return self._opens

    def _compact(self) -> None:
        with suppress(OSError, WriteFault), self._log.locked(seconds=0):
            opens, invalid = _count(read_regular_file(self._log.file))  # reread under the lock
            lines = [
                msgspec.json.encode({"path": path, "at": last, "opens": count})
                for path, (count, last) in opens.items()
            ]
            write_atomically(self._log.file, b"".join(line + b"\n" for line in (*lines, *invalid)))


def _count(data: bytes) -> tuple[dict[str, tuple[int, float]], list[bytes]]:
    opens: dict[str, tuple[int, float]] = {}
    invalid = []
    for text in data.split(b"\n"):
        try:
            line = _DECODER.decode(text)
            if not 0 < line.opens <= MAX_OPENS:
                raise ValueError("not a number of openings")
        except (msgspec.MsgspecError, ValueError, RecursionError):
            if text.strip():
                invalid.append(text)
            continue
        count, last = opens.get(line.path, (0, 0.0))
        opens[line.path] = (count + line.opens, max(last, line.at))
    return opens, invalid

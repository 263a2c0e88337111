"""The queries asked in the app, `.kbx/queries.jsonl`: one line per query, the newest last.

Each line has the settings that it was asked with, and what it found.

A query is appended as soon as it counts as asked, so a crash loses none. A long file is compacted
to the newest `LIMIT` queries, each once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from kbx_tui.editing.state.append_lines import append_lines
from kbx_tui.editing.state.state_folder import read_records, replace_state_file
from kbx_tui.editing.state.state_lock import state_lock
from kbx_tui.errors import WriteFault
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.state_file import Notice, ignore

FILE = Path(".kbx", "queries.jsonl")
LOCK_NAME = "queries.lock"
LOCK_SECONDS = 2.0
"""Longest wait for another process, which compacts the file."""
LIMIT = 1_000
"""Queries that are kept."""
COMPACTED_BYTES = 2 * 1024 * 1024
"""Size from which the file is compacted."""


@dataclass(frozen=True, slots=True)
class PastQuery:
    """A query, and when it was last asked."""

    query: str
    at: float = 0.0
    """Seconds since 1970; 0 if not known."""
    found: int | None = None
    """Number of results; None if not known."""
    first: tuple[str, ...] = ()
    """Paths of the first results, at most 3."""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Settings of the app that it was asked with, where they differ from the usual ones."""

    def __post_init__(self) -> None:
        """Raise ValueError for a blank query."""
        if not self.query.strip():
            raise ValueError("`query` must not be blank")


class QueryHistory:
    """The past queries of one base."""

    def __init__(self, root: Path, notice: Notice = ignore) -> None:
        """`notice` receives one sentence about lines that cannot be read."""
        self._root, self._file, self._notice = root, root / FILE, notice

    def read(self) -> tuple[PastQuery, ...]:
        """Return the past queries, each once, the most recent first; at most `LIMIT`."""
        records = read_records(self._file, PastQuery, self._notice)
        latest: dict[str, PastQuery] = {}
        for _, record in reversed(records):
            if record is not None:
                latest.setdefault(record.query, record)
        return tuple(latest.values())[:LIMIT]

    def add(self, asked: str | PastQuery) -> None:
        """Note that a query was asked just now. Write errors are ignored: it is not worth one."""
        if isinstance(asked, str):
            if not asked.strip():
                return
            asked = PastQuery(asked)
        past = replace(asked, at=round(time.time(), 3))
        with suppress(OSError, WriteFault), self._locked():
            size = append_lines(self._file, [_line(past)])
            if size > COMPACTED_BYTES:
                self._replace(self.read())

    def clear(self) -> int:
        """Forget all queries, unreadable lines included, and return how many queries there were.

        Raises WriteFault.
        """
        if not self._file.exists():
            return 0
        with self._locked():
            count = len(self.read())
            replace_state_file(self._file, b"")
        return count

    def _locked(self) -> AbstractContextManager[None]:
        return state_lock(self._root, LOCK_NAME, FILE, LOCK_SECONDS)

    def _replace(self, queries: Sequence[PastQuery]) -> None:
        """Keep only these queries, given as `read` returns them."""
        data = b"".join(_line(past) + b"\n" for past in reversed(queries))
        replace_state_file(self._file, data)


def _line(past: PastQuery) -> bytes:
    unset: dict[str, Any] = {"found": None, "first": (), "settings": {}}
    record = {name: value for name, value in asdict(past).items() if value != unset.get(name, ...)}
    first = tuple(map(replace_surrogates, past.first))
    record |= {"query": replace_surrogates(past.query)} | ({"first": first} if first else {})
    return msgspec.json.encode(record)

"""The queries asked in the app, `.kbx/queries.jsonl`, and those saved by name.

A query is appended to `queries.jsonl` as soon as it counts as asked, so a crash loses none: one
line each, the newest last, with its settings and number of results. A long file is compacted to the
newest `LIMIT` distinct queries.

`.kbx/saved_queries.jsonl` has each saved query with its settings and the versions of the documents
that it found. A result is new if it is not among these, and changed if its version differs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from kbx_tui.editing.state_files import Log, replace_state_file
from kbx_tui.errors import ConfigError, NotFound, WriteFault
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.state_file import Notice, ignore

LIMIT = 1_000
COMPACTED_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PastQuery:
    query: str
    at: float = 0.0
    """Time in seconds since 1970; 0 if unknown."""
    found: int | None = None
    """Number of results; None if unknown."""
    first: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Settings of the app when it was asked, where they differ from the defaults."""

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise ValueError("`query` must not be blank")


class QueryHistory:
    def __init__(self, root: Path, notice: Notice = ignore) -> None:
        self._log = Log(root, "queries.jsonl", PastQuery, notice, brief=True)

    def read(self) -> tuple[PastQuery, ...]:
        """Return the past queries, each once, the most recent first; at most `LIMIT`."""
        latest: dict[str, PastQuery] = {}
        for record in reversed(self._log.records()):
            latest.setdefault(record.query, record)
        return tuple(latest.values())[:LIMIT]

    def add(self, asked: str | PastQuery) -> None:
        """Add a query asked just now. Write errors are ignored: losing a query is harmless."""
        if isinstance(asked, str):
            if not asked.strip():
                return
            asked = PastQuery(asked)
        past = replace(asked, at=round(time.time(), 3))
        with suppress(OSError, WriteFault), self._log.locked():
            if self._log.append([_line(past)], synced=False) > COMPACTED_BYTES:
                lines = [_line(kept) + b"\n" for kept in reversed(self.read())]
                replace_state_file(self._log.file, b"".join(lines))

    def clear(self) -> int:
        """Remove all queries, unreadable lines included, and return how many queries there were.

        Raises WriteFault.
        """
        if not self._log.file.exists():
            return 0
        with self._log.locked():
            count = len(self.read())
            replace_state_file(self._log.file, b"")
        return count


def _line(past: PastQuery) -> bytes:
    unset: dict[str, Any] = {"found": None, "first": (), "settings": {}}
    record = {name: value for name, value in asdict(past).items() if value != unset.get(name, ...)}
    first = tuple(map(replace_surrogates, past.first))
    record |= {"query": replace_surrogates(past.query)} | ({"first": first} if first else {})
    return msgspec.json.encode(record)


REMEMBERED = 200
COMPARED = 50
"""Results compared to find new ones: fewer than are remembered, as deletions move others up."""
MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class SavedQuery:
    name: str
    query: str
    at: float
    """Time when it was saved or last opened, in seconds since 1970."""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    documents: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.query.strip():
            raise ValueError("`name` and `query` must not be blank")


@dataclass(frozen=True, slots=True)
class NewResult:
    path: str
    title: str
    date: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class News:
    saved: SavedQuery
    results: tuple[NewResult, ...]


class SavedQueries:
    def __init__(self, root: Path, notice: Notice) -> None:
        self._log = Log(root, "saved_queries.jsonl", SavedQuery, notice)

    def read(self) -> tuple[SavedQuery, ...]:
        named = {one.name: one for one in self._log.records()}
        return tuple(sorted(named.values(), key=lambda one: one.name.casefold()))

    def find(self, name: str) -> SavedQuery:
        """Return the query with this name. Raises NotFound."""
        for saved in self.read():
            if saved.name == name.strip():
                return saved
        names = ", ".join(one.name for one in self.read())
        hint = f"the names are {names}" if names else "`y s` in the app saves one"
        raise NotFound(f"no query is saved as {name!r}; {hint}")

    def put(self, saved: SavedQuery) -> None:
        """Store a query, replacing one with the same name. Raises WriteFault."""
        with self._log.locked():
            self._log.replace([*(one for one in self.read() if one.name != saved.name), saved])

    def update(self, saved: SavedQuery) -> None:
        """Replace the query with the same name, unless it was removed meanwhile.

        Raises WriteFault.
        """
        with self._log.locked():
            stored = self.read()
            if any(one.name == saved.name for one in stored):
                self._log.replace([*(one for one in stored if one.name != saved.name), saved])

    def remove(self, name: str) -> SavedQuery:
        """Remove and return a query. Raises NotFound and WriteFault."""
        with self._log.locked():
            saved = self.find(name)
            self._log.replace(one for one in self.read() if one.name != saved.name)
        return saved


def valid_name(name: str) -> str:
    """Return a name without surrounding spaces. Raises ConfigError for an invalid one."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise ConfigError(f"a name for a query has 1 to {MAX_NAME} printable characters")
    return name


def news(before: Mapping[str, str], now: Sequence[tuple[str, str]]) -> dict[str, bool]:
    """Return the documents that are new (True) or changed (False), by path.

    `before` maps paths to versions; `now` has (path, version) of the first results, best first.
    """
    return {path: path not in before for path, version in now if before.get(path) != version}

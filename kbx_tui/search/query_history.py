"""The queries asked in the app, `.kbx/queries.jsonl`, and those saved by name.

A query is appended to the first file as soon as it counts as asked, so a crash loses none: one line
each, the newest last, with the settings that it was asked with and what it found. A long file is
compacted to the newest `LIMIT` queries, each once.

`.kbx/saved_queries.jsonl` has each saved query with its settings and the versions of the documents
that it found. A document is new if it was not among these, and changed if it was with another
content.
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
    """Seconds since 1970; 0 if not known."""
    found: int | None = None
    """Number of results; None if not known."""
    first: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Settings of the app that it was asked with, where they differ from the usual ones."""

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
        """Note that a query was asked just now. Write errors are ignored: it is not worth one."""
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
        """Forget all queries, unreadable lines included, and return how many queries there were.

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
"""Results looked at for what is new: fewer, since others move up where one is deleted."""
MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class SavedQuery:
    name: str
    query: str
    at: float
    """When it was saved or last opened, in seconds since 1970."""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    documents: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.query.strip():
            raise ValueError("`name` and `query` must not be blank")


@dataclass(frozen=True, slots=True)
class NewResult:
    """A result of a saved query that is new or changed since it was last opened."""

    path: str
    title: str
    date: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class News:
    saved: SavedQuery
    results: tuple[NewResult, ...]


class SavedQueries:
    """The saved queries of one base. Lines that cannot be read stay in the file."""

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
        hint = f"the names are {names}" if names else "`*` in the app saves one"
        raise NotFound(f"no query is saved as {name!r}; {hint}")

    def put(self, saved: SavedQuery) -> None:
        """Store a query in place of any with the same name. Raises WriteFault."""
        with self._log.locked():
            self._log.replace([*(one for one in self.read() if one.name != saved.name), saved])

    def update(self, saved: SavedQuery) -> None:
        """Store a query in place of the one with its name, unless that was removed meanwhile.

        Raises WriteFault.
        """
        with self._log.locked():
            stored = self.read()
            if any(one.name == saved.name for one in stored):
                self._log.replace([*(one for one in stored if one.name != saved.name), saved])

    def remove(self, name: str) -> SavedQuery:
        """Remove a query, and return it. Raises NotFound and WriteFault."""
        with self._log.locked():
            saved = self.find(name)
            self._log.replace(one for one in self.read() if one.name != saved.name)
        return saved


def valid_name(name: str) -> str:
    """Return a name without spaces around it. Raises ConfigError for one that cannot be used."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise ConfigError(f"a name for a query has 1 to {MAX_NAME} printable characters")
    return name


def news(before: Mapping[str, str], now: Sequence[tuple[str, str]]) -> dict[str, bool]:
    """Return the documents that are new (True) or changed (False), by path.

    `before` and `now` give paths and versions; those of `now` are the first results, best first.
    """
    return {path: path not in before for path, version in now if before.get(path) != version}

"""Queries saved by name, `.kbx/saved_queries.jsonl`, and what is new since one was last opened.

Each has its settings and the versions of the documents that it found. A document is new if it was
not among these, and changed if it was with another content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kbx_tui.editing.state.state_folder import read_records, write_records
from kbx_tui.editing.state.state_lock import state_lock
from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.state_file import Notice

FILE = Path(".kbx", "saved_queries.jsonl")
LOCK_NAME = "saved_queries.lock"
LOCK_SECONDS = 5.0
REMEMBERED = 200
"""Documents whose versions are remembered, the best ones."""
COMPARED = 50
"""Results looked at for what is new: fewer, since others move up where one is deleted."""
MAX_NAME = 100
"""Characters of a name."""


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query with a name."""

    name: str
    query: str
    at: float
    """When it was saved or last opened, in seconds since 1970."""
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """As in `PastQuery`."""
    documents: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Version of each document that it found, by path."""

    def __post_init__(self) -> None:
        """Raise ValueError for a blank name or query."""
        if not self.name.strip() or not self.query.strip():
            raise ValueError("`name` and `query` must not be blank")


@dataclass(frozen=True, slots=True)
class NewResult:
    """A result of a saved query that is new or changed since it was last opened."""

    path: str
    title: str
    date: str
    is_new: bool
    """False if it was there with another content."""


@dataclass(frozen=True, slots=True)
class News:
    """What is new in the results of a saved query."""

    saved: SavedQuery
    """As it was before."""
    results: tuple[NewResult, ...]
    """In the order of the results."""


class SavedQueries:
    """The saved queries of one base. Lines that cannot be read stay in the file."""

    def __init__(self, root: Path, notice: Notice) -> None:
        """`notice` receives one sentence about lines that cannot be read."""
        self._root, self._notice = root, notice

    def read(self) -> tuple[SavedQuery, ...]:
        """Return the saved queries, ordered by name."""
        named = {one.name: one for _, one in self._records() if one is not None}
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
        with self._locked():
            self._write([*(one for one in self.read() if one.name != saved.name), saved])

    def update(self, saved: SavedQuery) -> None:
        """Store a query in place of the one with its name, unless that was removed meanwhile.

        Raises WriteFault.
        """
        with self._locked():
            stored = self.read()
            if any(one.name == saved.name for one in stored):
                self._write([*(one for one in stored if one.name != saved.name), saved])

    def remove(self, name: str) -> SavedQuery:
        """Remove a query, and return it. Raises NotFound and WriteFault."""
        with self._locked():
            saved = self.find(name)
            self._write([one for one in self.read() if one.name != saved.name])
        return saved

    def _records(self) -> list[tuple[str, SavedQuery | None]]:
        return read_records(self._root / FILE, SavedQuery, self._notice)

    def _write(self, queries: Sequence[SavedQuery]) -> None:
        others = [line for line, one in self._records() if one is None]
        write_records(self._root, FILE, queries, others, {})

    def _locked(self) -> AbstractContextManager[None]:
        return state_lock(self._root, LOCK_NAME, FILE, LOCK_SECONDS)


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

"""The user's preferences between result lists: `.kbx/preferences.jsonl`, one line per answer.

    {"query": "rollback plan", "first": {"paths": ["memory/notes/plan.md", ...], "knobs": {...}},
     "second": {...}, "better": "second", "when": "2026-03-17T09:41:05Z", "generation": 41}

`better` is "first", "second" or "neither". The last line of a query and two lists counts. As with
judgments, lines are only appended, under a lock and flushed to disk; undoing appends the line again
with `"undo": true`. Lines that cannot be read are named and left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from kbx_tui.editing.state.locked_log import LockedLog
from kbx_tui.editing.state.state_folder import read_records
from kbx_tui.errors import ConfigError, WriteFault
from kbx_tui.evaluation.preferences.preference import Better, Preference, ShownList
from kbx_tui.state_file import Notice

FILE = Path(".kbx", "preferences.jsonl")
"""Relative to the root."""
LOCK_NAME = "preferences.lock"


class _List(msgspec.Struct):
    paths: tuple[str, ...]
    knobs: dict[str, Any] = {}


class _Line(msgspec.Struct):
    query: str
    first: _List
    second: _List
    better: Better
    when: str = ""
    generation: int | None = None
    undo: bool = False

    def __post_init__(self) -> None:
        try:
            self.preference()
        except ConfigError as error:
            raise ValueError(str(error)) from error

    def preference(self) -> Preference:
        first, second = (ShownList(each.paths, each.knobs) for each in (self.first, self.second))
        return Preference(self.query, first, second, self.better, self.when, self.generation)


class PreferenceLog:
    """The file of preferences of one base; rereads it when it has changed. For one thread."""

    def __init__(self, root: Path, notice: Notice) -> None:
        self._file, self._notice = LockedLog(root, FILE, LOCK_NAME), notice
        self._version: tuple[int, ...] | None = None
        self._standing: tuple[Preference, ...] = ()

    def read(self) -> tuple[Preference, ...]:
        """Return the preferences that count, in the order they were given.

        There are none without a file, or if it cannot be read.
        """
        version = self._file.version()
        if version is None or version != self._version:
            records = read_records(self._file.file, _Line, self._notice) if version else ()
            self._standing = _standing(line for _, line in records if line)
            self._version = version
        return self._standing

    def add(self, preference: Preference) -> None:
        """Append a preference. Raises WriteFault, changing nothing."""
        with self._file.locked():
            self._file.append([_encode(preference)])

    def undo(self, preference: Preference | None = None) -> Preference:
        """Take a preference back, by default the last one, and return it.

        Raises WriteFault when there is none, or it was replaced or taken back since.
        """
        with self._file.locked():
            standing = self.read()
            if preference is None:
                if not standing:
                    raise WriteFault("there is no preference to undo")
                preference = standing[-1]
            elif preference not in standing:
                raise WriteFault(
                    f"the preference for “{preference.query}” was replaced or taken back since"
                )
            self._file.append([_encode(preference, undo=True)])
        return preference


def _standing(lines: Iterable[_Line]) -> tuple[Preference, ...]:
    standing: dict[object, Preference] = {}
    for line in lines:
        preference = line.preference()
        standing.pop(preference.key, None)
        if not line.undo:
            standing[preference.key] = preference
    return tuple(standing.values())


def _encode(preference: Preference, *, undo: bool = False) -> bytes:
    fields = {name: value for name, value in asdict(preference).items() if value not in ("", None)}
    return json.dumps(fields | ({"undo": True} if undo else {}), ensure_ascii=False).encode()

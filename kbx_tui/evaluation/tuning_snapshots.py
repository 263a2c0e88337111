"""Snapshots of the knobs, `.kbx/snapshots.jsonl`: settings that the user wants to compare again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kbx_tui.editing.state_files import Log
from kbx_tui.errors import KbxError
from kbx_tui.search.request import Tuning
from kbx_tui.state_file import Notice


@dataclass(frozen=True, slots=True)
class TuningSnapshot:
    """The knobs at one time, and what they were used with."""

    when: str
    """UTC, `2026-03-17T09:41:05Z`."""
    knobs: Mapping[str, Any] = field(hash=False)
    """The fields of the Tuning."""
    generation: int | None = None
    """Generation of the index at that time; None without an index."""
    model: str = ""
    """Embedding model at that time."""

    def __post_init__(self) -> None:
        """Raise ValueError for knobs that do not make a Tuning."""
        try:
            _tuning(self.knobs)
        except (TypeError, KbxError) as error:
            raise ValueError(f"`knobs` are not valid: {error}") from error

    @property
    def tuning(self) -> Tuning:
        return _tuning(self.knobs)


class TuningSnapshots:
    """The snapshots of one base."""

    def __init__(self, root: Path, notice: Notice) -> None:
        """`notice` receives one sentence about lines that cannot be read."""
        self._log = Log(root, "snapshots.jsonl", TuningSnapshot, notice)

    def read(self) -> tuple[TuningSnapshot, ...]:
        return tuple(self._log.records())

    def add(self, snapshot: TuningSnapshot) -> None:
        """Store a snapshot. Raises WriteFault."""
        with self._log.locked():
            self._log.replace([*self._log.records(), snapshot])

    def remove(self, snapshot: TuningSnapshot) -> None:
        """Remove a snapshot, if it is there. Raises WriteFault."""
        with self._log.locked():
            self._log.replace(one for one in self.read() if one != snapshot)

    def restore(self, snapshot: TuningSnapshot) -> None:
        """Put a removed snapshot back in its place by time. Raises WriteFault."""
        with self._log.locked():
            records = [*self._log.records(), snapshot]
            self._log.replace(sorted(records, key=lambda one: one.when))


def _tuning(knobs: Mapping[str, Any]) -> Tuning:
    sets = {name: frozenset(knobs[name]) for name in ("muted", "pinned") if name in knobs}
    return Tuning(**{**knobs, **sets})

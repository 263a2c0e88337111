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
    when: str
    """UTC, `2026-03-17T09:41:05Z`."""
    knobs: Mapping[str, Any] = field(hash=False)
    generation: int | None = None
    model: str = ""

    def __post_init__(self) -> None:
        try:
            _tuning(self.knobs)
        except (TypeError, KbxError) as error:
            raise ValueError(f"`knobs` are not valid: {error}") from error

    @property
    def tuning(self) -> Tuning:
        return _tuning(self.knobs)


class TuningSnapshots:
    def __init__(self, root: Path, notice: Notice) -> None:
        self._log = Log(root, "snapshots.jsonl", TuningSnapshot, notice)

    def read(self) -> tuple[TuningSnapshot, ...]:
        return tuple(self._log.records())

    def add(self, snapshot: TuningSnapshot) -> None:
        with self._log.locked():
            self._log.replace([*self._log.records(), snapshot])

    def remove(self, snapshot: TuningSnapshot) -> None:
        with self._log.locked():
            self._log.replace(one for one in self.read() if one != snapshot)

    def restore(self, snapshot: TuningSnapshot) -> None:
        with self._log.locked():
            records = [*self._log.records(), snapshot]
            self._log.replace(sorted(records, key=lambda one: one.when))


def _tuning(knobs: Mapping[str, Any]) -> Tuning:
    sets = {name: frozenset(knobs[name]) for name in ("muted", "pinned") if name in knobs}
    return Tuning(**{**knobs, **sets})

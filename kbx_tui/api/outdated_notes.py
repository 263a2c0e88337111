"""Sentences on what changed since the last run of indexing, compared again now and then."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

from kbx_tui.config import Settings
from kbx_tui.index.index_status import count_newer_files

OUTDATED_SECONDS = 30.0
"""Age from which the number of files that changed since they were indexed is counted again."""


class OutdatedNotes:
    """The notes of one session, kept: making them takes longer than many a search."""

    def __init__(self) -> None:
        self._notes: tuple[str, ...] = ()
        self._compared_at, self._generation = -math.inf, -1

    def of(
        self, root: Path, settings: Settings, generation: int, entities: Callable[[], bool]
    ) -> tuple[str, ...]:
        """Return sentences on newer files, and on `[entities]` if these would make others now.

        They are made again for another `generation`, and at most every 30 seconds otherwise.
        """
        now = time.monotonic()
        if generation != self._generation or now - self._compared_at > OUTDATED_SECONDS:
            from kbx_tui.search.results.notes import outdated_notes

            count = count_newer_files(root, settings)
            self._notes = tuple(outdated_notes(count, entities=entities()))
            self._compared_at, self._generation = now, generation
        return self._notes

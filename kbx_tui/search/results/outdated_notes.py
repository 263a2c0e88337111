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
OUTDATED_TIMES = 100
"""The same, at least, in times of what counting took."""


class OutdatedNotes:
    """The notes of one session, kept: making them takes longer than many a search."""

    def __init__(self) -> None:
        self._notes: tuple[str, ...] = ()
        self._compare_at, self._generation = -math.inf, -1

    def of(
        self, root: Path, settings: Settings, generation: int, entities: Callable[[], bool]
    ) -> tuple[str, ...]:
        """Return sentences on newer files, and on `[entities]` if these would make others now.

        They are made again for another `generation`, and at most every 30 seconds otherwise, in a
        large base more rarely.
        """
        began = time.monotonic()
        if generation != self._generation or began > self._compare_at:
            from kbx_tui.search.results.notes import outdated_notes

            count = count_newer_files(root, settings)
            self._notes = tuple(outdated_notes(count, entities=entities()))
            ended = time.monotonic()
            self._compare_at = ended + max(OUTDATED_SECONDS, OUTDATED_TIMES * (ended - began))
            self._generation = generation
        return self._notes

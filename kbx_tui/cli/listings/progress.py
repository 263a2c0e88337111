"""Progress of long commands on stderr: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kbx_tui.cli.output import say
from kbx_tui.ending import restore_with
from kbx_tui.formatting import format_duration

if TYPE_CHECKING:
    from kbx_tui.index.build.progress import Progress, ProgressListener

SECONDS_BETWEEN_LINES = 10.0
"""Minimum time between two lines about the same stage."""

SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"
"""Clears the line of the bar, too."""


@contextmanager
def show_progress() -> Iterator[ProgressListener]:
    """Yield a listener that displays the progress it receives."""
    if not sys.stderr.isatty():
        yield ProgressLines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
    )
    restore_with(_show_cursor)
    with Bar(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("starting", total=None, pace="")

        def show(progress: Progress) -> None:
            bar.update(
                task,
                description=progress.stage,
                completed=progress.done,
                total=progress.total or None,
                pace=format_pace(progress),
            )

        yield show
    restore_with(None)


@contextmanager
def show_steps(stage: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a callback that displays how many steps of a task are done, given their total."""
    from kbx_tui.index.build.progress import Progress

    began = time.monotonic()
    with show_progress() as show:

        def step(done: int, total: int) -> None:
            elapsed = time.monotonic() - began
            rate = done / elapsed if done and elapsed > 0 else 0.0
            left = (total - done) / rate if rate else None
            show(Progress(stage, done, total, rate, left, searchable=True))

        yield step


def _show_cursor() -> None:
    """Show the cursor that the bar hides, unless writing would block."""
    if select.select([], [sys.stderr], [], 0)[1]:
        os.write(sys.stderr.fileno(), SHOW_CURSOR)


class ProgressLines:
    """A listener that prints a line when a stage begins, and one every ten seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stage, self._printed_at = "", 0.0

    def __call__(self, progress: Progress) -> None:
        if progress.stage != self._stage:
            if progress.total > 1:
                say(f"{progress.stage}: {progress.total:,}")
        elif self._clock() - self._printed_at >= SECONDS_BETWEEN_LINES:
            parts = [f"{progress.stage}: {progress.done:,} of {progress.total:,}"]
            say(", ".join(filter(None, [*parts, format_pace(progress)])))
        else:
            return
        self._stage, self._printed_at = progress.stage, self._clock()


def format_pace(progress: Progress) -> str:
    """Return `120/s, 26 s left`, or as much of it as is known."""
    parts = [f"{progress.rate:,.0f}/s"] if progress.rate else []
    if progress.seconds_left is not None and progress.seconds_left >= 1.0:
        parts.append(f"{format_duration(progress.seconds_left)} left")
    return ", ".join(parts)

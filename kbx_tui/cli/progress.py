"""How far indexing is, on stderr: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kbx_tui.cli.running import say
from kbx_tui.formatting import duration_words

if TYPE_CHECKING:
    from kbx_tui.index.build.progress import Progress, ProgressListener

LINE_EVERY = 10.0
"""Seconds between two lines about the same stage where there is no terminal."""


@contextmanager
def show_progress() -> Iterator[ProgressListener]:
    """Yield a listener that shows what it hears."""
    if not sys.stderr.isatty():
        yield PlainLines()
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
    with Bar(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("starting", total=None, pace="")

        def show(progress: Progress) -> None:
            bar.update(
                task,
                description=progress.stage,
                completed=progress.done,
                total=progress.total or None,
                pace=pace_words(progress),
            )

        yield show


class PlainLines:
    """Says when a stage begins, and every ten seconds how far it is."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stage, self._said_at = "", 0.0

    def __call__(self, progress: Progress) -> None:
        began = progress.stage != self._stage
        if began:
            if progress.total > 1:
                say(f"{progress.stage}: {progress.total:,}")
        elif self._clock() - self._said_at >= LINE_EVERY:
            say(f"{progress.stage}: {progress.done:,} of {progress.total:,}{_joined(progress)}")
        else:
            return
        self._stage, self._said_at = progress.stage, self._clock()


def pace_words(progress: Progress) -> str:
    """Return `120/s, 26 s left`, as far as it is known."""
    words = [f"{progress.rate:,.0f}/s"] if progress.rate else []
    if progress.seconds_left is not None and progress.seconds_left >= 1.0:
        words.append(f"{duration_words(progress.seconds_left)} left")
    return ", ".join(words)


def _joined(progress: Progress) -> str:
    pace = pace_words(progress)
    return f", {pace}" if pace else ""

"""Output of commands: JSON, tables or styled text on stdout, messages and progress on stderr."""

from __future__ import annotations

import csv
import json
import os
import re
import select
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.ending import restore_with
from kbx_tui.formatting import format_duration
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from rich.console import Console

    from kbx_tui.index.build.progress import Progress, ProgressListener


_UNSAFE_IN_JSON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff]"
)
"""What `json.dumps` leaves unescaped: 8-bit controls, bidirectional controls, lone surrogates."""

_INDENTED_PAIR = re.compile(r"\[\n\s+(\d+),\n\s+(\d+)\n\s+\]")
"""A `[start, end]` span printed on four lines. Strings contain no line breaks and cannot match."""


def json_text(data: Any) -> str:
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    indented = json.dumps(data, ensure_ascii=ascii_only, indent=2, default=str)
    text = _INDENTED_PAIR.sub(r"[\1, \2]", indented)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def print_json(data: Any) -> None:
    click.echo(json_text(data))


def note_json(context: click.Context, option: click.Parameter, value: bool) -> None:
    context.meta[__name__] = value


def wants_json() -> bool:
    return bool(click.get_current_context().meta.get(__name__))


def note_format(context: click.Context, option: click.Parameter, value: str | None) -> None:
    context.meta[_FORMAT] = value


_FORMAT = f"{__name__}.format"


def prints_table() -> bool:
    """Return whether a table is wanted. Raises UsageError if JSON is, too."""
    is_wanted = bool(click.get_current_context().meta.get(_FORMAT))
    if is_wanted and wants_json():
        raise click.UsageError("--format and --json are two outputs; leave out one of the two")
    return is_wanted


def print_table(rows: Sequence[Mapping[str, Any]]) -> None:
    if text := table_text(rows, click.get_current_context().meta[_FORMAT]):
        click.echo(text)


_FORMULA = re.compile(
    r"(^|;)(?=\s*[=+@|\uff1d\uff0b\uff0d\uff20-](?!(?:\d++(?:\.\d++)?|\.\d++)\Z))"
)
"""Before what a spreadsheet takes for a formula, in full width too; numbers are none.

A semicolon ends a cell where numbers have a decimal comma.
"""
_MARKUP = re.compile(r"([\\|\[\]`*_<>])")


def table_text(rows: Sequence[Mapping[str, Any]], form: str) -> str:
    """Return a table with a column for each key; for `paths`, each path of a row once."""
    if form == "paths":
        return "\n".join(dict.fromkeys(_cell(row["path"]) for row in rows if row.get("path")))
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    if form == "markdown":
        lines = [columns, ["---"] * len(columns)] if columns else []
        lines += [[_MARKUP.sub(r"\\\1", cell) for cell in each] for each in cells]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([columns, *([_as_text(cell) for cell in each] for each in cells)])
    return out.getvalue().rstrip("\n")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple) and not any(isinstance(each, dict) for each in value):
        return "; ".join(map(_cell, value))
    return safe_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _as_text(cell: str) -> str:
    return _FORMULA.sub(r"\1'", cell)


class Greyed(str):
    """A line that is dim on a terminal: redacted text."""

    __slots__ = ()


def print_result(
    data: Any,
    lines: Iterable[str],
    rows: Sequence[Mapping[str, Any]] | None = None,
    notes: Iterable[str] = (),
) -> None:
    """Print `data` as JSON, its `rows` as a table, or `lines` made safe for a terminal.

    `notes` are messages, which JSON has among its data.
    """
    for note in () if wants_json() else notes:
        say(note)
    if prints_table():
        print_table(data if rows is None else rows)
    elif wants_json():
        print_json(data)
    elif text := "\n".join(map(_shown, lines)):
        click.echo(text)


def _shown(line: str) -> str:
    safe = safe_line(line)
    is_dim = isinstance(line, Greyed) and not os.environ.get("NO_COLOR")
    return click.style(safe, dim=True) if is_dim else safe  # `echo` leaves it out of a pipe


SHOWN = 10


def first_of(lines: Sequence[str], more: str) -> list[str]:
    """Return the first lines, then `more` with the number of the others, if there are any."""
    rest = len(lines) - SHOWN
    return [*lines[:SHOWN], *([more.format(f"{rest:,}")] if rest > 0 else [])]


def padded(text: str, width: int) -> str:
    """Return `text` with blanks up to `width` cells, of which wide characters take two."""
    from rich.cells import cell_len

    return text + " " * max(width - cell_len(text), 0)


def say(text: str) -> None:
    click.echo(f"kbx: {safe_line(text)}", err=True)


def console() -> Console:
    from rich.console import Console

    class Stdout(Console):
        """Leaves a broken pipe to `run`; Rich would exit with code 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Stdout(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)


SECONDS_BETWEEN_LINES = 10.0

SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"
"""Clears the line of the bar, too."""


@contextmanager
def show_progress() -> Iterator[ProgressListener]:
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
    from kbx_tui.index.build.progress import Progress

    began = time.monotonic()
    with show_progress() as show:

        def step(done: int, total: int) -> None:
            elapsed = time.monotonic() - began
            rate = done / elapsed if done and elapsed > 0 else 0.0
            left = (total - done) / rate if rate else None
            show(Progress(stage, done, total, rate, left, searchable=False))

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
    """Return `120/s, 26 s left, words can be searched`, or as much of it as is known."""
    parts = [f"{progress.rate:,.0f}/s"] if progress.rate else []
    if progress.seconds_left is not None and progress.seconds_left >= 1.0:
        parts.append(f"{format_duration(progress.seconds_left)} left")
    if progress.searchable:
        parts.append("words can be searched")
    return ", ".join(parts)


DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def print_diff(diff: str) -> None:
    from rich.text import Text

    out = console()
    for line in diff.splitlines():
        out.print(Text(safe_line(line), DIFF_STYLES.get(line[:1], "")))

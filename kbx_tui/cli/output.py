"""Output of commands: JSON or styled text on stdout, messages on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from rich.console import Console

    from kbx_tui.http_service.monitor import MonitorPort

_UNSAFE_IN_JSON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff]"
)
"""What `json.dumps` leaves unescaped: 8-bit controls, bidirectional controls, lone surrogates."""

_INDENTED_PAIR = re.compile(r"\[\n\s+(\d+),\n\s+(\d+)\n\s+\]")
"""A `[start, end]` span printed on four lines. Strings contain no line breaks and cannot match."""


def json_text(data: Any) -> str:
    """Return `data` as JSON that is safe to print on a terminal."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    indented = json.dumps(data, ensure_ascii=ascii_only, indent=2, default=str)
    text = _INDENTED_PAIR.sub(r"[\1, \2]", indented)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def print_json(data: Any) -> None:
    """Print `data` as JSON on stdout."""
    click.echo(json_text(data))


class Greyed(str):
    """A line that is dim on a terminal: redacted text."""

    __slots__ = ()


def print_result(data: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print `data` as JSON, or `lines` made safe for a terminal."""
    if as_json:
        print_json(data)
    elif text := "\n".join(map(_shown, lines)):
        click.echo(text)


def _shown(line: str) -> str:
    safe = safe_line(line)
    is_dim = isinstance(line, Greyed) and not os.environ.get("NO_COLOR")
    return click.style(safe, dim=True) if is_dim else safe  # `echo` leaves it out of a pipe


def padded(text: str, width: int) -> str:
    """Return `text` with blanks up to `width` cells, of which wide characters take two."""
    from rich.cells import cell_len

    return text + " " * max(width - cell_len(text), 0)


def say(text: str) -> None:
    """Print a one-line message on stderr."""
    click.echo(f"kbx: {safe_line(text)}", err=True)


def say_monitored(port: MonitorPort) -> None:
    """Print where health and metrics are served."""
    others = "; other machines can read them" if port.is_open_to_others else ""
    say(f"metrics on {port.url}{others}")


def console() -> Console:
    """Return a Rich console for stdout, in colour on a terminal without NO_COLOR."""
    from rich.console import Console

    class Stdout(Console):
        """Leaves a broken pipe to `runner.run`; Rich would exit with code 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Stdout(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)

"""Printing data: JSON for programs, styled text for people."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

_ACTS_ON_TERMINALS = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff]"
)
"""Beyond the controls json escapes anyway: 8-bit controls, writing direction, lone surrogates."""

_PAIR = re.compile(r"\[\n\s+(\d+),\n\s+(\d+)\n\s+\]")
"""A span over four lines. Breaks within a string are escaped, so none can look like this."""


def json_text(data: Any) -> str:
    """Return `data` as JSON that is safe to show, whatever a document holds."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    text = _PAIR.sub(r"[\1, \2]", json.dumps(data, ensure_ascii=plain, indent=2, default=str))
    return _ACTS_ON_TERMINALS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def print_json(data: Any) -> None:
    """Print `data` on stdout."""
    click.echo(json_text(data))


def console() -> Console:
    """Return stdout as a place for styled text: plain unless it is a terminal, or with NO_COLOR."""
    from rich.console import Console

    class Stdout(Console):
        """Leaves a closed pipe to `running.py`; Rich would end the program with exit code 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Stdout(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)

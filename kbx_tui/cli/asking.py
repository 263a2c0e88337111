"""Questions of commands to the user, on a terminal only."""

from __future__ import annotations

import sys

import click

from kbx_tui.safe_text import safe_line


def may_ask() -> bool:
    """Return whether the user can be asked: stdin and stderr are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirmed(question: str) -> bool:
    """Ask a yes-or-no question; the default is no."""
    return click.confirm(safe_line(question), default=False, err=True)

"""Questions of commands to the user, on a terminal only."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.output import say
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from kbx_tui.knowledge.entities.topics import EntityProposal

NAMES_SHOWN = 8
"""Names of each type that a question lists."""


def may_ask() -> bool:
    """Return whether the user can be asked: stdin and stderr are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def chose_entities(proposal: EntityProposal, root: Path, *, once: bool = False) -> bool:
    """Ask whether what is proposed is to be entities; the app then does not ask again.

    With `once`, False without a question where the user has answered it, here or in the app.
    """
    from kbx_tui.tui.app_state import entities_asked, note_entities_asked

    if once and entities_asked(root):
        return False
    for line in proposal.lines(NAMES_SHOWN):
        say(line)
    is_wanted = confirmed(f"{proposal.sentence}: use them as entities?")
    note_entities_asked(root)
    return is_wanted


def confirmed(question: str) -> bool:
    """Ask a yes-or-no question; the default is no."""
    return click.confirm(safe_line(question), default=False, err=True)

"""Messages from the model of the blind comparison to its screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from kbx_tui.evaluation.preferences.preference import Votes
    from kbx_tui.tui.blind.question import Question


@dataclass
class Asked(Message):
    """The next question."""

    question: Question


@dataclass
class Looked(Message):
    """How many queries have been looked at for one on which the settings differ."""

    done: int
    total: int

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Looked)


@dataclass
class NothingLeft(Message):
    """There is no further question."""

    votes: Votes
    queries: int
    """Number of queries that were looked at."""

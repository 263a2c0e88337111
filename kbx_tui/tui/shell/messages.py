"""Messages to the screens of the modes, for their frames; and from screens to the app."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual.message import Message


class Newest(Message):
    """A message in whose place a newer one of its kind may come."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self)


@dataclass
class Notice(Message):
    text: str


@dataclass
class Failure(Message):
    text: str
    """One line, without control characters."""


@dataclass
class IndexProgress(Newest):
    text: str


class TabsChanged(Newest):
    pass


@dataclass
class GoTo(Message):
    """Show a mode of the open base, such as `explore`, `dedup`, `index` or `compare`."""

    mode: str = "explore"
    query: str = ""
    """For explore; empty for the current one."""
    path: str = ""
    """The document to open in explore, if any."""


@dataclass
class OpenBase(Message):
    root: Path
    query: str = ""
    path: str = ""

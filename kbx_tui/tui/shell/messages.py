"""Messages to the frames of the mode screens, and from screens to the app."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual.message import Message


class Newest(Message):
    """A message that a newer one of the same class may replace."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self)


@dataclass
class Notice(Message):
    text: str
    yields: bool = False
    """Whether it is left out while another is shown."""


@dataclass
class Failure(Message):
    text: str
    """One line, without control characters."""


@dataclass
class Progress(Newest):
    text: str


class TabsChanged(Newest):
    """What the tabs show about the open base has changed."""


@dataclass
class GoTo(Message):
    """Show a mode of the open base, such as `explore`, `dedup`, `index` or `compare`."""

    mode: str = "explore"
    query: str = ""
    """Query to show in explore; empty for the current one."""
    path: str = ""
    """The document to open in explore, if any, at a 1-based line; 0 means its best passage."""
    line: int = 0
    entity: str = ""
    """Id of the entity whose card to open in explore, if any."""
    merges: tuple[str, str] = ("", "")
    """Ids of a person to keep and of another whose page to merge into theirs, once confirmed."""


@dataclass
class OpenBase(Message):
    root: Path
    query: str = ""
    path: str = ""

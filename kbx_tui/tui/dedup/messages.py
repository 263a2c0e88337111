"""Messages from the review model to the dedup screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.dedup.known_rows import KnownRow
from kbx_tui.tui.dedup.view import ReviewView


@dataclass
class ReviewChanged(Message):
    """The drafts after a change or a check."""

    view: ReviewView

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ReviewChanged)


@dataclass
class TypedTextChecked(Message):
    """The texts that resemble the text being typed, best first."""

    known: tuple[KnownRow, ...]


@dataclass
class ScanEnded(Message):
    """A scan of the base for duplicates has ended."""

    view: ReviewView
    found: int
    """Number of facts found that are stated more than once, or that contradict another."""
    added: tuple[str, ...]
    """Ids of the drafts that were added for them; the others were in the list."""
    kept: bool
    """Whether those were looked for that the user decided to keep."""
    has_kept: bool
    """Whether the user decided to keep any."""


class DraftsLoaded(Message):
    """The drafts of a file have been added."""


@dataclass
class DraftPlanned(Message):
    """What would be written for one draft: lines of a diff."""

    lines: tuple[str, ...]


@dataclass
class ReviewProgress(Message):
    """The progress of writing, or of a scan; empty text when it has ended."""

    text: str

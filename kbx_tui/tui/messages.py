"""What the controller tells the screen. Every answer carries the generation it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.view import BaseSummary, ExploreView, Knobs, Preview, SnippetView


@dataclass
class Opened(Message):
    """The knowledge base is open, or what it holds has changed."""

    summary: BaseSummary


@dataclass
class Tuned(Message):
    """The knobs stand like this, by kbx.toml and by what was turned before it was read."""

    knobs: Knobs


@dataclass
class Indexing(Message):
    """How far indexing is; empty text when it is over."""

    text: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Indexing)


@dataclass
class Searching(Message):
    """A search has been under way for long enough to say so."""

    generation: int


@dataclass
class Ranked(Message):
    """A ranking is ready to be shown."""

    generation: int
    """Of the search it came from: knobs turned later keep it."""
    view: ExploreView
    fresh: bool
    """True for a new query, False when the same one was ranked again."""

    def can_replace(self, message: Message) -> bool:
        return (
            isinstance(message, Ranked)
            and message.generation == self.generation
            and not (message.fresh and not self.fresh)
        )


@dataclass
class SnippetsReady(Message):
    """Snippets of some of the results."""

    query: str
    snippets: Mapping[str, SnippetView]
    """By path."""


@dataclass
class PreviewReady(Message):
    """A document's text."""

    preview: Preview


@dataclass
class Failed(Message):
    """Something went wrong; the app goes on."""

    text: str
    """One line for people."""
    generation: int | None = None
    """Of the search that failed, None when it was not a search."""

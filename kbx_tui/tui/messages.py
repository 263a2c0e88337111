"""What the controller tells the screen. Every answer carries the generation it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from textual.message import Message

from kbx_tui.tui.dedup.known_rows import KnownRow
from kbx_tui.tui.dedup.view import ReviewView
from kbx_tui.tui.experts.view import ExpertsView
from kbx_tui.tui.explore.search_state import Asking
from kbx_tui.tui.explore.view import BaseSummary, CardView, ExploreView, ScopeView, SnippetView
from kbx_tui.tui.reading.reading_layout import TextLayout


@dataclass
class Opened(Message):
    """The knowledge base is open, or what it holds has changed."""

    summary: BaseSummary


@dataclass
class Configured(Message):
    """What kbx.toml says for the app."""

    keys: Mapping[str, str] = field(default_factory=dict)
    remember_knobs: bool = False


@dataclass
class Asked(Message):
    """What is asked for changed otherwise than by a hand on the screen: kbx.toml, undo."""

    asking: Asking


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
class Scoped(Message):
    """How much a path filter leaves, when no query tells."""

    scope: ScopeView


@dataclass
class SnippetsReady(Message):
    """Snippets of some of the results."""

    query: str
    snippets: Mapping[str, SnippetView]
    """By path."""


@dataclass
class PreviewReady(Message):
    """A document's text, laid out."""

    layout: TextLayout


@dataclass
class PreviewGone(Message):
    """A document that cannot be read any more."""

    path: str
    reason: str


@dataclass
class CardReady(Message):
    """All that is known about an entity."""

    card: CardView


@dataclass
class FilesChanged(Message):
    """Files were written, and what the index says about them is new."""

    paths: frozenset[str]


@dataclass
class Reviewed(Message):
    """The drafts as they stand, after a change or a check."""

    view: ReviewView

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Reviewed)


@dataclass
class Typed(Message):
    """What is like the text that is being typed, best first."""

    known: tuple[KnownRow, ...]


@dataclass
class PlanShown(Message):
    """What would be written for one draft: lines of a diff."""

    lines: tuple[str, ...]


@dataclass
class ExpertsReady(Message):
    """Experts on the topic that was asked for last."""

    view: ExpertsView

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ExpertsReady)


@dataclass
class Writing(Message):
    """How far writing is; empty text when it is over."""

    text: str


@dataclass
class Noticed(Message):
    """Something a person should know for a moment."""

    text: str
    instead: bool = False
    """Whether it comes instead of something to read that was asked for."""


@dataclass
class Failed(Message):
    """Something went wrong; the app goes on."""

    text: str
    """One line for people."""
    generation: int | None = None
    """Of the search that failed, None when it was not a search."""

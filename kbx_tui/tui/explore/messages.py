"""Messages from the models of the explore mode to its screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.message import Message

from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.explore.view import BaseSummary, CardView, ExploreView, ScopeView
from kbx_tui.tui.reading.reading_layout import TextLayout

if TYPE_CHECKING:
    from kbx_tui.search.results.response import Snippet

FileState = Literal["changed", "gone"]
"""How a file differs from what was indexed."""


@dataclass
class BaseCounted(Message):
    """The knowledge base is open, or what it holds has been counted again."""

    summary: BaseSummary


@dataclass
class StateReplaced(Message):
    """The search state was changed by undo or kbx.toml, not by the user in a field."""

    state: SearchState


@dataclass
class QueryCompleted(Message):
    """A query whose last word may still be typed is answered."""

    typed: str
    query: str
    """What was searched for: the same, or with its last word continued."""


@dataclass
class SearchSlow(Message):
    """A search is taking long enough to show a message."""


@dataclass
class RankingReady(Message):
    """A ranking is ready to be shown."""

    view: ExploreView
    is_new: bool
    """True for a new query, False when the same one was ranked again."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RankingReady)  # only the newest is shown anyway


@dataclass
class ScopeCounted(Message):
    """The number of documents that match a path filter, while there is no query."""

    scope: ScopeView


@dataclass
class SnippetsReady(Message):
    """Snippets of some of the results."""

    query: str
    snippets: Mapping[str, Snippet]
    """By path."""
    outdated: Mapping[str, FileState]
    """Those of these documents whose files are not what was indexed, by path."""


@dataclass
class FilesChanged(Message):
    """Files were written, and the index holds their new content."""

    paths: frozenset[str]


@dataclass
class PreviewReady(Message):
    """A document has been read and laid out."""

    layout: TextLayout


@dataclass
class LivePreviewReady(Message):
    """The document under the cursor has been read, or cannot be read."""

    path: str
    layout: TextLayout | None
    reason: str = ""
    """Why it cannot be read."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, LivePreviewReady)


@dataclass
class PreviewGone(Message):
    """A document cannot be read any more."""

    path: str
    reason: str


@dataclass
class CardReady(Message):
    """An entity card has been read."""

    card: CardView


@dataclass
class LinkBroken(Message):
    """A link leads nowhere."""

    target: str
    """As written in the document, without control characters."""

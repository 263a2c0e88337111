"""What the why-not box shows, as plain values without control characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ActionKind = Literal["apply", "go", "read"]
"""Change the search, go to the document in the results, or open it."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document to pick."""

    path: str
    """As indexed: it identifies the document."""
    title: str
    date: str
    kind: str
    rank: int | None
    """Its rank among the results shown; None if it is none of them."""


@dataclass(frozen=True, slots=True)
class ActionRow:
    """Something to do about the document."""

    kind: ActionKind
    text: str
    """`alpha .62`, `read it`."""
    rank: int | None = None
    """Its rank after a change."""
    effect: str = ""
    """What the change does to the rest, in short: `2 lost, 3 move`."""
    detail: str = ""
    """The same with titles."""
    changes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Fields of the `SearchState` to change."""


@dataclass(frozen=True, slots=True)
class AnswerView:
    """Why a document is not among the first results, and what to do about it."""

    path: str
    """As indexed."""
    title: str
    standing: str
    """Where it stands, in a sentence."""
    reason: str
    """Why; may be empty."""
    heading: str
    """What the actions are; or that no change helps."""
    actions: tuple[ActionRow, ...]

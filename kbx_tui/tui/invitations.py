"""What empty panes say: always what to do next. Pure."""

from __future__ import annotations

from collections.abc import Callable

from kbx_tui.tui.drawing import BLANK, Line, Look, Span
from kbx_tui.tui.text import shorten, wrap
from kbx_tui.tui.view import BaseSummary

Invitation = Callable[[int], list[Line]]
"""From the width of a pane to its lines."""

EXAMPLES = (
    ("name and topic", "alice migration"),
    ("question", "what did platform decide?"),
    ("words of a title", "rollback plan"),
)


def nothing_typed(summary: BaseSummary | None) -> Invitation:
    """Return what the results pane says before a query."""

    def lines(width: int) -> list[Line]:
        examples: list[Line] = [
            (Span(f"  {what:<18}", "dim"), Span(example)) for what, example in EXAMPLES
        ]
        return [
            *_said("Type to search.", width, "strong"),
            BLANK,
            *_said(
                "People, projects and teams you name are found first, then the documents that"
                " belong to them.",
                width,
            ),
            BLANK,
            *examples,
            BLANK,
            *_said(_state(summary), width, "dim"),
        ]

    return lines


def nothing_found(query: str, in_scope: int) -> Invitation:
    """Return what the results pane says when nothing matches."""
    return lambda width: [
        *_said(f"Nothing found for “{shorten(query, 40)}”.", width, "strong"),
        BLANK,
        *_said(f"None of {in_scope:,} documents has these words or a similar meaning.", width),
        *_said("Try fewer words, or the name of a person or project.", width),
    ]


def failed(reason: str, *, is_open: bool) -> Invitation:
    """Return what the results pane says when there is nothing but an error to show."""
    title = "That did not work." if is_open else "There is no knowledge base to search yet."
    return lambda width: [
        *_said(title, width, "strong"),
        BLANK,
        *_said(reason, width),
    ]


def entities(width: int) -> list[Line]:
    """Return what the entities pane says before a query."""
    return _said("People, projects and teams that fit your query appear here.", width, "dim")


def no_entities(width: int) -> list[Line]:
    """Return what the entities pane says when none fits."""
    return _said("No person, project or team fits this query.", width, "dim")


def why(width: int) -> list[Line]:
    """Return what the why pane says before a query."""
    return _said("Why a result is where it is, in numbers that add up.", width, "dim")


def nothing(width: int) -> list[Line]:
    """Say nothing: another pane does."""
    return []


def squeezed(lines: list[Line], room: int) -> list[Line]:
    """Return `lines` under a blank one, without any blank ones when they would not fit."""
    airy = [BLANK, *lines]
    return airy if len(airy) <= room else [line for line in lines if line]


def _state(summary: BaseSummary | None) -> str:
    if summary is None:
        return "opening …"
    if not summary.searchable:
        return "The index is being made; its text can be searched first."
    if summary.documents is None or summary.entities is None:
        return "counting …"
    return f"{summary.documents:,} documents, {summary.entities:,} entities"


def _said(text: str, width: int, look: Look = "text") -> list[Line]:
    return [(Span(f"  {line}", look),) for line in wrap(text, max(width - 3, 1))]

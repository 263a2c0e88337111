"""What empty panes say: always what to do next. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kbx_tui.formatting import count_words
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.commands.registry import command
from kbx_tui.tui.drawing.cell_text import shorten, wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span
from kbx_tui.tui.explore.view import BaseSummary, ExploreView

Invitation = Callable[[int], list[Line]]
"""From the width of a pane to its lines."""

EXAMPLES = (
    ("name and topic", "a person and what it is about"),
    ("question", "as you would ask a colleague"),
    ("words of a title", "the document itself comes first"),
)


def nothing_typed(summary: BaseSummary | None, recent: Sequence[str] = ()) -> Invitation:
    """Return what the results pane says before a query; `recent` are those asked before."""

    def lines(width: int) -> list[Line]:
        shown = [("asked before" if not at else "", query) for at, query in enumerate(recent)]
        examples: list[Line] = [
            (Span(f"  {what:<18}", "dim"), Span(shorten(example, max(width - 22, 8))))
            for what, example in shown or EXAMPLES
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


def nothing_found(view: ExploreView, keymap: Keymap) -> Invitation:
    """Return what the results pane says when nothing matches: what stands in the way."""
    scope, fast = view.scope, view.mode.name == "fast"
    if scope.path and not scope.in_scope:
        reason = f"No document lies at {shorten(scope.path, 60)}."
        advice = f"{_key(keymap, 'focus.path')} changes the path, esc there searches everywhere."
    elif scope.path:
        what = "has these words" if fast else "has these words or a similar meaning"
        reason = f"None of the {scope.in_scope:,} documents in {shorten(scope.path, 60)} {what}."
        advice = f"{_key(keymap, 'focus.path')}, then esc, searches all {scope.total:,} documents."
    elif fast:
        reason = f"None of {scope.total:,} documents has one of these words."
        advice = f"{_key(keymap, 'mode.next')} searches by meaning too."
    else:
        reason = f"None of {scope.total:,} documents has these words or a similar meaning."
        advice = "Try fewer words, or the name of a person or project."
    return lambda width: [
        *_said(f"Nothing found for “{shorten(view.query, 40)}”.", width, "strong"),
        BLANK,
        *_said(reason, width),
        *_said(advice, width),
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


def no_drafts(keymap: Keymap) -> Invitation:
    """Return what the drafts pane says when there are none."""
    new, load, scan = (_key(keymap, name) for name in ("draft.new", "drafts.load", "drafts.scan"))
    return lambda width: [
        *_said("No drafts.", width, "strong"),
        BLANK,
        *_said(
            "A draft is a fact you may want to keep. It is checked against what is known while"
            " you type, and nothing is written before you say so.",
            width,
        ),
        BLANK,
        *_said(f"{new} types one; paste many lines there", width, "dim"),
        *_said(f"{load} loads a file, a line each", width, "dim"),
        *_said(f"{scan} finds what the base says more than once", width, "dim"),
    ]


def no_topic(width: int) -> list[Line]:
    """Return what the experts pane says before a topic is typed."""
    return [
        *_said("Type a topic.", width, "strong"),
        BLANK,
        *_said(
            "People, projects and teams are ranked by what is known of them on it: their facts,"
            " which add up to the score. Enter opens them.",
            width,
        ),
    ]


def no_experts(topic: str) -> Invitation:
    """Return what the experts pane says when nobody is known on a topic."""
    return lambda width: [
        *_said(f"No fact speaks of “{shorten(topic, 40)}”.", width, "strong"),
        BLANK,
        *_said("Try another word for it, or w for relevance: documents count then.", width),
    ]


def nothing_known(width: int) -> list[Line]:
    """Return what the known pane says when nothing is like the draft."""
    return _said("Nothing known is like it.", width, "dim")


def nothing_asked(width: int) -> list[Line]:
    """Return what the known pane says while there is no draft."""
    return _said("Facts like your draft will show here.", width, "dim")


def nothing(width: int) -> list[Line]:
    """Say nothing: another pane does."""
    return []


def squeezed(lines: list[Line], room: int) -> list[Line]:
    """Return `lines` under a blank one, without any blank ones when they would not fit."""
    airy = [BLANK, *lines]
    return airy if len(airy) <= room else [line for line in lines if line]


def _key(keymap: Keymap, command_id: str) -> str:
    return keymap.in_bar(command(command_id))


def _state(summary: BaseSummary | None) -> str:
    if summary is None:
        return "opening …"
    if not summary.searchable:
        return "The index is being made; its text can be searched first."
    if summary.documents is None or summary.entities is None:
        return "counting …"
    documents = count_words(summary.documents, "document")
    return f"{documents}, {count_words(summary.entities, 'entity')}"


def _said(text: str, width: int, look: Look = "text") -> list[Line]:
    return [(Span(f"  {line}", look),) for line in wrap(text, max(width - 3, 1))]

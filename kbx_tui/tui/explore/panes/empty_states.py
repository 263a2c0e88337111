"""What empty explore panes show: always what to do next. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.formatting import format_count
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.drawing.lines import BLANK, Span, paragraph
from kbx_tui.tui.explore.view import BaseSummary, ExploreView
from kbx_tui.tui.widgets.lines_view import EmptyState, dim_text, titled_text

EXAMPLES = (
    ("name and topic", "a person plus a subject"),
    ("question", "as you would ask a colleague"),
    ("words of a title", "that document comes first"),
)


def no_query(summary: BaseSummary | None, recent: Sequence[str] = ()) -> EmptyState:
    """Return what the results pane shows before a query: `recent` queries, or examples."""
    about = titled_text(
        "Type to search.",
        "The people, projects and teams you name are found first, then the documents that"
        " belong to them.",
    )
    examples = [("" if index else "recent queries", query) for index, query in enumerate(recent)]
    return lambda width: [
        *about(width),
        BLANK,
        *(
            (Span(f"  {label:<18}", "dim"), Span(shorten(example, max(width - 22, 8))))
            for label, example in examples or EXAMPLES
        ),
        BLANK,
        *paragraph(_base_status(summary), width, "dim"),
    ]


def no_results(view: ExploreView, keymap: Keymap) -> EmptyState:
    """Return what the results pane shows without results: the cause, and what to try."""
    scope, fast = view.scope, view.mode.name == "fast"
    if view.filters and not scope.in_scope:
        named = " and ".join(shorten(text, 40) for text in view.filters)
        reason = f"There is no document with {named}{' there' if scope.path else ''}."
        advice = f"{keymap.key_of('filter.remove')} removes the last filter."
    elif scope.path and not scope.in_scope:
        reason = f"There is no document at {shorten(scope.path, 60)}."
        advice = f"{keymap.key_of('focus.path')} changes the path; esc there searches everywhere."
    elif scope.path:
        what = "contains these words" if fast else "has these words or a similar meaning"
        reason = f"None of the {scope.in_scope:,} documents in {shorten(scope.path, 60)} {what}."
        advice = f"{keymap.key_of('focus.path')}, then esc, searches all {scope.total:,} documents."
    elif fast:
        reason = f"None of the {scope.total:,} documents contains any of these words."
        advice = f"{keymap.key_of('mode.next')} also searches by meaning."
    else:
        reason = f"None of the {scope.total:,} documents has these words or a similar meaning."
        advice = "Try fewer words, or the name of a person or project."
    return titled_text(f"Nothing found for “{shorten(view.query, 40)}”.", reason, advice)


def search_failed(reason: str, *, is_open: bool) -> EmptyState:
    """Return what the results pane shows when a search fails."""
    title = "That did not work." if is_open else "There is no knowledge base to search yet."
    return titled_text(title, reason)


entities_without_query = dim_text("People, projects and teams that match your query appear here.")
no_entities = dim_text("No person, project or team matches this query.")
why_without_query = dim_text("Why a result ranks where it does, in numbers that add up.")


def _base_status(summary: BaseSummary | None) -> str:
    if summary is None:
        return "opening …"
    if not summary.searchable and summary.is_waiting:
        return "Nothing is indexed yet; the Index mode begins it."
    if not summary.searchable:
        return "The index is being built; you can already search by words."
    if summary.documents is None or summary.entities is None:
        return "counting …"
    documents = format_count(summary.documents, "document")
    return f"{documents}, {format_count(summary.entities, 'entity')}"

"""What empty explore panes show: always what to do next. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.formatting import format_count
from kbx_tui.knowledge.folding import tokens
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

WITH_ENTITIES = (
    "What you name, a person, a project, a team, a tag, is found first; then the documents that"
    " belong to it."
)
WITHOUT_ENTITIES = (
    "Notes are found by their words and by what they mean. Facets narrow them, with a query or"
    " without: tags, folders, dates, notes that others link to."
)


def no_query(summary: BaseSummary | None, recent: Sequence[str] = (), key: str = "") -> EmptyState:
    """Return what the results pane shows before a query: `recent` ones, or some made from the base.

    `key` puts them into the query line, one after the other.
    """
    has_entities = summary is None or summary.entities != 0
    about = titled_text("Type to search.", WITH_ENTITIES if has_entities else WITHOUT_ENTITIES)
    queries = recent or (summary.queries if summary is not None else ())
    label = "recent queries" if recent else "for example"
    examples = [("" if index else label, query) for index, query in enumerate(queries)] or EXAMPLES
    column = max(len(label) for label, _ in examples) + 2
    asks = f"{key} asks {'the next of them' if len(queries) > 1 else 'it'}"
    hint = [(Span(f"  {'':<{column}}"), Span(asks, "dim"))] if key and queries else []
    return lambda width: [
        *about(width),
        BLANK,
        *(
            (
                Span(f"  {label:<{column}}", "dim"),
                Span(shorten(example, max(width - column - 4, 8))),
            )
            for label, example in examples
        ),
        *hint,
        BLANK,
        *paragraph(_base_status(summary), width, "dim"),
    ]


def no_results(view: ExploreView, keymap: Keymap) -> EmptyState:
    """Return what the results pane shows without results: the cause, and what to try."""
    scope, fast = view.scope, view.mode.name == "fast"
    if not scope.total:
        reason = "This knowledge base holds no document."
        advice = "Files of markdown in its folder are found as soon as they are indexed."
    elif view.filters and not scope.in_scope:
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
    elif has_only_common_words(view.query):
        reason = "It holds only words that nearly every text has, and these are not searched for."
        advice = "Add what it is about: a name, a project, a subject."
    elif fast:
        reason = f"None of the {scope.total:,} documents contains any of these words."
        advice = f"{keymap.key_of('mode.next')} also searches by meaning."
    else:
        reason = f"None of the {scope.total:,} documents has these words or a similar meaning."
        advice = "Try fewer words, or the name of a person or project."
    return titled_text(f"Nothing found for “{shorten(view.query, 40)}”.", reason, advice)


def has_only_common_words(query: str) -> bool:
    """Return whether a query has words, but none that a search looks for: `the`, `what of it`."""
    from kbx_tui.search.query.english_words import has_topic  # not for the first screen

    words = tokens(query)
    return bool(words) and not has_topic(words)


def search_failed(reason: str, *, is_open: bool) -> EmptyState:
    """Return what the results pane shows when a search fails."""
    title = "That did not work." if is_open else "There is no knowledge base to search yet."
    return titled_text(title, reason)


entities_without_query = dim_text("What your query names: people, projects, teams, tags.")
no_entities = dim_text("The query names nobody and nothing that has a page or a tag here.")
no_entities_when_fast = dim_text(
    "A fast search looks for no people, projects, tags or other entities."
)
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
    return summary.contents or format_count(summary.documents, "document")

"""Shows the answer to a search in the panes of the explore screen, or else what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len

from kbx_tui.formatting import format_count
from kbx_tui.knowledge.folding import tokens
from kbx_tui.safe_text import safe_line
from kbx_tui.search.query.typed_filters import read_filters
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, paragraph, shorten
from kbx_tui.tui.explore import inputs
from kbx_tui.tui.explore.entities import EntityList, EntityStrip, entity_strip_line
from kbx_tui.tui.explore.facets import FacetPane
from kbx_tui.tui.explore.pane_layout import Panes
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.view import (
    KEYS_IN_NOTES,
    BaseSummary,
    DatesView,
    EntityRow,
    ExploreView,
    ResultRow,
)
from kbx_tui.tui.explore.why_pane import MOST_WORDS, WhyLine, WhyPane, why_sentence
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.frame_screen import ModeScreen
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.lines_view import EmptyState, blank, dim_text, titled_text

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import Scope

RECENT_QUERIES = 3


class AnswerDisplay:
    def __init__(self, screen: ModeScreen) -> None:
        self._screen, self._model = screen, screen.session.explore
        self._find = screen.query_one
        self.view: ExploreView | None = None

    def show(self, view: ExploreView, *, is_new: bool) -> None:
        self.view, keymap = view, self._screen.app.keymap
        note = view.note
        for placeholder, command in KEYS_IN_NOTES.items():
            note = note.replace(placeholder, keymap.key_of(command))
        # The same query is also answered again after a change on disk, which mends no other error.
        self._find(StatusLine).clear_error(when_read=not is_new)
        self._find(StatusLine).show_note(note)
        self._show_badge(self._badge_words(view))
        self._find(inputs.PathField).show(view.scope.path, view.scope.in_scope)
        words = self._model.state.extra_words(self._model.defaults)
        self._show_chips(view.dates, view.filters, words)
        self._find(inputs.Knobs).annotate(view)
        self._show_entities(view.entities, no_entities_for(view), is_new=is_new)
        if self._model.shows_facets:
            self._find(FacetPane).update_counts()
        results = self._find(ResultList)
        results.show_count(_count(view))
        self._find(Panes).remove_class("-idle")
        if view.results:
            results.show(view, self._model.displayed, fresh=is_new)
        else:
            results.show_empty(no_results(view, keymap))
            self._show_no_reasons(blank)

    def clear(self) -> None:
        self.view = None
        self._find(StatusLine).show_note("")
        self._show_chips(None, (), "")
        self._find(inputs.Knobs).annotate(None)
        self._find(ResultList).show_count("")
        self.show_base()
        self._show_no_reasons(why_without_query)
        self._find(Panes).add_class("-idle")
        self._show_badge(())

    def show_base(self) -> None:
        self._find(FacetPane).update_counts()
        if self.view is None:
            recent = tuple(self._screen.app_state.queries[:RECENT_QUERIES])
            before = partial(no_query, self._model.summary, recent, self._screen.app.keymap)
            results = self._find(ResultList)

            def before_answer(width: int) -> list[Line]:
                if self._model.state.query and results.has_focus:  # the badge says what goes on
                    return paragraph(_base_status(self._model.summary), width, "dim")
                return before(is_typing=not results.has_focus)(width)

            results.show_empty(before_answer)
            self._show_entities((), entities_without_query)

    def show_slow(self) -> None:
        for badge in self._screen.query(inputs.ModeBadge):  # none where the app ends meanwhile
            badge.show(("searching …",), busy=True)

    def show_failure(self, text: str) -> None:
        view = self.view
        self._find(StatusLine).show_note("")  # about an earlier query
        self._show_badge(self._badge_words(view) if view is not None else ())
        if view is None:
            failed = search_failed(text, is_open=self._model.summary is not None)
            self._find(ResultList).show_empty(failed)

    def show_scope_without_query(self, path: str, in_scope: int) -> None:
        if self.view is None:
            self._find(StatusLine).clear_error()  # about an earlier, invalid path
            self.show_base()
            self._find(inputs.PathField).show(path, in_scope)

    def explain(self, result: ResultRow) -> None:
        displayed, marked = self._model.displayed, self._find(ResultList).marked
        difference = displayed.explain_pair(marked, result) if marked else ""
        why, snippet = displayed.explain(result), displayed.snippets.get(result.path)
        self._find(WhyPane).show(why, snippet, difference)
        wordings = [difference]
        if why is not None and not difference:
            wordings = [why_sentence(why, snippet, most) for most in range(MOST_WORDS, 0, -1)]
            reasons = wordings[-1].split("; ")  # rather fewer of them than one cut off
            wordings += ["; ".join(reasons[:count]) for count in range(len(reasons) - 1, 0, -1)]
        key, is_open = self._screen.app.keymap.key_of("why.toggle"), self._find(Panes).is_why_open
        self._find(WhyLine).show(wordings, key, is_open=is_open)

    def toggle_mark(self) -> str:
        """Mark the result under the cursor, or unmark it; return the title if it is marked."""
        results = self._find(ResultList)
        result = results.current
        if result is None or result.path == results.marked:
            self.unmark()
            return ""
        results.marked = result.path
        self.explain(result)
        return result.title

    def unmark(self) -> bool:
        results = self._find(ResultList)
        was_marked = bool(results.marked)
        results.marked = ""
        if was_marked and results.current is not None:
            self.explain(results.current)
        return was_marked

    def _show_entities(
        self, entities: tuple[EntityRow, ...], without: EmptyState, *, is_new: bool = False
    ) -> None:
        threshold = self._model.state.threshold
        key = self._screen.app.keymap.key_of("focus.entities")
        self._find(EntityStrip).show_line(partial(entity_strip_line, entities, threshold, key))
        self._find(EntityList).empty_state = without
        self._find(EntityList).show(entities, threshold, fresh=is_new)

    def _badge_words(self, view: ExploreView) -> tuple[str, ...]:
        return inputs.mode_candidates(
            view.mode,
            is_brief=not self._screen.app_state.shows_measures,
            has_entities=self._screen.has_class("-small"),
        )

    def _show_badge(self, candidates: tuple[str, ...]) -> None:
        self._find(inputs.ModeBadge).show(candidates)

    def _show_chips(self, dates: DatesView | None, filters: Sequence[str], words: str) -> None:
        chips = self._find(inputs.DateChip), self._find(inputs.FilterChip)
        chips[0].show(dates, self._screen.app.keymap)
        chips[1].show(filters, words, self._screen.app.keymap)

    def _show_no_reasons(self, empty_state: EmptyState) -> None:
        pane = self._find(WhyPane)
        pane.empty_state = empty_state
        pane.show(None, None)
        self._find(WhyLine).clear()
        if self._find(Panes).read != "document":
            self._find(PreviewPane).clear()


def _count(view: ExploreView) -> str:
    scored = f"{view.scope.in_scope:,}"
    if view.mode.candidates is not None:
        scored = f"{view.mode.candidates:,} candidates"
    count = view.order or f"{view.matched:,} of {scored}"
    if view.scope.left_out:
        count += f" · {format_count(view.scope.left_out, 'muted document')} left out"
    if view.gated:
        count += f" · {view.gated:,} left out by the gate"
    return count


# Empty panes always show what to do next.


WITH_ENTITIES = (
    "Ask who said, decided or knows what. You see what you named, the results, and why each is"
    " there."
)
WITHOUT_ENTITIES = (
    "Ask what your notes say; see why each answer stands where it does. Facets narrow them, with a"
    " query or without: tags, folders, dates, notes that others link to."
)


def no_query(
    summary: BaseSummary | None, recent: Sequence[str], keymap: Keymap, *, is_typing: bool = True
) -> EmptyState:
    """Return what the results pane shows before a query: what to ask.

    Unless the user `is_typing`, letters are keys of commands.
    """
    has_entities = summary is None or summary.entities != 0
    field = "" if is_typing else f"{keymap.key_of('focus.query')} "
    title = "Type to search." if is_typing else f"Press {field}and type to search."
    about = titled_text(title, WITH_ENTITIES if has_entities else WITHOUT_ENTITIES)
    queries = recent or (summary.queries if summary is not None else ())
    label = "recent queries" if recent else "for example"
    rows = [("", "" if index else label, Span(query)) for index, query in enumerate(queries)]
    if queries:
        which = "asks the next of them" if len(queries) > 1 else "asks it"
        rows.append((f"{field}{keymap.key_of('query.earlier')} enter", "", Span(which, "dim")))
    return lambda width: [
        *about(width),
        BLANK,
        *_labelled(rows, len(label), width),
        *([BLANK] if rows else []),
        *paragraph(_base_status(summary), width, "dim"),
    ]


def _labelled(rows: Sequence[tuple[str, str, Span]], column: int, width: int) -> list[Line]:
    """Return lines that begin with a key or a label, or both."""
    return [
        (
            Span(f"  {key}", "accent"),
            Span(f"{label:<{column - cell_len(key)}}  ", "dim"),
            Span(shorten(text, max(width - column - 6, 8)), look),
        )
        for key, label, (text, look) in rows
    ]


def no_results(view: ExploreView, keymap: Keymap) -> EmptyState:
    scope, fast = view.scope, view.mode.name == "fast"
    path = shorten(safe_line(scope.path), 60)
    if not scope.total:
        reason = "This knowledge base holds no document."
        advice = "Files of markdown in its folder are found as soon as they are indexed."
    elif scope.emptied_by is not None:
        reason, advice = emptied_words(scope, scope.emptied_by, keymap)
    elif scope.path and not scope.in_scope:
        reason = f"There is no document at {path}."
        change, clear = keymap.key_of("focus.path"), keymap.key_of("path.clear")
        advice = f"{change} changes the path; {clear} there clears it."
    elif scope.path or view.filters:
        what = "these words" if fast else "these words or a similar meaning"
        where = [f"in {path}"] if scope.path else []
        where += [f"with {shorten(text, 40)}" for text in view.filters]
        none, has = f"None of the {scope.in_scope:,} documents", "contains" if fast else "has"
        if scope.in_scope == 1:
            none, has = "The one document", f"does not {'contain' if fast else 'have'}"
        reason = f"{none} {' and '.join(where)} {has} {what}."
        keys = f"{keymap.key_of('focus.path')}, then {keymap.key_of('path.clear')},"
        if view.filters:
            keys = keymap.key_of("filter.remove")
        advice = f"{keys} takes {'the last filter' if view.filters else 'the folder'} away."
    elif has_only_common_words(view.query):
        reason = "It holds only words that nearly every text has, and these are not searched for."
        advice = "Add what it is about: a name, a project, a subject."
    elif fast:
        reason = f"None of the {scope.total:,} documents contains any of these words."
        advice = f"{keymap.key_of('mode.next')} also searches by meaning."
    else:
        reason = f"None of the {scope.total:,} documents has these words or a similar meaning."
        advice = "Try fewer words, or the name of a person or project."
    if view.dates is not None and view.dates.undated and view.dates.use != "off" and scope.in_scope:
        reason = f"No document is dated {safe_line(view.dates.undated)}. {reason}"
        advice = "Ask for another time, or name a person or project."
    return titled_text(f"Nothing found for “{shorten(view.query, 40)}”.", reason, advice)


def emptied_words(scope: Scope, number: int, keymap: Keymap) -> tuple[str, str]:
    """Return which typed filter leaves no document, and how to remove it."""
    typed = scope.filters.typed
    names = [shorten(safe_line(str(each)), 40) for each in typed]
    there = f" in {shorten(safe_line(scope.path), 60)}" if scope.path else ""
    reason = f"No document{there} matches {' and '.join(names[: number + 1])}."
    if typed[number].lacks_date:
        reason = f"{names[number]} holds no date such as 2026-03-17, 2026-03 or 2026."
    elif number:
        reason = f"{reason[:-1]}; without {names[number]} some do."
    if number == len(names) - 1:
        return reason, f"{keymap.key_of('filter.remove')} removes {names[number]}."
    return reason, f"{keymap.key_of('focus.query')} changes the query: remove {names[number]}."


def has_only_common_words(query: str) -> bool:
    """Return whether a query has only words too common to search for, such as `what of it`."""
    from kbx_tui.search.query.query_words import has_topic  # not needed by the first screen

    words = tokens(query)
    return bool(words) and not has_topic(words)


def search_failed(reason: str, *, is_open: bool) -> EmptyState:
    title = "That did not work." if is_open else "There is no knowledge base to search yet."
    return titled_text(title, reason)


entities_without_query = dim_text("What your query names: people, projects, teams, tags.")
no_entities = dim_text("The query names nobody and nothing that has a page or a tag here.")
no_entities_when_fast = dim_text(
    "A fast search looks for no people, projects, tags or other entities."
)
no_entities_for_filters = dim_text("Only filters: all documents that pass them.")
why_without_query = dim_text("Why a result ranks where it does, in numbers that add up.")


def no_entities_for(view: ExploreView) -> EmptyState:
    typed = read_filters(view.query, view.scope.filters.properties)
    if typed.filters and not typed.text:
        return no_entities_for_filters
    return no_entities_when_fast if view.mode.name == "fast" else no_entities


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

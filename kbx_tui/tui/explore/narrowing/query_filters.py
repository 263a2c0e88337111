"""The query line as it is typed: words and filters are completed, filters added and removed."""

from __future__ import annotations

from textual.screen import Screen

from kbx_tui.log_file import logger
from kbx_tui.safe_text import safe_line
from kbx_tui.search.query.typed_filters import (
    UnfinishedFilter,
    read_filters,
    unfinished_filter,
    without_filter,
)
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.widgets.status_line import StatusLine

SHOWN = 8
"""Values listed in the status line."""


class QueryFilters:
    """Reads and changes the query line of a screen."""

    def __init__(self, screen: Screen[None], model: ExploreModel) -> None:
        self._screen, self._model = screen, model
        self._has_hint = False
        self._typed = self._completed = ""
        """The text of the line when its last word was last looked up, and with that word whole."""

    @property
    def _line(self) -> QueryLine:
        return self._screen.query_one(QueryLine)

    @property
    def query(self) -> str:
        """The text of the query line."""
        return self._line.value

    def typed(self, text: str) -> None:
        """Search for a text as it is typed, without a filter that may not be complete yet."""
        unfinished = unfinished_filter(text) if self._line.has_focus else None
        if unfinished is not None:
            self._screen.run_worker(
                self._complete(text, unfinished), exclusive=True, group="filter"
            )
            return
        self._show_hint("")
        line = self._line
        is_open = line.has_focus and line.cursor_at_end and text[-1:].isalpha()
        if is_open and text.startswith(self._typed) and self._completed.startswith(text):
            line.suggest(self._completed)  # sooner than the search can tell
        self._model.type_query(text.strip(), is_open=is_open)

    def show_completion(self, typed: str, query: str) -> None:
        """Show that a query was searched for with its last word continued, or was not."""
        line, text = self._line, self._line.value
        if text.strip() != typed:
            return
        rest = query[len(typed) :]
        if rest and not line.has_focus:
            line.show_query(query)
            return
        self._typed, self._completed = text, text + rest
        line.suggest(self._completed)
        word = query.split()[-1]
        part = word.removesuffix(rest)
        self._show_hint(
            f"searching for {word}; tab completes it, a space keeps {part}" if rest else ""
        )

    def left(self) -> None:
        """Search for the whole text, with its last word completed: the user has left the line."""
        self._show_hint("")
        line = self._line
        # The window of the terminal may only have lost the focus.
        if line.completion and line.completion == self._completed and self._screen.app.app_focus:
            line.show_query(self._completed)
        self._model.update(query=line.value.strip())

    def remove(self, number: int) -> bool:
        """Remove a filter, counted from 0, or -1 for the last; return whether there was one."""
        query = self._line.value
        if not read_filters(query).filters:
            return False
        self.replace(without_filter(query, number))
        return True

    def replace(self, after: str) -> None:
        """Put another query into the line; `undo` takes that back."""
        before = self._line.value
        self._line.show_query(after)

        def undo() -> None:
            if self._line.value == after:
                self._line.show_query(before)
            else:
                self._screen.query_one(StatusLine).show_notice("the query has changed since")

        self._model.remember(undo)

    async def _complete(self, text: str, unfinished: UnfinishedFilter) -> None:
        try:
            found = await self._model.completions.filter(unfinished)
        except Exception as error:  # would end the app if raised here; searching reports it anyway
            logger().warning("no completions for %r: %s", text, error)
            found = None
        if text != self._line.value:
            return
        values = [] if found is None else [v for v in found.values if safe_line(v) == v]
        if values:
            self._line.suggest(unfinished.completed(values[0]))
        self._show_hint("   ".join(values[:SHOWN]))
        is_whole = found is None or found.is_whole
        self._model.update(query=text.strip() if is_whole else unfinished.rest)

    def _show_hint(self, text: str) -> None:
        if text or self._has_hint:
            self._screen.query_one(StatusLine).show_hint(text)
        self._has_hint = bool(text)

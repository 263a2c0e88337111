"""The reader of explore: the open document or card, and the history for going back.

If there is room, it also previews the document under the cursor below the why pane. Documents are
read and laid out on the engine's thread; a newer request cancels an older one.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from textual.widget import Widget

from kbx_tui.errors import NotFound
from kbx_tui.safe_text import safe_line
from kbx_tui.search.lru_cache import LruCache
from kbx_tui.tui.engine.client import LatestOnly
from kbx_tui.tui.explore.displayed_search import read_snippets
from kbx_tui.tui.explore.entities import EntityCard
from kbx_tui.tui.explore.pane_layout import READERS, Pane, Panes
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.view import ResultRow
from kbx_tui.tui.reading.documents import present_document, read_passage
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.reading.reading_layout import TextLayout, lay_out
from kbx_tui.tui.shell.frame_screen import ModeScreen
from kbx_tui.tui.terminal_app import GoTo

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.browse import EntityCard as Card
    from kbx_tui.search.evidence.evidence import Evidence

LEAST_WIDTH = 20
PREVIEW_PAUSE_SECONDS = 0.06
KEPT = 16
MOST_BYTES = 250_000
"""Bytes read for a preview: the best passage is in the first 60,000 characters."""
MAX_STEPS = 50
TOP = -1
"""In place of a line: the beginning of a document."""


Step = tuple[Literal["document", "card"], str]
"""A document and its path, or a card and the id of its entity."""


class Reader:
    def __init__(self, screen: ModeScreen) -> None:
        self._screen = screen
        self._client, self._model = screen.session.client, screen.session.explore
        self._requests, self._previews = LatestOnly(self._client), LatestOnly(self._client)
        self._width = 0
        self._kept = LruCache[tuple[str, int], TextLayout](KEPT)
        self._kept_for: object = None
        self.history: list[Step] = []
        self._as_of: dict[str, str] = {}
        """The day as of which a card was last shown, by the id of its entity."""
        """The documents and cards opened, in order; the last one is shown."""
        self.origin: Pane = "results"
        self.return_mode = ""
        """The mode to return to from the first document or card, if it was opened there."""
        self._takes_focus = False
        self._replaces = False
        """Whether the next document or card replaces the current one in the history."""

    @property
    def is_open(self) -> bool:
        return self._panes.read is not None

    @property
    def _has_focus(self) -> bool:
        return isinstance(self._screen.focused, tuple(READERS.values()))

    @property
    def _panes(self) -> Panes:
        return self._screen.query_one(Panes)

    @property
    def _pane(self) -> PreviewPane:
        return self._screen.query_one(PreviewPane)

    # Previewing.

    def follow_cursor(self) -> None:
        result, evidence = self._current, self._model.displayed.evidence
        if not self._panes.is_live or self.is_open or result is None:
            return
        query = evidence.as_typed if evidence is not None else None
        if query is not self._kept_for:
            self._kept, self._kept_for = LruCache(KEPT), query
        self._previews.cancel()
        width = self._pane_width
        layout = self._kept.get((result.path, width))
        if layout is None:
            self._previews.start(self._preview(result.path, width, evidence))
        else:
            self._show_preview(result.path, layout)

    async def _preview(self, path: str, width: int, evidence: Evidence | None) -> None:
        # The next move of the cursor cancels the request during this pause.
        await asyncio.sleep(PREVIEW_PAUSE_SECONDS if self._model.debounce else 0.0)

        def read(engine: KnowledgeBase) -> TextLayout:
            return read_layout(engine, path, evidence, width, most=MOST_BYTES)

        try:
            layout = await self._client.run(read)
        except NotFound as error:
            self._show_preview(path, safe_line(str(error)))
        else:
            self._show_preview(path, self._kept.put((path, width), layout))

    def _show_preview(self, path: str, layout: TextLayout | str) -> None:
        """Show a preview, or why there is none, unless the cursor has moved on."""
        result, pane = self._current, self._pane
        if self.is_open or result is None or result.path != path:
            return
        if isinstance(layout, str):
            pane.show_gone(path, layout)
        elif not pane.shows(layout):
            pane.show(layout)

    # Opening.

    def open_document(
        self, path: str, *, line: int = 0, focus: bool = False, replace: bool = False
    ) -> None:
        """Open a document at a 1-based line, or with 0 at its best passage, or at `TOP`."""
        self._takes_focus, self._replaces = focus, replace
        if focus:  # a document that the cursor only passes does not count as opened
            self.count_opening(path)
        self._width = self._pane_width
        self._requests.start(self._read_document(path, line))

    def open_from(self, mode: str, asked: GoTo) -> None:
        """Open a document or card for a mode, to which going back from it returns."""
        self.history.clear()
        self.return_mode = mode if mode != "explore" else ""
        if asked.entity:
            self.open_card(asked.entity)
        else:
            self.open_document(asked.path, line=asked.line, focus=True)

    def open_card(self, entity_id: str, *, replace: bool = False) -> None:
        self._takes_focus, self._replaces = True, replace
        as_of = self._as_of.get(entity_id, "") if replace else ""
        self._requests.start(self._read_card(entity_id, as_of))

    def follow(self, target: str, source: str) -> None:
        self._takes_focus, self._replaces = True, False
        self._width = self._pane.text_width
        self._requests.start(self._follow(target, source))

    def count_opening(self, path: str) -> None:
        self._client.start(self._client.run(lambda engine: engine.documents.opened(path)))

    def lay_out(self, width: int) -> None:
        if not self.is_open:
            self.follow_cursor()
            return
        self._width = width
        if self._pane.preview is not None and not self._requests.is_running:
            self._requests.start(self._lay_out())

    def reload(self, paths: frozenset[str]) -> None:
        """Read the open document or card again if it may have changed, unless one is requested."""
        self._kept = LruCache(KEPT)
        path, pane = self._pane.path, self._screen.query_one(EntityCard)
        card = pane.card
        is_idle = not self._requests.is_running
        match self._panes.read:
            case "card" if card is not None and is_idle:
                self._requests.start(self._read_card(card.id, pane.as_of))
            case "document" if path in paths and is_idle:
                self._requests.start(self._read_document(path))
            case None if path in paths:
                self.follow_cursor()

    async def _read_document(self, path: str, line: int = 0) -> None:
        evidence = self._model.displayed.evidence

        def read(engine: KnowledgeBase) -> TextLayout:
            return read_layout(engine, path, evidence, self._width, line)

        try:
            self._show(await self._client.run(read))
        except NotFound as error:
            path = safe_line(path)
            self._pane.show_gone(path, safe_line(str(error)))
            self._arrive(("document", path), self._pane)

    async def _lay_out(self) -> None:
        source = self._pane.laid_out.source
        self._show(await self._client.run(lambda engine: lay_out(source, self._width)))

    def show_past(self) -> None:
        """Show a card as of the day of the document under the cursor, or all of it again."""
        pane = self._screen.query_one(EntityCard)
        if pane.card is not None and (pane.as_of or pane.current_date):
            as_of = "" if pane.as_of else pane.current_date
            self._requests.start(self._read_card(pane.card.id, as_of))
        else:
            self._screen.show_notice("select a dated document, to see what was known on that day")

    async def _read_card(self, entity_id: str, as_of: str = "") -> None:
        def read(engine: KnowledgeBase) -> tuple[Card, bool, int]:
            from kbx_tui.tui.explore.presenting import present_card

            card, undated = engine.entities.card(entity_id), 0
            if as_of:
                facts = (*card.facts, *card.open_items)
                undated += sum(not fact.date for fact in facts)
                undated += sum(not document.date for document in card.documents)
                card = engine.entities.card(entity_id, as_of=as_of)
            texts = filter(None, (card.role, card.team))
            is_redacted = any(engine.documents.is_redacted(card.path, text) for text in texts)
            return present_card(card), is_redacted, undated

        card, is_redacted, undated = await self._client.run(read)
        pane = self._screen.query_one(EntityCard)
        self._as_of[card.id] = as_of
        pane.show(card, as_of, undated=undated, is_redacted=is_redacted)
        self._arrive(("card", card.id), pane)

    async def _follow(self, target: str, source: str) -> None:
        destination = await self._client.run(lambda engine: engine.links.follow(target, source))
        if destination is None:
            self._takes_focus = False
            self._screen.show_notice(self._screen.app.leave_base(safe_line(target)))
        elif destination.entity_id:
            await self._read_card(destination.entity_id)
        else:
            await self._read_document(destination.path, destination.line)

    def _show(self, layout: TextLayout) -> None:
        self._pane.show(layout)
        self._arrive(("document", layout.preview.path), self._pane)

    def _arrive(self, step: Step, pane: Widget) -> None:
        if self._replaces or self.history[-1:] == [step]:
            del self.history[-1:]
        self.history = [*self.history, step][-MAX_STEPS:]
        self._replaces = False
        panes, focused = self._panes, self._screen.focused
        panes.show_reader(step[0], alone=bool(self.return_mode))
        if self._takes_focus or panes.is_covered(focused):
            self._takes_focus = False
            self._screen.set_focus(pane)
        else:
            self.give_way()  # the focus moved before this arrived

    # Going back.

    def back(self) -> None:
        """Return to the previous document or card, or from the first one to the previous pane."""
        self._requests.cancel()
        del self.history[-1:]
        match self.history[-1:]:
            case [("card", entity_id)]:
                self.open_card(entity_id, replace=True)
            case [(_, path)]:
                self.open_document(path, focus=True, replace=True)
            case _:
                mode = self.return_mode if self._has_focus else ""
                self._close()
                self._panes.go_to(self.origin)
                self.origin = "results"
                if mode:
                    self._screen.app.post_message(GoTo(mode))

    def toggle_preview(self) -> None:
        if self.is_open:
            self._close()
            if not isinstance(self._screen.focused, ResultList):
                self._panes.go_to("results")
        elif self._current is not None:
            self.open_document(self._current.path)

    def give_way(self) -> None:
        """Close the reader if it covers the results and no longer has the focus."""
        if self.is_open and self._panes.is_results_covered and not self._has_focus:
            self._close()
            self.origin = "results"

    def close_card(self) -> None:
        """Close a card of an earlier query; a document follows the results by itself."""
        if self._panes.read == "card" and not isinstance(self._screen.focused, EntityCard):
            self._close()
            self.origin = "results"

    def _close(self) -> None:
        self._requests.cancel()
        self.return_mode = ""
        self.history.clear()
        self._panes.show_reader(None)
        self.follow_cursor()

    @property
    def _current(self) -> ResultRow | None:
        return self._screen.query_one(ResultList).current

    @property
    def _pane_width(self) -> int:
        results = self._screen.query_one(ResultList)
        return self._pane.text_width or max(results.size.width - 3, LEAST_WIDTH)


# On the engine's thread.


def read_layout(
    engine: KnowledgeBase,
    path: str,
    evidence: Evidence | None,
    width: int,
    line: int = 0,
    *,
    most: int | None = None,
) -> TextLayout:
    """Return a document laid out, at `line` of the file, with 0 at its best passage, or at `TOP`.

    If the document is longer than `most` bytes, only its beginning is read. Raises NotFound.
    """
    read = partial(read_passage, engine, path)
    document = engine.documents.view(path, most=most)
    if evidence is None:
        preview = present_document(document, None, lambda text: (), read)
    else:
        snippet = read_snippets(engine, evidence, [path]).get(path)
        from kbx_tui.search.results.snippets import match_spans  # needs numpy

        query = evidence.document_query
        preview = present_document(document, snippet, lambda text: match_spans(text, query), read)
    if line:
        shown = preview.shown_line(max(line, 0))
        preview = replace(preview, line_start=shown, line_end=shown)
    return lay_out(preview, width)

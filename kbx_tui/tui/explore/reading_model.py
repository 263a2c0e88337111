"""Reads documents, passages and cards for the explore mode on the engine's thread."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.errors import NotFound
from kbx_tui.safe_text import safe_line, safe_lines
from kbx_tui.search.lru_cache import LruCache
from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.explore.displayed_search import read_snippets
from kbx_tui.tui.explore.view import (
    CardReady,
    CardView,
    LinkBroken,
    LivePreviewReady,
    PreviewGone,
    PreviewReady,
)
from kbx_tui.tui.reading.embeds import Passage, passage_of
from kbx_tui.tui.reading.markdown_lines import Preview
from kbx_tui.tui.reading.reading_layout import TextLayout, lay_out

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.results.response import Snippet


class ReadingModel:
    """The document or card being read in the explore mode."""

    def __init__(self, client: EngineClient, evidence: Callable[[], Evidence | None]) -> None:
        """`evidence` returns that of the query on the screen, for the best passage."""
        self._client, self._evidence = client, evidence
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
        self._requests = LatestOnly(client)
        self._width = 0
        """Cells of the pane that a document is laid out for."""
        self._preview: Preview | None = None
        """The document on the screen; None before the first, and for one that cannot be read."""

    def open_document(self, path: str, width: int, line: int = 0) -> None:
        """Read a document, and lay it out for a pane of `width` cells.

        It opens at a 1-based `line`; with 0 at its best passage.
        """
        self._width = width
        self._requests.start(self._read_document(path, line))

    def open_card(self, entity_id: str) -> None:
        """Read all that is known about an entity."""
        self._requests.start(self._read_card(entity_id))

    def follow(self, target: str, source: str, width: int) -> None:
        """Open the target of a link in the document at `source`."""
        self._width = width
        self._requests.start(self._follow(target, source))

    def reload(self, path: str) -> None:
        """Read the document on the screen again, unless another has been requested."""
        if not self._requests.is_running:
            self._requests.start(self._read_document(path))

    def reload_card(self, entity_id: str) -> None:
        """Read the card on the screen again, unless something else has been requested."""
        if not self._requests.is_running:
            self.open_card(entity_id)

    def lay_out(self, width: int) -> None:
        """Lay out the document on the screen for a pane of another width."""
        self._width = width
        if self._preview is not None and not self._requests.is_running:
            self._requests.start(self._lay_out(self._preview))

    def count_opening(self, path: str) -> None:
        """Count that the user opened a document, for its frecency."""
        self._client.start(self._client.run(lambda engine: engine.documents.opened(path)))

    async def whole_passage(self, path: str, snippet: Snippet) -> str:
        """Return the paragraphs of a document that a passage is in; empty if it is gone."""

        def read(engine: KnowledgeBase) -> str:
            lines = safe_lines(engine.documents.view(path).text)
            return whole_passage(lines, snippet.line_start, snippet.line_end)

        try:
            return await self._client.run(read)
        except NotFound:
            return ""

    def cancel(self) -> None:
        """Drop the active request."""
        self._requests.cancel()

    async def _read_document(self, path: str, line: int = 0) -> None:
        evidence = self._evidence()

        def read(engine: KnowledgeBase) -> TextLayout:
            return read_layout(engine, path, evidence, self._width, line)

        try:
            self._show(await self._client.run(read))
        except NotFound as error:
            self._preview = None
            self.post(PreviewGone(safe_line(path), safe_line(str(error))))

    async def _lay_out(self, preview: Preview) -> None:
        """Lay a document out on the engine's thread: a long one takes longer than a frame."""
        self._show(await self._client.run(lambda engine: lay_out(preview, self._width)))

    async def _read_card(self, entity_id: str) -> None:
        def read(engine: KnowledgeBase) -> CardView:
            from kbx_tui.tui.explore.presenting import present_card

            card = engine.entities.card(entity_id)
            return present_card(card, lambda text: engine.documents.is_redacted(card.path, text))

        self.post(CardReady(await self._client.run(read)))

    async def _follow(self, target: str, source: str) -> None:
        destination = await self._client.run(lambda engine: engine.links.follow(target, source))
        if destination is None:
            self.post(LinkBroken(safe_line(target)))
        elif destination.entity_id:
            await self._read_card(destination.entity_id)
        else:
            await self._read_document(destination.path, destination.line)

    def _show(self, layout: TextLayout) -> None:
        self._preview = layout.preview
        self.post(PreviewReady(layout))


def read_layout(
    engine: KnowledgeBase,
    path: str,
    evidence: Evidence | None,
    width: int,
    line: int = 0,
    *,
    most: int | None = None,
) -> TextLayout:
    """Return a document as its file is now, laid out for a pane of `width` cells.

    It opens at `line` of the file; with 0, at the best passage. Of a document longer than `most`
    bytes only the beginning is read. Raises NotFound.
    """
    preview = _read_preview(engine, path, evidence, most)
    if line:
        shown = preview.shown_line(line)
        preview = replace(preview, line_start=shown, line_end=shown)
    return lay_out(preview, width)


def _read_preview(
    engine: KnowledgeBase, path: str, evidence: Evidence | None, most: int | None
) -> Preview:
    """Return the document, with matches and its best passage when there is a query."""
    from kbx_tui.tui.explore.presenting import present_document

    def read(target: str) -> Passage | None:
        return _read_passage(engine, target, path)

    document = engine.documents.view(path, most=most)
    if evidence is None:
        return present_document(document, None, lambda text: (), read)
    snippet = read_snippets(engine, evidence, [path]).get(path)
    from kbx_tui.search.results.snippets import match_spans  # needs numpy

    def spans(text: str) -> tuple[tuple[int, int], ...]:
        return match_spans(text, evidence.document_query)

    return present_document(document, snippet, spans, read)


def _read_passage(engine: KnowledgeBase, target: str, source: str) -> Passage | None:
    """Return what to show of a note that the document at `source` embeds; None without one."""
    destination = engine.links.follow(target, source)
    if destination is None or not destination.path or destination.path == source:
        return None
    if destination.heading and not destination.line:
        return None  # no such section: the link says what was meant
    try:
        note = engine.documents.view(destination.path)
    except NotFound:
        return None
    lines = safe_lines(note.text)
    if destination.line > len(lines):  # the file has changed since it was indexed
        return None
    return passage_of(lines, destination.line, note.redacted_lines)


PAUSE_SECONDS = 0.06
"""Seconds the cursor has to rest on a result before its document is read."""
KEPT = 16
"""Documents kept for the query on the screen."""


MOST_BYTES = 250_000
"""Bytes of a document that are previewed: its best passage is among the first 60,000 characters.
To read all of a very long page would make the next search wait."""


class LivePreview:
    """The documents previewed last, laid out for the query on the screen."""

    def __init__(
        self,
        client: EngineClient,
        evidence: Callable[[], Evidence | None],
        *,
        pause: float = PAUSE_SECONDS,
    ) -> None:
        """`evidence` returns that of the query on the screen, for matches and the best passage."""
        self._client, self._evidence, self._pause = client, evidence, pause
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
        self._requests = LatestOnly(client)
        self._kept = LruCache[tuple[str, int], TextLayout](KEPT)
        """By path and width."""
        self._kept_for: object = None

    def show(self, path: str, width: int) -> None:
        """Show a document for a pane of `width` cells: at once if it was kept, else once read."""
        evidence = self._evidence()
        query = evidence.as_typed if evidence is not None else None
        if query is not self._kept_for:
            self.forget()
            self._kept_for = query
        self._requests.cancel()
        layout = self._kept.get((path, width))
        if layout is None:
            self._requests.start(self._read(path, width, evidence))
        else:
            self.post(LivePreviewReady(path, layout))

    def forget(self) -> None:
        """Read every document again when it is shown next: the query or files have changed."""
        self._kept = LruCache(KEPT)

    async def _read(self, path: str, width: int, evidence: Evidence | None) -> None:
        await asyncio.sleep(self._pause)  # the next move of the cursor cancels it here
        try:
            layout = await self._client.run(
                lambda engine: read_layout(engine, path, evidence, width, most=MOST_BYTES)
            )
        except NotFound as error:
            self.post(LivePreviewReady(path, None, safe_line(str(error))))
        else:
            self.post(LivePreviewReady(path, self._kept.put((path, width), layout)))


_BLOCK = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|\||>|```|~~~)")
"""The beginning of a list item, heading, table row, quotation or code block."""


def whole_passage(lines: Sequence[str], start: int, end: int) -> str:
    """Return lines `start` to `end` (1-based), extended to whole paragraphs and list items.

    Empty if the document has no such lines.
    """
    if not 1 <= start <= min(end, len(lines)):
        return ""
    first, last = start - 1, min(end, len(lines)) - 1
    while first and lines[first].strip() and _continues(lines[first - 1], lines[first]):
        first -= 1
    while last + 1 < len(lines) and _continues(lines[last], lines[last + 1]):
        last += 1
    return "\n".join(lines[first : last + 1]).strip("\n")


def _continues(line: str, following: str) -> bool:
    """Return whether a line and the one after it are in one paragraph or list item."""
    if not (line.strip() and following.strip()) or _BLOCK.match(following):
        return False
    return not line.lstrip().startswith(("#", "|", "```", "~~~"))

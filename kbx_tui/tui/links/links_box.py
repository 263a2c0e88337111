"""The links box: what links to a document and from it, above explore; a mention becomes a link."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from kbx_tui.errors import KbxError
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.links.link_rows import LinkRow, counts, link_rows
from kbx_tui.tui.links.links_list import LinksList
from kbx_tui.tui.shell.box_screen import BoxScreen
from kbx_tui.tui.widgets.lines_view import dim_text

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.plans import Written
    from kbx_tui.search.links.link_records import DocumentLinks, UnlinkedMention

NOTHING = "Nothing links here and no name of it is mentioned elsewhere; it has no links itself."


def open_links(explore: Explore, path: str) -> None:
    """Open the box above explore, which then opens what the user chose."""
    explore.app.push_screen(LinksBox(explore, path), partial(_open, explore))


def _open(explore: Explore, row: LinkRow | None) -> None:
    if row is None:
        return
    if row.path:
        explore.reader.open_document(row.path, line=row.line, focus=True)
    elif row.entity_id:
        explore.reader.open_card(row.entity_id)


class LinksBox(BoxScreen[LinkRow | None]):
    """An overlay on explore. Dismissed with the row to open, or None."""

    SCOPES = ("links", "list", "app")
    AUTO_FOCUS = "LinksList"

    def __init__(self, explore: Explore, path: str) -> None:
        super().__init__()
        self._explore, self._path = explore, path
        self._notice = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="links"):
            yield LinksList()

    def on_mount(self) -> None:
        self._box.border_title = Content(f"Links of {safe_line(self._path)}")
        self._box.border_subtitle = "reading …"
        self._explore.session.client.start(self._read())

    @property
    def _box(self) -> Vertical:
        return self.query_one("#links", Vertical)

    # Reading and showing.

    async def _read(self) -> None:
        def read(engine: KnowledgeBase) -> DocumentLinks:
            return engine.links(self._path)

        try:
            links = await self._explore.session.client.run(read)
        except KbxError as error:
            self._show_error(error)
            return
        if self.is_attached:
            self._show(links)

    def _show(self, links: DocumentLinks) -> None:
        shown = self.query_one(LinksList)
        shown.empty_state = dim_text(NOTHING)
        shown.show(link_rows(links))
        self._box.border_title = Content(f"“{safe_line(links.title)}”: {counts(shown.rows)}")
        self._show_keys()

    def _show_keys(self) -> None:
        keymap, row = self._explore.navigator.keymap, self.query_one(LinksList).current
        take, make, undo, close = (
            keymap.key_of(f"links.{name}") for name in ("take", "make", "undo", "close")
        )
        parts = [f"{take} read", f"{close} close"]
        if row is not None and row.mention is not None and keymap.offers("links.make"):
            parts.insert(1, f"{make} make it a link")
        if self._notice:
            parts = [self._notice, f"{undo} takes it back"]
        self._box.border_subtitle = Content(" · ".join(parts))

    def _show_error(self, error: KbxError) -> None:
        """Show an error in the box or, once that is closed, to explore."""
        if not self.is_current:
            raise error
        self._box.border_subtitle = Content(safe_line(str(error)))

    # What the user does.

    @on(LinksList.Moved)
    def moved(self) -> None:
        self._notice = ""
        self._show_keys()

    @on(LinksList.Opened)
    def open_row(self, event: LinksList.Opened) -> None:
        self.dismiss(event.row)

    def action_make(self) -> None:
        """Make the mention under the cursor a link."""
        row = self.query_one(LinksList).current
        if row is not None and row.mention is not None:
            self._explore.session.client.start(self._make(row.mention))
        else:
            self._box.border_subtitle = "only a mention without a link can become one"

    def action_undo(self) -> None:
        self._explore.model.undo()

    def action_close(self) -> None:
        self.dismiss(None)

    async def _make(self, mention: UnlinkedMention) -> None:
        client = self._explore.session.client

        def write(engine: KnowledgeBase) -> Written:
            return engine.link_mention(mention, self._path)

        try:
            written = await client.run(write)
        except KbxError as error:
            self._show_error(error)
            return
        if written.entry is not None:
            number = written.entry
            self._explore.model.remember(lambda: client.start(self._take_back(number)))
        self._index([mention.path])
        self._notice = f"linked in {safe_line(f'{mention.path}:{mention.line}')}"
        if self.is_attached:
            await self._read()

    async def _take_back(self, number: int) -> None:
        client = self._explore.session.client
        entry = await client.run(lambda engine: engine.undo(number))
        self._index([change.path for change in entry.changes])
        self._notice = ""
        words = f"undone: {safe_line(entry.description)}"
        if self.is_attached:
            await self._read()
        if self.is_attached:  # it may have been closed while it was read
            self._box.border_subtitle = Content(words)
        else:
            self._explore.show_notice(words)

    def _index(self, written: Sequence[str]) -> None:
        """Index files that were written here, without announcing them as changed on disk."""
        index_sync = self._explore.session.index_sync
        index_sync.expect(written)
        index_sync.index(maybe_changed=written)

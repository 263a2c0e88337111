"""Boxes above explore: the links of a document, mentions to make links; what is related to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.search.link_records import (
    NOTHING_RELATED,
    DocumentLinks,
    RelatedDocuments,
    UnlinkedMention,
)
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import Line, Span, fit, highlight, looks, shorten, shorten_start
from kbx_tui.tui.shell.frame_screen import ModeBox, ModeScreen
from kbx_tui.tui.widgets.lines_view import RowsView, Slot, dim_text, dim_title

Kind = Literal["backlink", "mention", "outgoing", "broken", "related"]
NOUNS: dict[Kind, str] = {
    "backlink": "backlink",
    "mention": "mention",
    "outgoing": "outgoing link",
    "broken": "broken link",
    "related": "related document",
}


@dataclass(frozen=True, slots=True)
class LinkRow:
    kind: Kind
    title: str
    """The title of the other document, or the target of a broken link."""
    place: str
    """Where the link is: `memory/notes/plan.md:12`, `line 12`, or `in a property`."""
    text: str
    path: str = ""
    line: int = 0
    """1-based line to open the document at, 0 for the beginning."""
    entity_id: str = ""
    mention: UnlinkedMention | None = None


def link_rows(links: DocumentLinks) -> tuple[LinkRow, ...]:
    backlinks = [
        LinkRow("backlink", safe_line(each.title), _place(each.path, each.line),
                safe_line(each.text) if each.line else "in a property", each.path, each.line)
        for each in links.backlinks
    ]  # fmt: skip
    mentions = [
        LinkRow("mention", safe_line(each.title), _place(each.path, each.line),
                safe_line(each.text), each.path, each.line, mention=each)
        for each in links.mentions
    ]  # fmt: skip
    outgoing = [
        LinkRow("outgoing", safe_line(each.title), _place("", each.line), "", each.path,
                entity_id=each.entity_id)
        for each in links.outgoing
    ]  # fmt: skip
    broken = [
        LinkRow("broken", safe_line(f"[[{each.target}]]"), _place("", each.line),
                _suggestions(each.suggestions), each.path, each.line)
        for each in links.broken
    ]  # fmt: skip
    return (*backlinks, *mentions, *outgoing, *broken)


def related_rows(found: RelatedDocuments) -> tuple[LinkRow, ...]:
    return tuple(
        LinkRow("related", safe_line(each.title), safe_line(each.path), safe_line(each.reason),
                each.path)
        for each in found.related
    )  # fmt: skip


def group_title(rows: tuple[LinkRow, ...], kind: Kind) -> str:
    """Return the title of a group, such as `3 mentions without a link`."""
    count = format_count(sum(row.kind == kind for row in rows), NOUNS[kind])
    return f"{count} without a link" if kind == "mention" else count


def counts(rows: tuple[LinkRow, ...]) -> str:
    numbers = {kind: sum(row.kind == kind for row in rows) for kind in NOUNS}
    parts = [format_count(number, NOUNS[kind]) for kind, number in numbers.items() if number]
    return ", ".join(parts) or "nothing"


def _suggestions(paths: tuple[str, ...]) -> str:
    maybe = f"; may mean {safe_line(', '.join(paths))}" if paths else ""
    return f"leads to nothing{maybe}"


def _place(path: str, line: int) -> str:
    if not line:
        return safe_line(path) if path else "in a property"
    return safe_line(f"{path}:{line}") if path else f"line {line}"


INDENT = 5


class LinksList(RowsView[LinkRow]):
    BINDINGS = [*bindings("links"), *bindings("list")]  # noqa: RUF012  # as in Textual
    COMPONENT_CLASSES = looks("strong", "accent", "cursor", "bad")

    def row_heights(self) -> list[int]:
        return [1 + bool(row.text) for row in self.rows]

    def slots(self) -> Sequence[Slot | Line]:
        if len({row.kind for row in self.rows}) == 1:
            return self.row_slots()  # the title of the box says the same
        return self.grouped(
            lambda row: row.kind, lambda row: dim_title(group_title(self.rows, row.kind))
        )

    def row_line(self, row: int, part: int, width: int) -> Line:
        each = self.rows[row]
        if part:
            return (Span(" " * INDENT), *self._text(each, width - INDENT - 1))
        room = max(width - 4 - min(cell_len(each.place), width // 2), 8)
        title = fit(shorten(each.title, room), room)
        place = shorten_start(each.place, width - room - 4)
        return (
            Span(" › " if row == self.cursor else "   ", "accent"),
            Span(title, "bad" if each.kind == "broken" else "strong"),
            Span(f" {place}", "dim"),
        )

    def _text(self, row: LinkRow, width: int) -> Line:
        text, name = row.text, row.mention.name if row.mention is not None else ""
        start = text.find(name) if name else -1
        if start + len(name) > width - 2:  # begin shortly before the name
            text = "… " + text[text.find(" ", max(start - width // 2, 0), start) + 1 :]
            start = text.find(name)
        text = shorten(text, max(width, 1))
        return highlight(text, [(start, start + len(name))] if start >= 0 else [], "text")

    def cursor_moved(self) -> None:
        self.rebuild_lines()
        super().cursor_moved()


NOTHING = "Nothing links here and no name of it is mentioned elsewhere; it has no links itself."


class LinksBox(ModeBox[LinkRow | None]):
    SCOPES = ("links", "list", "app")
    AUTO_FOCUS = "LinksList"
    OF, EMPTY = "Links of", NOTHING

    def __init__(self, below: ModeScreen, path: str) -> None:
        super().__init__(below)
        self._path, self._notice = path, ""

    def compose(self) -> ComposeResult:
        with Vertical(id="links"):
            yield LinksList()

    def on_mount(self) -> None:
        self._box.border_title = Content(f"{self.OF} {safe_line(self._path)}")
        self._box.border_subtitle = "reading …"
        self._client.start(self._read())

    # Reading and showing.

    async def _read(self) -> None:
        found = await self._title_and_rows()
        if found is None or not self.is_attached:
            return
        title, rows = found
        shown = self.query_one(LinksList)
        shown.empty_state = dim_text(self.EMPTY)
        shown.show_at(rows, shown.cursor)
        self._box.border_title = Content(f"“{safe_line(title)}”: {counts(rows)}")
        self._show_keys()

    async def _title_and_rows(self) -> tuple[str, tuple[LinkRow, ...]] | None:
        links = await self._ask(lambda engine: engine.links.of(self._path))
        return None if links is None else (links.title, link_rows(links))

    def _show_keys(self) -> None:
        keymap, row = self._below.app.keymap, self.query_one(LinksList).current
        take, make, undo, close = (
            keymap.key_of(f"links.{name}") for name in ("take", "make", "undo", "close")
        )
        parts = [f"{take} read", f"{close} close"]
        if row is not None and row.mention is not None and keymap.offers("links.make"):
            parts.insert(1, f"{make} make it a link")
        if self._notice:
            parts = [self._notice, f"{undo} takes it back"]
        self._box.border_subtitle = Content(" · ".join(parts))

    # What the user does.

    @on(RowsView.Moved)
    def moved(self) -> None:
        self._notice = ""
        self._show_keys()

    @on(RowsView.Opened)
    def open_row(self, event: RowsView.Opened) -> None:
        self.dismiss(event.row)

    def action_make(self) -> None:
        row = self.query_one(LinksList).current
        if row is not None and row.mention is not None:
            self._client.start(self._make(row.mention))
        else:
            self._box.border_subtitle = "only a mention without a link can become one"

    async def _make(self, mention: UnlinkedMention) -> None:
        written = await self._ask(lambda engine: engine.links.link(mention, self._path))
        if written is None:
            return
        if (number := written.entry) is not None:
            self._model.remember(lambda: self._client.start(self._take_back(number)))
        self._index([mention.path])
        self._notice = f"linked in {safe_line(f'{mention.path}:{mention.line}')}"
        if self.is_attached:
            await self._read()

    async def _take_back(self, number: int) -> None:
        entry = await self._client.run(lambda engine: engine.undo(number))
        self._index([change.path for change in entry.changes])
        self._notice = ""
        words = f"undone: {safe_line(entry.description)}"
        if self.is_attached:
            await self._read()
        if self.is_attached:  # the box may have been closed during the call
            self._box.border_subtitle = Content(words)
        else:
            self._below.show_notice(words)

    def _index(self, written: Sequence[str]) -> None:
        """Index files that the app has written, without reporting them as changed on disk."""
        index_sync = self._below.session.index_sync
        index_sync.expect(written)
        index_sync.index(maybe_changed=written)


MOST_RELATED = 20


class RelatedBox(LinksBox):
    OF, EMPTY = "Related to", f"{NOTHING_RELATED[0].upper()}{NOTHING_RELATED[1:]}."

    async def _title_and_rows(self) -> tuple[str, tuple[LinkRow, ...]] | None:
        found = await self._ask(lambda engine: engine.related(self._path, MOST_RELATED))
        if found is not None:
            self._notice = safe_line(" · ".join(found.notes))
        return None if found is None else (found.title, related_rows(found))

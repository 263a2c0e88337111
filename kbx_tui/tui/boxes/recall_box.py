"""The recall box: find an earlier query and run it with its settings, or save one under a name."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz
from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from kbx_tui.formatting import format_minute
from kbx_tui.knowledge.folding import fold
from kbx_tui.safe_text import safe_line
from kbx_tui.search.query_history import News, PastQuery, SavedQuery
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import Line, Span, fit, shorten
from kbx_tui.tui.explore.search_state import SearchState, settings_words, state_of, stored_settings
from kbx_tui.tui.shell.frame_screen import ModeBox, ModeScreen
from kbx_tui.tui.widgets.input_fields import OrderedInput
from kbx_tui.tui.widgets.lines_view import BoxList, RowsView, dim_text

LEAST_SIMILARITY = 70.0
"""Lowest similarity of a listed query to the typed text, 0..100, if none contains its words."""
UNITS = (("y", 365 * 86_400), ("d", 86_400), ("h", 3_600), ("min", 60))


@dataclass(frozen=True, slots=True)
class RecallRow:
    kind: Literal["saved", "past", "document"]
    text: str
    name: str = ""
    """The name of a saved query; `new` or `changed` for a document."""
    found: str = ""
    when: str = ""
    detail: str = ""
    state: SearchState | None = None
    """What to search for; None for a document, or if the stored settings cannot be read."""
    path: str = ""


def recall_rows(
    saved: Sequence[SavedQuery],
    past: Sequence[PastQuery],
    usual: SearchState,
    now: float | None = None,
) -> list[RecallRow]:
    """Return saved queries by name, then past ones, the most recent first."""
    now = time.time() if now is None else now
    rows = []
    for one in saved:
        state = state_of(one.query, one.settings)
        rows.append(
            RecallRow(
                "saved",
                safe_line(one.query),
                name=safe_line(one.name),
                when=ago(now - one.at),
                detail=_settings(state, usual),
                state=state,
            )
        )
    for each in past:
        state = state_of(each.query, each.settings)
        first = f"found {', '.join(map(safe_line, each.first))}" if each.first else ""
        rows.append(
            RecallRow(
                "past",
                safe_line(each.query),
                found="" if each.found is None else f"{each.found:,}",
                when=ago(now - each.at) if each.at else "",
                detail=" · ".join(filter(None, (_settings(state, usual), first))),
                state=state,
            )
        )
    return rows


def document_rows(news: News) -> list[RecallRow]:
    return [
        RecallRow(
            "document",
            safe_line(each.title) or safe_line(each.path),
            name="new" if each.is_new else "changed",
            found=safe_line(each.date[:FOUND]),
            detail=safe_line(each.path),
            path=each.path,
        )
        for each in news.results
    ]


def news_words(news: News) -> str:
    """Return how many documents are new and changed, such as `2 new, 1 changed`."""
    new = sum(each.is_new for each in news.results)
    changed = len(news.results) - new
    counts = (f"{new} new" if new else "", f"{changed} changed" if changed else "")
    return ", ".join(filter(None, counts)) or "nothing new"


def matching(rows: Sequence[RecallRow], text: str) -> list[RecallRow]:
    """Return the rows that contain all words of a text; if none does, similar ones, best first."""
    words = fold(text).split()
    texts = [fold(f"{row.name} {row.text}") for row in rows]
    held = [row for row, of in zip(rows, texts, strict=True) if all(w in of for w in words)]
    if held or not words:
        return held
    scores = [fuzz.partial_ratio(fold(text), of) for of in texts]
    similar = [number for number, score in enumerate(scores) if score >= LEAST_SIMILARITY]
    return [rows[number] for number in sorted(similar, key=lambda number: -scores[number])]


def ago(seconds: float) -> str:
    """Return how long ago something was, in the largest unit, such as `3h ago` or `now`."""
    for name, size in UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{name} ago"
    return "now"


def _settings(state: SearchState | None, usual: SearchState) -> str:
    return "its settings cannot be read" if state is None else settings_words(state, usual)


FOUND, WHEN = 10, 10
NAME = 24
WHEN_FROM = 60


class RecallList(BoxList[RecallRow]):
    def detail(self) -> str:
        return self.current.detail if self.current is not None else ""

    def row_line(self, row: int, part: int, width: int) -> Line:
        each = self.rows[row]
        name = fit(f"{shorten(each.name, NAME)} ", self._name_width()) if each.name else ""
        when = f"{each.when:>{WHEN}}" if width >= WHEN_FROM else ""
        room = max(width - 4 - cell_len(name) - FOUND - len(when), 1)
        return (
            Span(" › " if row == self.cursor else "   ", "accent"),
            Span(name, "accent"),
            Span(fit(shorten(each.text, room), room), "strong"),
            Span(f"{each.found:>{FOUND}}"),
            Span(when, "dim"),
        )

    def _name_width(self) -> int:
        return min(max(cell_len(row.name) for row in self.rows), NAME) + 2


@dataclass(frozen=True, slots=True)
class Recalled:
    state: SearchState
    notice: str = ""
    path: str = ""


class RecallLine(OrderedInput):
    BINDINGS = bindings("recall")


class RecallBox(ModeBox[Recalled | None]):
    """Dismissed with the query to run, or None; `naming` asks for a name for the current one."""

    AUTO_FOCUS = "RecallLine"

    def __init__(self, below: ModeScreen, *, naming: bool) -> None:
        super().__init__(below)
        self._naming = naming
        self._rows: list[RecallRow] = []
        self._saved: tuple[SavedQuery, ...] = ()
        self._opened: RecallRow | None = None
        self._news = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="recall"):
            yield RecallLine("a name for this query" if self._naming else "words of a query")
            yield RecallList()

    def on_mount(self) -> None:
        self._show_title()
        self._client.start(self._read())

    @property
    def _list(self) -> RecallList:
        return self.query_one(RecallList)

    @property
    def _text(self) -> str:
        return self.query_one(RecallLine).value.strip()

    # Reading and showing.

    async def _read(self) -> None:
        self._saved = await self._client.run(lambda engine: engine.queries.saved())
        past = [] if self._naming else self._below.app_state.past
        self._rows = recall_rows(self._saved, past, self._model.defaults)
        if self.is_attached:
            self._show_rows()

    def _show_rows(self) -> None:
        if self._naming:
            empty = "Nothing is saved yet. Type a name; the query is saved with its settings."
        elif self._rows:
            empty = "No query is like that."
        else:
            empty = "No query has been asked yet. Those you ask are listed here."
        self._list.empty_state = dim_text(empty)
        self._list.show(matching(self._rows, self._text))

    def _show_title(self) -> None:
        keymap = self._below.app.keymap
        take, drop, close = map(keymap.key_of, ("recall.take", "recall.drop", "recall.close"))
        query = safe_line(self._model.state.query)
        if self._opened is not None:
            title, keys = f"{self._opened.name}: {self._news}", f"{take} go to it · {close} results"
        elif self._naming:
            title, keys = f"Save “{query}”", f"{take} save · {drop} remove saved"
        else:
            title, keys = "Queries asked before", f"{take} run"
            if keymap.offers("recall.drop"):
                keys += f" · {drop} remove saved"
        end = "" if self._opened is not None else f" · {close} close"
        self._box.border_title = Content(title)
        self._box.border_subtitle = Content(f"{keys}{end}")

    # What the user does.

    @on(Input.Changed)
    def find(self) -> None:
        if self._opened is None:
            self._show_rows()

    @on(RowsView.Opened)
    def action_take(self) -> None:
        row = self._list.current
        if self._naming:
            self._client.start(self._save(self._text or (row.name if row else "")))
        elif row is None:
            return
        elif self._opened is not None and self._opened.state is not None:
            self.dismiss(Recalled(self._opened.state, self._news, row.path))
        elif row.state is None:
            self._box.border_subtitle = "its settings cannot be read"
        elif row.kind == "saved":
            self._box.border_subtitle = "comparing …"
            self._client.start(self._open(row, row.state))
        else:
            self.dismiss(Recalled(row.state))

    def action_drop(self) -> None:
        row = self._list.current
        saved = [one for one in self._saved if row is not None and safe_line(one.name) == row.name]
        if self._opened is None and row is not None and row.kind == "saved" and saved:
            self._client.start(self._drop(saved[0]))

    def action_close(self) -> None:
        state = self._opened.state if self._opened is not None else None
        self.dismiss(None if state is None else Recalled(state, self._news))

    async def _save(self, name: str) -> None:
        state = self._model.state
        saved = await self._ask(
            lambda engine: engine.queries.save(name, state.request(), stored_settings(state))
        )
        if saved is None:
            return
        if self.is_current:
            self.dismiss(None)
        key = self._below.app.keymap.key_of("history.open")
        self._below.show_notice(f"saved as {saved.name}; {key} lists it")

    async def _open(self, row: RecallRow, state: SearchState) -> None:
        names = (one.name for one in self._saved if safe_line(one.name) == row.name)
        name = next(names, row.name)  # the query may just have been removed
        news = await self._ask(lambda engine: engine.queries.open(name, state.request()))
        if news is None or not self.is_current:  # it failed, or was closed
            return
        since = format_minute(news.saved.at)
        self._news = f"{news_words(news)} since {since}"
        if not news.results:
            self.dismiss(Recalled(state, f"{row.name}: {self._news}"))
            return
        self._opened = row
        self._show_title()
        self._list.show(document_rows(news))

    async def _drop(self, saved: SavedQuery) -> None:
        client = self._client

        def restore() -> None:
            client.start(client.run(lambda engine: engine.queries.restore(saved)))
            self._below.show_notice(f"{safe_line(saved.name)} is saved again")

        await client.run(lambda engine: engine.queries.remove(saved.name))
        self._model.remember(restore)
        if self.is_current:
            await self._read()

"""A minimal app with a preview pane, and documents to show in it."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import PurePath

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from kbx_tui.safe_text import safe_lines
from kbx_tui.tui.reading.documents import front_summary
from kbx_tui.tui.reading.markdown_lines import Place, Preview, render_inline
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.reading.reading_layout import lay_out
from kbx_tui.tui.terminal_app import styles_folder

READING_STYLES: list[str | PurePath] = [
    styles_folder() / name for name in ("looks.tcss", "reading.tcss")
]
SIZES = pytest.mark.parametrize("size", [(140, 40), (80, 24), (50, 16)], ids=str)
NOTE = "\n".join(
    [
        "---",
        "team: '[[Platform]]'",
        "---",
        "# Rollback plan",
        "",
        "Written by [[Bob Okafor|Bob]] for the migration, see [steps](steps.md).",
        *(f"- line {number}" for number in range(7, 40)),
        "The migration can go back, says [[Alice Chen]].",
        *(f"- line {number}" for number in range(41, 80)),
        "After the migration nobody goes back.",
    ]
)


def preview_of(
    text: str = NOTE, best: tuple[int, int] = (0, 0), words: str = "migration", path: str = "n/p.md"
) -> Preview:
    lines, kinds, links, emphasis = render_inline(safe_lines(text))
    matches = tuple(
        Place(number, *match.span())
        for number, line in enumerate(lines, 1)
        for match in re.finditer(words, line)
    )
    return Preview(
        path,
        "Rollback plan",
        "2026-01-30",
        lines,
        *best,
        matches,
        links,
        kinds=kinds,
        emphasis=emphasis,
        front_summary=front_summary(text, kinds),
    )


class PreviewApp(App[None]):
    """Lays out again on request, unless the test does."""

    CSS_PATH = READING_STYLES
    CSS = "PreviewPane { border: round $accent; }"
    answers = True
    shown = True

    def compose(self) -> ComposeResult:
        self.messages: list[Message] = []
        pane = PreviewPane()
        pane.display = self.shown
        yield pane

    @property
    def pane(self) -> PreviewPane:
        return self.query_one(PreviewPane)

    @property
    def followed(self) -> list[PreviewPane.Followed]:
        return [event for event in self.messages if isinstance(event, PreviewPane.Followed)]

    @property
    def resized(self) -> list[PreviewPane.Resized]:
        return [event for event in self.messages if isinstance(event, PreviewPane.Resized)]

    @on(PreviewPane.Followed)
    @on(PreviewPane.Resized)
    def record(self, event: Message) -> None:
        self.messages.append(event)

    @on(PreviewPane.Resized)
    def lay_out(self, event: PreviewPane.Resized) -> None:
        if self.answers and self.pane.preview is not None:
            self.pane.show(lay_out(self.pane.preview, event.width))

    def rows(self) -> list[str]:
        """Return the text of the pane, row by row."""
        pane = self.pane
        return [pane.render_line(y).text.rstrip() for y in range(pane.visible_height)]

    def highlighted_words(self) -> list[str]:
        """Return the words drawn as the current match or link."""
        here = self.pane.get_component_rich_style("look--here")
        strips = [self.pane.render_line(y) for y in range(self.pane.visible_height)]
        return [segment.text for strip in strips for segment in strip if segment.style == here]


@asynccontextmanager
async def reading(
    preview: Preview, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[PreviewApp, Pilot[None]]]:
    app = PreviewApp()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        app.pane.focus()
        app.pane.show(lay_out(preview, app.pane.text_width))
        app.messages.clear()
        await pilot.pause()
        yield app, pilot

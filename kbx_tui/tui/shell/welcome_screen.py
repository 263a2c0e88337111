"""Which knowledge base to open: the first screen without one, and the way to another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen
from textual.suggester import Suggester
from textual.widgets import Input

from kbx_tui.safe_text import visible
from kbx_tui.tui.app_state import Memory
from kbx_tui.tui.bases import Bases, folders_below, is_folder
from kbx_tui.tui.controller import reason
from kbx_tui.tui.widgets.choices import Choice, Choices
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from kbx_tui.tui.app import KbxApp

DEMO = Choice("demo", "Open the demo", "a fictional company, to look around in")
FOLDER = Choice("folder", "Choose a folder", "markdown you have; nothing in it is changed")
NEW = Choice("new", "Start a new one", "empty, with a page on what goes where")


class Welcome(Screen[Path | None]):
    """Three choices, and the bases opened before. Dismissed with a root, or None to go back."""

    AUTO_FOCUS = "Choices"

    def __init__(
        self, bases: Bases, memory: Memory, *, why: str = "", leaving: bool = False
    ) -> None:
        """`why` says why there is no base to open; `leaving` that one is open already."""
        super().__init__()
        self.bases, self.memory, self.why, self.leaving = bases, memory, why, leaving
        self._making: Callable[[str], Path] = bases.existing

    def compose(self) -> ComposeResult:
        with Vertical(id="welcome"):
            yield Choices(self._choices())
            yield FolderLine()
        yield StatusLine()
        yield KeyBar()

    def on_mount(self) -> None:
        choices = self.query_one(Choices)
        choices.border_title = "Open another knowledge base" if self.leaving else "kbx"
        choices.about = () if self.leaving else (ABOUT, _reason(self.why))
        choices.lines_changed()
        self.query_one(KeyBar).use(cast("KbxApp", self.app).keymap)
        self.query_one(KeyBar).show("welcome", "list", "app")
        self.query_one(FolderLine).border_title = "folder"

    @on(Choices.Taken)
    def take(self, event: Choices.Taken) -> None:
        if event.choice.id in (FOLDER.id, NEW.id):
            is_new = event.choice.id == NEW.id
            self._making = self.bases.new if is_new else self.bases.existing
            self._ask_for_folder("~/notes/" if is_new else "")
        elif event.choice.id == DEMO.id:
            self._open(self.bases.demo)
        else:
            root = event.choice.id
            self._open(lambda: self.bases.existing(root))

    @on(Input.Submitted)
    def take_folder(self, event: Input.Submitted) -> None:
        folder = event.value.strip()
        if folder:
            self._open(lambda: self._making(folder))

    def action_back(self) -> None:
        if self.query_one(FolderLine).display:
            self.query_one(FolderLine).display = False
            self.set_focus(self.query_one(Choices))
        elif self.leaving:
            self.dismiss(None)

    def action_help(self) -> None:
        cast("KbxApp", self.app).show_help()

    def action_leave(self) -> None:
        self.app.exit()

    def _choices(self) -> list[Choice]:
        recent = [
            Choice(base, visible(Path(base).name), visible(_short(base)))
            for base in self.memory.user.bases
            if is_folder(base)
        ]
        return [*recent, FOLDER, DEMO, NEW] if recent else [DEMO, FOLDER, NEW]

    def _ask_for_folder(self, start: str) -> None:
        line = self.query_one(FolderLine)
        line.display = True
        line.value = start
        line.cursor_position = len(start)
        self.set_focus(line)

    @work(exclusive=True, exit_on_error=False)
    async def _open(self, find: Callable[[], Path]) -> None:
        """Find or make the base on another thread: that reads the disk."""
        self.query_one(StatusLine).show_progress("looking …")
        try:
            root = await asyncio.to_thread(find)
        except Exception as error:
            self.query_one(StatusLine).show_error(reason(error))
            return
        finally:
            self.query_one(StatusLine).show_progress("")
        if self.leaving:
            self.dismiss(root)
        else:
            app = cast("KbxApp", self.app)
            app.call_later(app.open_base, root)  # not in a worker of the screen that goes


class FolderLine(Input):
    """Where a folder is typed; the next one on disk stands behind the cursor."""

    def __init__(self) -> None:
        super().__init__(placeholder="a folder, as ~/notes", compact=True, suggester=_Folders())
        self.cursor_blink = False

    async def key_tab(self, event: events.Key) -> None:
        """Take the completion, and stay."""
        event.stop()
        self.cursor_position = len(self.value)
        self.action_cursor_right()

    async def key_escape(self) -> None:
        """Back to the choices."""
        await self.run_action("screen.back")


class _Folders(Suggester):
    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        if not value:
            return None
        folders = await asyncio.to_thread(folders_below, value)
        return folders[0] if folders else None


ABOUT = (
    "Search a folder of markdown: first the people, projects and teams a query is about, then the"
    " documents that belong to them."
)


def _reason(why: str) -> str:
    """Return why there is no base, without what one would do on a command line."""
    what = visible(why).partition(": ")[0]
    return f"{what[:1].upper()}{what[1:]}. Choose one:" if what else ""


def _short(root: str) -> str:
    home = str(Path.home())
    return f"~{root[len(home) :]}" if root.startswith(home + "/") else root

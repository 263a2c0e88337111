"""Drives the app in tests: starts it on the real engine, presses keys, waits for conditions."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from textual import events
from textual.app import App
from textual.geometry import Region
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.base_session import Bases
from kbx_tui.tui.explore.inputs import PathLine, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.explore.view import ExploreView
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.watched import Watched, WatchedBases

Size = tuple[int, int]
WIDE, NARROW, TINY = (140, 32), (80, 24), (50, 16)
"""A terminal size for each layout; wide has room for two lines per result."""
QUESTION = "what did Alice Chen decide about the Migration"
"""Names a person and a project."""
PATIENCE = 60.0
"""Seconds until a test gives up waiting."""


class Driver:
    """One running app."""

    def __init__(self, app: KbxApp, pilot: Pilot[None], watched: Watched) -> None:
        self.app, self.pilot, self.watched = app, pilot, watched

    @property
    def explore(self) -> Explore:
        assert self.app.explore is not None
        return self.app.explore

    @property
    def results(self) -> ResultList:
        return self.explore.query_one(ResultList)

    @property
    def titles(self) -> list[str]:
        return [result.title for result in self.results.rows]

    @property
    def paths(self) -> list[str]:
        return [result.path for result in self.results.rows]

    @property
    def view(self) -> ExploreView:
        """The answer on the screen."""
        assert self.explore.view is not None
        return self.explore.view

    @property
    def state(self) -> SearchState:
        return self.explore.model.state

    @property
    def alpha(self) -> float:
        """Alpha of the newest ranking."""
        ranking = self.explore.model.displayed.ranking
        assert ranking is not None
        return ranking.tuning.alpha

    @property
    def status(self) -> StatusLine:
        return self.explore.query_one(StatusLine)

    def has_focus(self, kind: type[Widget]) -> bool:
        return isinstance(self.app.screen.focused, kind)

    # Acting.

    def shows(self, kind: type[Widget]) -> bool:
        """Return whether neither a widget nor what holds it is hidden."""
        return all(each.display for each in self.explore.query_one(kind).ancestors_with_self)

    async def press(self, *keys: str) -> None:
        """Press keys without a pause, then wait until the app is idle."""
        for key in keys:
            self.app.simulate_key(key)
        await self.pilot.pause()

    async def write(self, text: str) -> None:
        """Type text key by key, without a pause."""
        for character in text:
            key = character if character.isalnum() else _character_to_key(character)
            self.app.post_message(events.Key(key, character))
        await self.pilot.pause()

    async def ask(self, query: str) -> None:
        """Set the query and wait for its answer."""
        self.explore.query_one(QueryLine).value = query
        await self.until(lambda: self.explore.view is not None and self.view.query == query)

    async def narrow(self, path: str) -> None:
        """Set the path filter and wait for its answer."""
        self.explore.query_one(PathLine).value = path
        await self.until(lambda: self.view.scope.path == path)

    async def until(self, condition: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Wait until `condition` holds."""
        deadline = asyncio.get_running_loop().time() + seconds
        wait = 0.002
        while True:
            await self.pilot.pause(0)
            if condition():
                return
            late = asyncio.get_running_loop().time() > deadline
            assert not late, f"the condition never held; the screen is\n{self._screen_in_short()}"
            await asyncio.sleep(wait)
            wait = min(wait * 1.5, 0.03)  # polling takes time that the app needs

    async def until_shown(self, widget: type[Widget], *texts: str) -> None:
        """Wait until a widget shows all these texts, whatever its line breaks."""
        await self.until(lambda: all(text in self.words_of(widget) for text in texts))

    async def until_focused(self, kind: type[Widget]) -> None:
        """Wait until a widget of this kind has the focus."""
        await self.until(lambda: self.has_focus(kind))

    # Observing.

    def screen_text(self) -> str:
        """Return the text of the screen, line by line."""
        return rendered_text(self.app)

    def text_of(self, widget: type[Widget]) -> str:
        """Return the text of a widget with its border; empty while it is not on the screen."""
        if not (widgets := self.app.screen.query(widget)):
            return ""  # another screen is in front
        region: Region = widgets.first().region
        lines = self.screen_text().split("\n")[region.y : region.bottom]
        return "\n".join(_cells(line, region.x, region.right) for line in lines)

    def words_of(self, widget: type[Widget]) -> str:
        """Return the text of a widget without its border and line breaks."""
        return " ".join(self.text_of(widget).translate(_NO_BORDER).split())

    def _screen_in_short(self) -> str:
        lines = self.screen_text().split("\n")
        return "\n".join(line for line in lines if line.translate(_NO_BORDER).strip())


def rendered_strips(app: App[Any]) -> list[Strip]:
    """Return the lines of the topmost screen; Textual has no public way to read them."""
    return app.screen._compositor.render_strips()


def rendered_text(app: App[Any]) -> str:
    """Return the text of the topmost screen, line by line."""
    return "\n".join(strip.text for strip in rendered_strips(app))


_NO_BORDER = str.maketrans(dict.fromkeys("╭╮╰╯│", " "))


def _cells(line: str, start: int, end: int) -> str:
    cell, text = 0, ""
    for character in line:
        if start <= cell < end:
            text += character
        cell += cell_len(character)
    return text


@asynccontextmanager
async def starting(
    root: Path | None,
    size: Size,
    *,
    watched: Watched | None = None,
    bases: Bases | None = None,
    **options: Any,
) -> AsyncIterator[Driver]:
    """Start the app on the base at `root`, with options of `KbxApp`, and do not wait."""
    watched = watched or Watched()
    options = {"debounce": 0.0, **options}
    app = KbxApp(root, bases=bases or WatchedBases(watched), **options)
    async with app.run_test(size=size) as pilot:
        yield Driver(app, pilot, watched)


@asynccontextmanager
async def running(
    root: Path,
    size: Size,
    *,
    watched: Watched | None = None,
    debounce: float = 0.0,
    asked: str = "",
    measured: bool = False,
) -> AsyncIterator[Driver]:
    """Run the app on the indexed base at `root`, count it, and ask a query if one is given.

    If `measured`, the user has graded a result before, so that measures are shown.
    """
    async with starting(root, size, watched=watched, debounce=debounce) as driver:
        await driver.until(lambda: is_counted(driver))
        if measured:
            driver.app.app_state.note_judged()
            driver.explore.on_measure_changed()
        if asked:
            await driver.ask(asked)
        yield driver


def is_counted(driver: Driver) -> bool:
    """Return whether the app has counted the index."""
    summary = driver.explore.model.summary
    return summary is not None and summary.documents is not None

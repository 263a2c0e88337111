"""Driving the app in tests: start it on a fake engine, type, and wait for what should come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.geometry import Region
from textual.pilot import Pilot
from textual.widget import Widget

from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.screens.explore import Explore
from kbx_tui.tui.widgets.query_line import QueryLine
from kbx_tui.tui.widgets.result_list import ResultList
from tests.functional.tui.fake_kb import FakeKb

WIDE, NARROW, TINY = (140, 40), (80, 24), (50, 16)
QUESTION = "what did alice decide about the migration"


class Driver:
    """One running app."""

    def __init__(self, app: KbxApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def explore(self) -> Explore:
        return self.app.explore

    @property
    def results(self) -> ResultList:
        return self.explore.query_one(ResultList)

    @property
    def titles(self) -> list[str]:
        return [result.title for result in self.results.results]

    async def until(self, condition: Callable[[], object], seconds: float = 10.0) -> None:
        """Wait until `condition` holds."""
        deadline = asyncio.get_running_loop().time() + seconds
        await self.pilot.pause()
        while not condition():
            assert asyncio.get_running_loop().time() < deadline, "waited in vain"
            await asyncio.sleep(0.005)
            await self.pilot.pause()

    async def ask(self, query: str) -> None:
        """Set the query and wait for its answer."""
        self.explore.query_one(QueryLine).value = query
        await self.until(lambda: self.explore.view is not None and self.explore.view.query == query)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def screen_text(self) -> str:
        """Return what is on the screen, line by line."""
        width, height = self.app.size
        strips = self.app.screen._compositor.render_strips()
        lines = ["".join(segment.text for segment in strip) for strip in strips]
        assert len(lines) == height
        assert width > 0
        return "\n".join(lines)

    def text_of(self, widget: type[Widget]) -> str:
        """Return what one widget shows."""
        found = self.explore.query_one(widget)
        region: Region = found.region
        lines = self.screen_text().split("\n")[region.y : region.bottom]
        return "\n".join(_cells(line, region.x, region.right) for line in lines)


def _cells(line: str, start: int, end: int) -> str:
    from rich.cells import cell_len

    at, text = 0, ""
    for character in line:
        if start <= at < end:
            text += character
        at += cell_len(character)
    return text


@asynccontextmanager
async def running(
    kb: FakeKb | None = None, size: tuple[int, int] = WIDE, *, debounce: float = 0.0
) -> AsyncIterator[Driver]:
    """Run the app on `kb` until the knowledge base is open."""
    engine = kb or FakeKb()
    app = KbxApp(lambda: engine, debounce=debounce)
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot)
        await driver.until(lambda: driver.explore.summary is not None)
        yield driver

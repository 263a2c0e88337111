"""Runs the app of a visitor in tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from kbx_tui.tui.visitor.visitor_app import VisitorApp
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import WIDE, Driver, Size, is_counted
from tests.functional.tui.watched import Watched


class Visit(Driver):
    """One running app of a visitor."""

    app: VisitorApp

    def __init__(self, app: VisitorApp, pilot: Pilot[None], told: list[dict[str, object]]) -> None:
        """`told` gets the messages to the page, the newest last."""
        super().__init__(app, pilot, Watched())
        self.told = told

    @property
    def here(self) -> StatusLine:
        """The status line of the mode that is shown."""
        return self.app.screen.query_one(StatusLine)

    async def notice_for(self, key: str) -> str:
        """Press a key and return the notice that it gives."""
        self.here.notice = ""
        self.app.simulate_key(key)
        await self.until(lambda: self.here.notice)
        return self.here.notice


@asynccontextmanager
async def visiting(
    *roots: Path, size: Size = WIDE, allow_writes: bool = False, is_indexed: bool = True
) -> AsyncIterator[Visit]:
    """Run the app of a visitor of the bases at `roots`; wait until a single one is counted."""
    app = VisitorApp(roots, allow_writes=allow_writes, debounce=0.0)
    told: list[dict[str, object]] = []
    app.tell = told.append  # before the app starts, which reports a page only once
    async with app.run_test(size=size) as pilot:
        visit = Visit(app, pilot, told)
        if is_indexed and len(roots) == 1:
            await visit.until(lambda: is_counted(visit))
        yield visit

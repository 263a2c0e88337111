"""Drives the dedup mode in tests, on the real engine."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual import events

from kbx_tui.tui.dedup.panes import DraftList, KnownList
from kbx_tui.tui.dedup.rows import DraftRow
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.shell.overlay import Confirm
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import WIDE, Driver, Size, running
from tests.functional.tui.watched import Watched

ALICE = "memory/people/alice-chen.md"
GANGWAY = "memory/projects/gangway-4.md"


class Review:
    """The dedup mode of one running app."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.press, self.until = driver, driver.press, driver.until

    @property
    def screen(self) -> Dedup:
        screen = self.driver.app.screen
        assert isinstance(screen, Dedup)
        return screen

    @property
    def rows(self) -> tuple[DraftRow, ...]:
        lists = self.screen.query(DraftList)  # none until the screen is composed
        return lists.first().rows if lists else ()

    @property
    def states(self) -> list[str]:
        return [row.state for row in self.rows]

    @property
    def actions(self) -> list[str]:
        return [row.action for row in self.rows]

    @property
    def known(self) -> list[str]:
        return [known.text for known in self.screen.query_one(KnownList).rows]

    async def checked(self) -> None:
        """Wait until every draft has a state."""
        model = self.screen.model
        await self.until(lambda: not model.is_checking and "checking" not in self.states)

    async def paste(self, text: str) -> None:
        await self.press("slash")
        self.driver.app.post_message(events.Paste(text))
        await self.until(lambda: self.rows)
        await self.checked()

    async def go_to(self, text: str) -> None:
        """Move the cursor to the draft that starts with `text`."""
        drafts = self.screen.query_one(DraftList)
        row = next(row for row, draft in enumerate(self.rows) if draft.text.startswith(text))
        self.screen.set_focus(drafts)
        drafts.choose(row)
        await self.until(lambda: self.screen.query_one(KnownList).subject == self.rows[row].id)

    async def write(self) -> None:
        """Press the key that writes, and confirm its summary."""
        await self.press("a")
        await self.until(lambda: isinstance(self.driver.app.screen, Confirm))
        await self.press("enter")
        await self.until(lambda: isinstance(self.driver.app.screen, Dedup))

    def says(self, *words: str) -> Callable[[], bool]:
        status = self.screen.query_one(StatusLine)
        return lambda: all(word in f"{status.notice} {status.error}" for word in words)


@asynccontextmanager
async def reviewing(
    root: Path, size: Size = WIDE, *, watched: Watched | None = None
) -> AsyncIterator[Review]:
    """Run the app in its dedup mode."""
    async with running(root, size, watched=watched) as driver:
        await driver.press("f2")
        await driver.until(lambda: isinstance(driver.app.screen, Dedup))
        review = Review(driver)
        await review.until(lambda: review.screen.model.is_loaded)
        await review.press("escape")  # leave the line
        yield review


async def paste_seven(review: Review) -> None:
    summary = review.screen.session.explore.summary
    assert summary is not None
    await review.paste((Path(summary.root) / "drafts.md").read_text(encoding="utf-8"))

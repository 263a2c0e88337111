"""A session: one process of the app, and the page that shows it, if one does at the moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from aiohttp import WSCloseCode

from kbx_tui.log_file import logger
from kbx_tui.web.sessions.app_packets import DATA, MESSAGE, BrokenPacket
from kbx_tui.web.sessions.app_process import AppProcess
from kbx_tui.web.sessions.page_messages import (
    REPORT_LENGTH,
    BadMessage,
    Opening,
    encode_for_page,
    message_for_app,
    message_for_page,
    parse_message,
    without_size_reports,
)
from kbx_tui.web.sessions.page_socket import PageSocket
from kbx_tui.web.web_limits import Limits

LAST_OUTPUT_SECONDS = 0.5
"""Time for a page to take what its process has sent before it ended."""


class Closing(IntEnum):
    """Codes with which sockets are closed; the page knows them."""

    ENDED = 4000
    """The app has ended; the reason says why, and a new session may be opened."""
    ELSEWHERE = 4001
    """Another page shows the session now."""
    REFUSED = 4002
    """No session can be opened now; the reason says why."""
    BAD_MESSAGE = 4003
    """The page sent what it never sends."""


class BrowserSession:
    """One process of the app. It outlives its page by `Limits.reconnect_seconds`."""

    def __init__(
        self,
        session_id: str,
        visitor: str,
        process: AppProcess,
        limits: Limits,
        ended: Callable[[BrowserSession], object],
    ) -> None:
        """Serve `process` to `visitor` from now on; `ended` is called when it has ended."""
        self.id, self.visitor, self.process = session_id, visitor, process
        self.left_at: float | None = time.monotonic()
        """When its page was lost; None while it has one."""
        self._limits, self._ended = limits, ended
        self._page: PageSocket | None = None
        self._why = "the app was left"
        self._used_at = time.monotonic()
        self._typed = ""
        """The end of what was typed."""
        self._passing = asyncio.create_task(self._pass_on())
        self._watching = asyncio.create_task(self._watch())

    async def serve(self, page: PageSocket, opening: Opening, *, new: bool) -> None:
        """Show the session in a page until the socket closes. A page that had it loses it."""
        before, self._page, self.left_at = self._page, page, None
        try:
            if before is not None:
                before.dismiss(Closing.ELSEWHERE, "another page shows this session")
            await self._greet(page, opening, new=new)
            async for data in page.frames():
                await self._take(data)
        except TimeoutError:
            await page.close(WSCloseCode.GOING_AWAY, "the page says nothing")
        except BadMessage as error:
            await page.close(Closing.BAD_MESSAGE, str(error))
        finally:
            page.leave()
            if self._page is page:
                self._page, self.left_at = None, time.monotonic()

    async def _greet(self, page: PageSocket, opening: Opening, *, new: bool) -> None:
        """Tell a page its session, and the process what the page is like."""
        await page.send(encode_for_page("session", id=self.id, resumed=not new))
        if new:
            if opening.query:
                await self.process.tell({"type": "kbx_query", "query": opening.query})
            return
        size = {"width": opening.width, "height": opening.height}
        await self.process.tell({"type": "resize", **size})
        if opening.scheme:
            await self.process.tell({"type": "kbx_scheme", "scheme": opening.scheme})
        await self.process.tell({"type": "kbx_redraw"})

    async def end(self, why: str) -> None:
        """End the process; the page shows why."""
        self._why = why
        await self.process.end()
        _, unfinished = await asyncio.wait([self._passing], timeout=LAST_OUTPUT_SECONDS)
        if unfinished and self._page is not None:
            self._page.cut_if_unread()
        await asyncio.wait([self._passing])

    async def _take(self, data: Any) -> None:
        """Pass a message of the page to the process. Raises BadMessage."""
        kind, value = parse_message(data) if isinstance(data, str) else ("", None)
        if kind == "stdin" and isinstance(value, str):
            self._used_at = time.monotonic()
            value = without_size_reports(self._typed, value)
            self._typed = (self._typed + value)[-REPORT_LENGTH:]
            if value:  # an empty text would end the app's input
                await self.process.type(value)
        elif kind == "ping":
            await self._send(encode_for_page("pong"))
        else:
            await self.process.tell(message_for_app(kind, value))

    async def _pass_on(self) -> None:
        """Pass what the process sends to the page, until it ends."""
        try:
            while packet := await self.process.read():
                if packet.kind == DATA:
                    await self._send(packet.payload)
                elif packet.kind == MESSAGE and (message := message_for_page(packet.payload)):
                    await self._send(encode_for_page(message[0], **message[1]))
        except BrokenPacket as error:
            logger().error("a process of kbx web: %s", error)
            await self.process.end()
        code = await self.process.wait()
        if code not in (0, 128 + 15, -15):
            errors = await self.process.last_errors()
            logger().error("a process of kbx web ended with %s: %s", code, errors)
            self._why = (
                "the app ended with an error, or for want of memory; see the log of the server"
            )
        self._watching.cancel()
        self._ended(self)
        if (page := self._page) is not None:
            page.dismiss(Closing.ENDED, self._why)
            await page.is_left.wait()

    async def _send(self, data: bytes | str) -> None:
        """Send to the page, if there is one; what it misses is drawn again when it is back."""
        if self._page is not None:
            await self._page.send(data)

    async def _watch(self) -> None:
        """End the session when nobody uses it."""
        while True:
            now = time.monotonic()
            left = now if self.left_at is None else self.left_at
            until_gone = left + self._limits.reconnect_seconds - now
            until_idle = self._used_at + self._limits.idle_seconds - now
            if until_idle <= 0 or (self.left_at is not None and until_gone <= 0):
                break
            await asyncio.sleep(min(max(until_gone, 0.05), until_idle))
        self._why = "nobody used the app for a long time"
        await self.process.end()

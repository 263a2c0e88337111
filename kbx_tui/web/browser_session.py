"""A session: one process of the app, and the page that shows it, if one does at the moment.

The socket of a page is closed only by the task that receives from it. If another task closes it,
aiohttp ends the connection before the page has answered, and the page may lose the code that tells
it why.

A page that is gone without a word, such as that of a sleeping computer, reads nothing. What waits
to send to it would wait for as long as the connection lasts, which may be minutes, so the
connection is cut when the socket is left.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from kbx_tui.http_service.connection_guard import ConnectionLimits
from kbx_tui.user_files import logger
from kbx_tui.web.app_process import DATA, MESSAGE, AppProcess, BrokenPacket
from kbx_tui.web.page_messages import (
    REPORT_LENGTH,
    BadMessage,
    Opening,
    encode_for_page,
    message_for_app,
    message_for_page,
    parse_message,
    without_size_reports,
)

MB = 1_000_000
CONNECTIONS = ConnectionLimits(at_once=128, receive_seconds=30.0)
"""Limits of connections, apart from those of sessions."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers and times beyond which the server refuses or ends something."""

    sessions: int = 8
    """Processes of the app at a time, those that wait for a page to come back included."""
    idle_seconds: float = 7_200.0
    """Time without a key or click after which a session ends."""
    reconnect_seconds: float = 60.0
    """Time that a session waits for its page to come back."""
    memory_bytes: int = 4_000 * MB
    """Private data of one process of the app."""
    connection: ConnectionLimits = CONNECTIONS
    greeting_seconds: float = 10.0
    """Time until an opened socket has to say which session it wants."""
    heartbeat_seconds: float = 20.0
    """Time between questions whether a page is still there; half of it is the time to answer."""
    silence_seconds: float = 120.0
    """Time within which a page sends a whole message; one that is open says something more often,
    even in the background."""
    frame_bytes: int = 64_000
    """Size of one message of a page; a longer text is pasted in several."""
    link_seconds: float = 3_600.0
    """Time for which a link that nobody has used is valid."""
    visitor_seconds: float = 7 * 86_400.0
    """Time for which a browser that has used a link needs no other."""


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
        self._why = why
        await self.process.end()
        _, unfinished = await asyncio.wait([self._passing], timeout=LAST_OUTPUT_SECONDS)
        if unfinished and self._page is not None:
            self._page.cut_if_unread()
        await asyncio.wait([self._passing])

    async def _take(self, data: Any) -> None:
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
        try:
            while packet := await self.process.read():
                if packet.kind == DATA:
                    await self._send(packet.payload)
                elif packet.kind == MESSAGE and (message := message_for_page(packet.payload)):
                    await self._send(message)
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


Start = Callable[[Opening], Awaitable[AppProcess]]
"""Starts a process of the app for a page. Raises OSError."""


class NoSession(Exception):
    """A session cannot be opened; the message says why."""


class SessionRegistry:
    def __init__(self, start: Start, limits: Limits) -> None:
        self._start, self._limits = start, limits
        self._sessions: dict[str, BrowserSession] = {}
        self._starting = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[BrowserSession]:
        return iter(list(self._sessions.values()))

    def find(self, visitor: str, session_id: str | None) -> BrowserSession | None:
        """Return a session of this visitor; one of another is not found, whoever knows its id."""
        session = self._sessions.get(session_id or "")
        return session if session is not None and session.visitor == visitor else None

    async def open(self, visitor: str, opening: Opening) -> BrowserSession:
        """Start a session. Raises NoSession when there are too many, or it cannot be started."""
        is_full = len(self._sessions) + self._starting >= self._limits.sessions
        self._starting += 1
        try:
            if is_full:
                await self._end_one_without_page()
            process = await self._start(opening)
        except OSError as error:
            raise NoSession(f"the app cannot be started: {error.strerror}") from error
        finally:
            self._starting -= 1
        session_id = secrets.token_urlsafe(32)
        session = BrowserSession(session_id, visitor, process, self._limits, self._forget)
        self._sessions[session_id] = session
        return session

    async def end_all(self, why: str) -> None:
        ends = [session.end(why) for session in self._sessions.values()]
        await asyncio.gather(*ends, return_exceptions=True)

    async def _end_one_without_page(self) -> None:
        """Make room by ending the session whose page left first. Raises NoSession."""
        waiting = [session for session in self._sessions.values() if session.left_at is not None]
        if not waiting:
            most = self._limits.sessions
            raise NoSession(f"{most} sessions are open, which is the limit (--max-clients)")
        oldest = min(waiting, key=lambda session: session.left_at or 0.0)
        self._forget(oldest)
        await oldest.end("another page needed its place")

    def _forget(self, session: BrowserSession) -> None:
        self._sessions.pop(session.id, None)


FRAMES = (WSMsgType.TEXT, WSMsgType.BINARY)
CLOSE_SECONDS = 1.0
"""Time for a page to read what was sent before the socket is closed."""


class PageSocket:
    """Receives from a page until it leaves or is dismissed."""

    def __init__(
        self,
        socket: web.WebSocketResponse,
        transport: asyncio.Transport | None,
        silence_seconds: float,
    ) -> None:
        """`transport` is None if it is cut already; silence means that the page is gone."""
        self._socket, self._silence_seconds = socket, silence_seconds
        self._transport = transport
        self._told: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        self.is_left = asyncio.Event()
        """Set when nothing more is done with the socket."""

    def dismiss(self, code: int, why: str) -> None:
        """Let `frames` close the socket and end; the first reason counts."""
        if not self._told.done():
            self._told.set_result((code, why))

    async def close(self, code: int, why: str) -> None:
        """Close the socket; only for the task that reads `frames`."""
        cutting = asyncio.get_running_loop().call_later(CLOSE_SECONDS, self.cut_if_unread)
        try:
            await self._socket.close(code=code, message=why.encode())
        finally:
            cutting.cancel()

    def leave(self) -> None:
        """Note that nothing more is done with the socket."""
        self.is_left.set()
        self.cut_if_unread()

    def cut_if_unread(self) -> None:
        """Cut the connection if the page has not read what was sent, which ends every `send`."""
        if self._transport is not None and self._transport.get_write_buffer_size():
            self._transport.abort()

    async def send(self, data: bytes | str) -> None:
        """Send to the page, unless it is gone: `frames` ends then."""
        with suppress(ConnectionError, RuntimeError):
            try:
                if isinstance(data, bytes):
                    await self._socket.send_bytes(data)
                else:
                    await self._socket.send_str(data)
            except asyncio.CancelledError:
                # All sends wait for the same future. If the page does not answer the heartbeat,
                # aiohttp cancels the wait of the heartbeat, and so every send, but not its task.
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise

    async def frames(self) -> AsyncIterator[bytes | str]:
        """Yield what the page sends. Raises TimeoutError when it has been silent for too long."""
        while True:
            receiving = asyncio.ensure_future(self._socket.receive(self._silence_seconds))
            try:
                either: set[asyncio.Future[Any]] = {receiving, self._told}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not receiving.done():
                    receiving.cancel()
            if self._told.done():
                await asyncio.wait({receiving})
                await self.close(*self._told.result())
                return
            frame = receiving.result()
            if frame.type not in FRAMES:
                return
            yield frame.data

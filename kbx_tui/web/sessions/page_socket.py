"""The socket of one page, which is closed only by the task that receives from it.

If another task closes it, aiohttp ends the connection before the page has answered, and the page
may lose the code that tells it why.

A page that is gone without a word, such as that of a sleeping computer, reads nothing. What waits
to send to it would wait for as long as the connection lasts, which may be minutes, so the
connection is cut when the socket is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from aiohttp import WSMsgType, web

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
        """A page that sends nothing for `silence_seconds` is taken to be gone.

        `transport` is that of the socket; None if it is cut already.
        """
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
        with suppress(ConnectionError, RuntimeError), _foreign_cancellation_ignored():
            if isinstance(data, bytes):
                await self._socket.send_bytes(data)
            else:
                await self._socket.send_str(data)

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


@contextmanager
def _foreign_cancellation_ignored() -> Iterator[None]:
    """Go on when a send was cancelled but this task was not.

    All who send on a connection wait for one future of aiohttp, and its heartbeat, if the page
    does not answer, cancels its own wait and with it those of all others.
    """
    try:
        yield
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise

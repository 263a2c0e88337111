"""The socket of one page, which is closed only by the task that receives from it.

If another task closes it, aiohttp ends the connection before the page has answered, and the page
may lose the code that tells it why.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web

FRAMES = (WSMsgType.TEXT, WSMsgType.BINARY)


class PageSocket:
    """Receives from a page until it leaves or is dismissed."""

    def __init__(self, socket: web.WebSocketResponse, silence_seconds: float) -> None:
        """A page that sends nothing for `silence_seconds` is taken to be gone."""
        self._socket, self._silence_seconds = socket, silence_seconds
        self._told: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        self.is_left = asyncio.Event()
        """To be set by whoever reads `frames`, when nothing more is done with the socket."""

    def dismiss(self, code: int, why: str) -> None:
        """Let `frames` close the socket and end; the first reason counts."""
        if not self._told.done():
            self._told.set_result((code, why))

    async def send(self, data: bytes | str) -> None:
        """Send to the page, unless it is gone: `frames` ends then."""
        with suppress(ConnectionError, RuntimeError):
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
                code, why = self._told.result()
                await self._socket.close(code=code, message=why.encode())
                return
            frame = receiving.result()
            if frame.type not in FRAMES:
                return
            yield frame.data

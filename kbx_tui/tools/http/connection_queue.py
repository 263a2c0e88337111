"""Connections on their way to a worker: handed over at once, or as soon as one can take them."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress

from kbx_tui.tools.http.http_worker import HttpWorker

WAIT_SECONDS = 5.0
"""Time for which a connection waits while no worker can take it."""
MAX_WAITING = 256
"""Connections that wait, and refusals that are on their way."""
ANSWER_SECONDS = 1.0
REQUEST_BYTES = 65_536
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%b"
)
BUSY_BODY = json.dumps({
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": -32002, "message": "no process of this server is ready; try again"},
}).encode()  # fmt: skip


class ConnectionQueue:
    """Hands each connection, in the order of their arrival, to the worker that has the fewest; of
    several to the one that was given the fewest, so that all are used and have their index open."""

    def __init__(
        self, workers: Callable[[], Iterable[HttpWorker]], refused: Callable[[], object]
    ) -> None:
        """`refused` is called for each connection that no worker took."""
        self._workers, self._refused = workers, refused
        self._waiting: dict[socket.socket, asyncio.TimerHandle] = {}
        self._refusals: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def add(self, connection: socket.socket) -> None:
        """Hand a connection over; if no worker takes it in time, tell its client to try again."""
        if self._is_closed:
            connection.close()
            return
        if len(self._waiting) >= MAX_WAITING:
            self._refuse(connection)
            return
        loop = asyncio.get_running_loop()
        self._waiting[connection] = loop.call_later(WAIT_SECONDS, self._expire, connection)
        self.hand_over()

    def hand_over(self) -> None:
        """Hand over what waits. To be called whenever a worker can take more."""
        while self._waiting:
            connection, timer = next(iter(self._waiting.items()))
            workers = sorted(self._workers(), key=lambda each: (each.connections, each.given))
            if not any(worker.give(connection) for worker in workers):
                return
            timer.cancel()
            del self._waiting[connection]

    def close(self) -> None:
        """Cut the connections that wait, and those that are added later."""
        self._is_closed = True
        for connection, timer in self._waiting.items():
            timer.cancel()
            connection.close()
        self._waiting.clear()

    def _expire(self, connection: socket.socket) -> None:
        del self._waiting[connection]
        self._refuse(connection)

    def _refuse(self, connection: socket.socket) -> None:
        self._refused()
        if len(self._refusals) >= MAX_WAITING:
            connection.close()
            return
        task = asyncio.create_task(_answer_busy(connection))
        self._refusals.add(task)
        task.add_done_callback(self._refusals.discard)


async def _answer_busy(connection: socket.socket) -> None:
    """Tell a client to try again."""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection(sock=connection)
            try:
                await reader.read(REQUEST_BYTES)  # what is left unread would cut the answer off
                writer.write(BUSY % (len(BUSY_BODY), BUSY_BODY))
                await writer.drain()
            finally:
                writer.close()

"""A web server whose connections have limits, so that slow and many clients keep nobody out.

uvicorn itself waits for ever for the rest of a request, and for a client that reads no answer.
Signals are left to `kbx_tui.ending`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

DRAIN_SECONDS = 1.4
"""Time for requests in progress when the server stops; the process ends soon after it."""


class HttpServer(uvicorn.Server):
    """Serves one application on a socket, or on connections that another process accepts."""

    def __init__(self, app: Any, connections: Connections | None = None) -> None:
        self._guard = connections or Connections()
        super().__init__(
            uvicorn.Config(
                app,
                http=cast(Any, self._guard.protocol),
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=cast(int, DRAIN_SECONDS),
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: `kbx_tui.ending` calls `stop`."""
        yield

    def stop(self) -> None:
        """Accept no more, finish what runs, and let `serve` return. Callable on any thread."""
        self.should_exit = True

    async def adopt(self, connection: socket.socket) -> None:
        """Serve a connection that was accepted elsewhere."""
        connection.setblocking(False)
        await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        return self._guard.protocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )


@dataclass
class Connections:
    """The limits of a server's connections, and those that have no complete request."""

    at_once: int = 256
    """Connections without a complete request; a further one cuts the one that waits longest."""
    receive_seconds: float = 10.0
    """Time for a client to send a whole request, or to take what was sent of an answer."""
    request_bytes: int = 2_000_000
    """Size of a request as it is sent. Chunks of a byte each make it six times as large as its
    body, and to parse megabytes of them would keep the process busy for seconds."""
    answer_seconds: float = 90.0
    """Time from a complete request to the end of its answer."""
    closed: Callable[[], object] = lambda: None
    """Called for each connection that has ended."""
    waiting: dict[LimitedProtocol, None] = field(default_factory=dict)
    """In the order in which they began to wait."""

    def protocol(self, **arguments: Any) -> LimitedProtocol:
        """Return the protocol of a new connection; for `uvicorn.Config(http=...)`."""
        protocol = LimitedProtocol(**arguments)
        protocol.limits = self
        return protocol


class LimitedProtocol(H11Protocol):
    """Cuts a connection that takes too long for a step, or waits while there are too many."""

    limits: Connections
    _received = 0
    """Bytes of a request that is not complete."""
    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.limits.waiting) >= self.limits.at_once:
            next(iter(self.limits.waiting)).transport.abort()
        self._wait(self.limits.receive_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self.limits.waiting.pop(self, None)
        _cancel(self._deadline)
        _cancel(self._unread)
        super().connection_lost(exc)
        self.limits.closed()

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        if self._received > self.limits.request_bytes:
            self.transport.abort()
            return
        super().data_received(data)
        if self._is_answering():
            self._received = 0
            if self in self.limits.waiting:
                del self.limits.waiting[self]
                self._cut_after(self.limits.answer_seconds)
        elif self not in self.limits.waiting:
            self._wait(self.limits.receive_seconds)
        elif self._deadline is None:  # the first part of a further request
            self._cut_after(self.limits.receive_seconds)

    def on_response_complete(self) -> None:
        _cancel(self._deadline)
        self._deadline = None  # uvicorn limits the time until a further request
        self.limits.waiting[self] = None
        super().on_response_complete()
        if self._is_answering():  # a request that was sent with the one before
            self.limits.waiting.pop(self, None)
            self._cut_after(self.limits.answer_seconds)

    def pause_writing(self) -> None:
        super().pause_writing()
        _cancel(self._unread)
        self._unread = self.loop.call_later(self.limits.receive_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._unread)

    def _is_answering(self) -> bool:
        """Return whether a request is complete and its answer is not."""
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    def _wait(self, seconds: float) -> None:
        self.limits.waiting[self] = None
        self._cut_after(seconds)

    def _cut_after(self, seconds: float) -> None:
        _cancel(self._deadline)
        abort: Callable[[], None] = self.transport.abort
        self._deadline = self.loop.call_later(seconds, abort)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()

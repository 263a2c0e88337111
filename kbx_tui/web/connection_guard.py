"""Limits of connections: how many are open, and how long one may take for a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from kbx_tui.web.web_limits import Limits


class ConnectionGuard:
    """Wraps the protocol of each connection, and closes those that are too many or too slow."""

    def __init__(self, inner: Callable[[], asyncio.Protocol], limits: Limits) -> None:
        self._inner, self._limits = inner, limits
        self._deadlines: dict[asyncio.BaseTransport, asyncio.TimerHandle | None] = {}
        """Of each open connection; None for a socket, which has no deadline."""

    def __call__(self) -> asyncio.Protocol:
        """Return the protocol of a new connection."""
        return _GuardedProtocol(self._inner(), self)

    def opened(self, transport: asyncio.Transport) -> bool:
        """Note a new connection; return whether it may stay."""
        if len(self._deadlines) >= self._limits.connections:
            return False
        loop = asyncio.get_running_loop()
        self._deadlines[transport] = loop.call_later(self._limits.request_seconds, transport.abort)
        return True

    def keep(self, transport: asyncio.BaseTransport | None) -> None:
        """Let a connection stay for as long as it likes: it is an accepted socket."""
        if transport in self._deadlines:
            self._cancel(transport)
            self._deadlines[transport] = None

    def closed(self, transport: asyncio.BaseTransport) -> None:
        """Note that a connection is closed."""
        self._cancel(transport)
        self._deadlines.pop(transport, None)

    def close_all(self) -> None:
        """Close every connection, after what has still to be sent."""
        for transport in list(self._deadlines):
            transport.close()

    def _cancel(self, transport: asyncio.BaseTransport) -> None:
        if (deadline := self._deadlines.get(transport)) is not None:
            deadline.cancel()


class _GuardedProtocol(asyncio.Protocol):
    """Passes everything on to another protocol, unless the connection is refused."""

    def __init__(self, inner: asyncio.Protocol, guard: ConnectionGuard) -> None:
        self._inner, self._guard = inner, guard
        self._transport: Any = None
        self._is_open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._is_open = self._guard.opened(transport)
        if self._is_open:
            self._inner.connection_made(transport)
        else:
            transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        if self._is_open:
            self._guard.closed(self._transport)
            self._inner.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        if self._is_open:
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received() if self._is_open else None

    def pause_writing(self) -> None:
        if self._is_open:
            self._inner.pause_writing()

    def resume_writing(self) -> None:
        if self._is_open:
            self._inner.resume_writing()

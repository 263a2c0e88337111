"""Limits of connections: how many are open, and how long one may take for a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kbx_tui.web.web_limits import Limits


class ConnectionGuard:
    """Wraps the protocol of each connection, and closes those that are too many or too slow."""

    def __init__(self, inner: Callable[[], asyncio.Protocol], limits: Limits) -> None:
        self._inner, self._limits = inner, limits
        self._waiting: dict[asyncio.Transport, asyncio.TimerHandle] = {}
        """The deadline of each connection that has no session, the oldest first."""
        self._kept: set[asyncio.Transport] = set()
        """The connections of sessions, which are limited in number themselves."""

    def __call__(self) -> asyncio.Protocol:
        """Return the protocol of a new connection."""
        return _GuardedProtocol(self._inner(), self)

    def opened(self, transport: asyncio.Transport) -> None:
        """Note a new connection. If there are too many, cut the one that has waited longest.

        Whoever holds connections open then loses them to those who use theirs.
        """
        if len(self._waiting) >= self._limits.connections:
            oldest = next(iter(self._waiting))
            self.closed(oldest)
            oldest.abort()
        deadline = asyncio.get_running_loop().call_later(
            self._limits.request_seconds, transport.abort
        )
        self._waiting[transport] = deadline

    def keep(self, transport: asyncio.Transport) -> None:
        """Let a connection stay for as long as it likes: it belongs to a session."""
        if transport in self._waiting:
            self.closed(transport)
            self._kept.add(transport)

    def closed(self, transport: asyncio.Transport) -> None:
        """Note that a connection is closed."""
        if (deadline := self._waiting.pop(transport, None)) is not None:
            deadline.cancel()
        self._kept.discard(transport)

    def close_all(self) -> None:
        """Close every connection, after what has still to be sent."""
        for transport in (*self._waiting, *self._kept):
            transport.close()


class _GuardedProtocol(asyncio.Protocol):
    """Passes everything on to another protocol, and reports its connection to the guard."""

    def __init__(self, inner: asyncio.Protocol, guard: ConnectionGuard) -> None:
        self._inner, self._guard = inner, guard

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._guard.opened(transport)
        self._inner.connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._guard.closed(self._transport)
        self._inner.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

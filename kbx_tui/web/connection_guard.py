"""What one server, and one visitor of it, may use at most; and the guard of its connections.

Connections count from the moment they are accepted. Asyncio itself would pass those that are to be
encrypted on after the handshake only: it is done here instead.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass

MB = 1_000_000


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
    connections: int = 128
    """Open connections, apart from those of sessions."""
    request_seconds: float = 30.0
    """Time from the first byte of a request to the last of its answer."""
    handshake_seconds: float = 10.0
    """Time for TLS to agree on keys."""
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


class ConnectionGuard:
    """Wraps the protocol of each connection, and closes those that are too many or too slow."""

    def __init__(
        self,
        inner: Callable[[], asyncio.Protocol],
        limits: Limits,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._inner, self._limits, self._tls = inner, limits, tls
        self._handshakes: set[asyncio.Task[None]] = set()
        self._waiting: dict[asyncio.Transport, asyncio.TimerHandle] = {}
        """The deadline of each connection that has no session, the oldest first."""
        self._kept: set[asyncio.Transport] = set()
        """The connections of sessions, which are limited in number themselves."""

    def __call__(self) -> asyncio.Protocol:
        """Return the protocol of a new connection."""
        if self._tls is None:
            return _GuardedProtocol(self._inner(), self)
        return _EncryptedProtocol(self._inner(), self, self._start_handshake)

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

    def _start_handshake(self, protocol: _EncryptedProtocol, transport: asyncio.Transport) -> None:
        task = asyncio.create_task(self._encrypt(protocol, transport))
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    async def _encrypt(self, protocol: _EncryptedProtocol, transport: asyncio.Transport) -> None:
        """Agree on keys with the client, who is dropped if that fails or takes too long."""
        assert self._tls is not None
        encrypted = None
        try:
            encrypted = await asyncio.get_running_loop().start_tls(
                transport,
                protocol,
                self._tls,
                server_side=True,
                ssl_handshake_timeout=self._limits.handshake_seconds,
            )
        except OSError:  # SSLError and ConnectionError are some
            pass
        finally:
            self.closed(transport)
        if encrypted is not None:  # None also if it was cut at once
            protocol.start(encrypted)


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


class _EncryptedProtocol(asyncio.Protocol):
    """Becomes a guarded protocol when the client has agreed on keys."""

    def __init__(
        self,
        inner: asyncio.Protocol,
        guard: ConnectionGuard,
        handshake: Callable[[_EncryptedProtocol, asyncio.Transport], object],
    ) -> None:
        self._guarded = _GuardedProtocol(inner, guard)
        self._guard, self._handshake = guard, handshake
        self._early = b""
        """What has come in one piece with the end of the handshake."""
        self._is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()  # what it sends is for the handshake, which starts a moment later
        self._guard.opened(transport)
        self._handshake(self, transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._is_lost = True

    def data_received(self, data: bytes) -> None:
        self._early += data

    def start(self, transport: asyncio.Transport) -> None:
        """Hand the encrypted connection over, unless it has been lost meanwhile."""
        if self._is_lost:
            return
        transport.set_protocol(self._guarded)
        self._guarded.connection_made(transport)
        if self._early:
            self._guarded.data_received(self._early)

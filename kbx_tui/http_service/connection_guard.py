"""Connection limits, so that slow or numerous clients cannot keep others out.

uvicorn and aiohttp wait forever for the rest of a request; uvicorn also waits forever for a client
that does not read its answer. Connections count from the moment they are accepted. The TLS
handshake is done here, since asyncio would only report encrypted connections after it.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass

Peer = tuple[str, int]
"""Address and port of a client; identifies its connection."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits beyond which a connection is cut."""

    at_once: int = 256
    """Connections without a complete request; one more cuts the longest-waiting one."""
    receive_seconds: float = 10.0
    """Time for a client to send a whole request, or to read buffered parts of an answer."""
    request_bytes: int = 2_000_000
    """Size of a request on the wire. One-byte chunks make it six times as large as its body, and
    parsing megabytes of them would block the process for seconds."""
    answer_seconds: float = 90.0
    """Time from a complete request to the end of its answer."""
    handshake_seconds: float = 10.0


class ConnectionGuard:
    """Wraps the protocol of each connection; cuts connections in excess or too slow."""

    def __init__(self, limits: ConnectionLimits, tls: ssl.SSLContext | None = None) -> None:
        self.limits, self._tls = limits, tls
        self._waiting: dict[_Connection, None] = {}
        """Connections without a complete request, longest-waiting first."""
        self._open: dict[Peer, _Connection] = {}

    def wrap(self, inner: asyncio.Protocol) -> asyncio.Protocol:
        return _Connection(self, inner) if self._tls is None else _Encrypting(self, inner)

    def answering(self, peer: Peer | None) -> None:
        """Note that a request is complete, or is being answered before its end."""
        if connection := self._find(peer):
            self._waiting.pop(connection, None)
            connection.received = 0
            connection.cut_after(self.limits.answer_seconds)

    def answered(self, peer: Peer | None) -> None:
        """Note that a request was answered; the server limits the time until the next one."""
        if connection := self._find(peer):
            self._waiting[connection] = None
            connection.cut_after(None)

    def keep(self, peer: Peer | None) -> None:
        """Exempt a connection from all time limits and the size limit."""
        if connection := self._find(peer):
            self._waiting.pop(connection, None)
            connection.is_kept = True
            connection.cut_after(None)

    def close_all(self) -> None:
        """Close every connection once its buffered data has been sent."""
        for connection in list(self._open.values()):
            connection.transport.close()

    def opened(self, connection: _Connection) -> None:
        if len(self._waiting) >= self.limits.at_once:
            oldest = next(iter(self._waiting))
            self.forget(oldest)
            oldest.transport.abort()
        self._waiting[connection] = None
        self._open[connection.peer] = connection
        connection.cut_after(self.limits.receive_seconds)

    def forget(self, connection: _Connection) -> None:
        connection.cut_after(None)
        self._waiting.pop(connection, None)
        if self._open.get(connection.peer) is connection:
            del self._open[connection.peer]

    async def encrypt(self, plain: _Encrypting) -> None:
        assert self._tls is not None
        encrypted = None
        try:
            encrypted = await asyncio.get_running_loop().start_tls(
                plain.transport,
                plain,
                self._tls,
                server_side=True,
                ssl_handshake_timeout=self.limits.handshake_seconds,
            )
        except OSError:  # includes SSLError and ConnectionError
            pass
        finally:
            self.forget(plain)
        if encrypted is not None:  # None, too, if it was cut meanwhile
            plain.start(encrypted)

    def _find(self, peer: Peer | None) -> _Connection | None:
        return None if peer is None else self._open.get((peer[0], peer[1]))


class _Connection(asyncio.Protocol):
    """Forwards every event to another protocol and reports to the guard."""

    transport: asyncio.Transport
    peer: Peer

    def __init__(self, guard: ConnectionGuard, inner: asyncio.Protocol) -> None:
        self.guard, self.inner = guard, inner
        self.received = 0
        """Bytes received of the incomplete request."""
        self.is_kept = False
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def cut_after(self, seconds: float | None) -> None:
        self._deadline = self._timer(self._deadline, seconds)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.accept(transport)
        self.inner.connection_made(transport)

    def accept(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        host, port, *_ = transport.get_extra_info("peername") or ("", 0)  # already closed
        self.transport, self.peer = transport, (host, port)
        self.guard.opened(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.guard.forget(self)
        self._unread = self._timer(self._unread, None)
        self.inner.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if not self.is_kept:
            if self.received > self.guard.limits.request_bytes:
                self.transport.abort()
                return
            if self._deadline is None:  # the first part of the next request
                self.cut_after(self.guard.limits.receive_seconds)
        self.inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self.inner.eof_received()

    def pause_writing(self) -> None:
        self.inner.pause_writing()
        if not self.is_kept:
            self._unread = self._timer(self._unread, self.guard.limits.receive_seconds)

    def resume_writing(self) -> None:
        self.inner.resume_writing()
        self._unread = self._timer(self._unread, None)

    def _timer(
        self, before: asyncio.TimerHandle | None, seconds: float | None
    ) -> asyncio.TimerHandle | None:
        """Cancel the previous timer; return one that cuts the connection, None for no limit."""
        if before is not None:
            before.cancel()
        if seconds is None:
            return None
        return asyncio.get_running_loop().call_later(seconds, self.transport.abort)


class _Encrypting(_Connection):
    """A connection during its TLS handshake; afterwards a new `_Connection` takes over."""

    early = b""
    """Data received together with the end of the handshake."""
    is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()  # its first bytes belong to the handshake, which starts later
        self.accept(transport)
        self._handshake = asyncio.create_task(self.guard.encrypt(self))

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost = True

    def data_received(self, data: bytes) -> None:
        self.early += data

    def start(self, encrypted: asyncio.Transport) -> None:
        """Hand over the encrypted connection unless it has been lost meanwhile."""
        if self.is_lost:
            return
        guarded = _Connection(self.guard, self.inner)
        encrypted.set_protocol(guarded)
        guarded.connection_made(encrypted)
        if self.early:
            guarded.data_received(self.early)

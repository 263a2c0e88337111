"""What one server, and one visitor of it, may use at most."""

from __future__ import annotations

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

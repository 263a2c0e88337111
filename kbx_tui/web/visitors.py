"""Who may use the server: links that are valid once, and the visitors who came by them.

All of it is in memory: when the server ends, every link and every cookie is void.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable

Clock = Callable[[], float]
"""Seconds; only differences count."""


class Visitors:
    """The valid links, and the visitors who used one. Only digests of secrets are kept."""

    def __init__(
        self, link_seconds: float, visitor_seconds: float, clock: Clock = time.monotonic
    ) -> None:
        self._link_seconds, self._visitor_seconds, self._clock = (
            link_seconds, visitor_seconds, clock,
        )  # fmt: skip
        self._links: dict[bytes, float] = {}
        """When the link of a token expires, by the digest of the token."""
        self._visitors: dict[bytes, float] = {}
        """When the cookie of a visitor expires, by the digest of its value."""

    def new_token(self) -> str:
        """Return a token for one new link."""
        token = secrets.token_urlsafe(32)
        self._links[_digest(token)] = self._clock() + self._link_seconds
        return token

    def enter(self, token: str) -> str | None:
        """Use up a token; return the cookie of a new visitor, or None if it is not valid."""
        expires = self._links.pop(_digest(token), None)
        if expires is None or expires <= self._clock():
            return None
        cookie = secrets.token_urlsafe(32)
        self._visitors[_digest(cookie)] = self._clock() + self._visitor_seconds
        return cookie

    def visitor(self, cookie: str) -> str | None:
        """Return the public name of the visitor with this cookie, or None if it is unknown.

        Digests are compared, so the time it takes says nothing about the cookies that are valid.
        """
        digest = _digest(cookie)
        expires = self._visitors.get(digest)
        if expires is None or expires <= self._clock():
            self._visitors.pop(digest, None)
            return None
        return digest.hex()


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()

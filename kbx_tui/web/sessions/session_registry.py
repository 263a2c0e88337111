"""The sessions of a server: how many, and whose."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator

from kbx_tui.web.sessions.app_process import AppProcess
from kbx_tui.web.sessions.browser_session import BrowserSession
from kbx_tui.web.sessions.page_messages import Opening
from kbx_tui.web.web_limits import Limits

Start = Callable[[Opening], Awaitable[AppProcess]]
"""Starts a process of the app for a page. Raises OSError."""


class NoSession(Exception):
    """A session cannot be opened; the message says why."""


class SessionRegistry:
    """Opens, finds and ends sessions."""

    def __init__(self, start: Start, limits: Limits) -> None:
        self._start, self._limits = start, limits
        self._sessions: dict[str, BrowserSession] = {}
        self._starting = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[BrowserSession]:
        return iter(list(self._sessions.values()))

    def find(self, visitor: str, session_id: str | None) -> BrowserSession | None:
        """Return a session of this visitor; one of another is not found, whoever knows its id."""
        session = self._sessions.get(session_id or "")
        return session if session is not None and session.visitor == visitor else None

    async def open(self, visitor: str, opening: Opening) -> BrowserSession:
        """Start a session. Raises NoSession when there are too many, or it cannot be started."""
        is_full = len(self._sessions) + self._starting >= self._limits.sessions
        self._starting += 1
        try:
            if is_full:
                await self._end_one_without_page()
            process = await self._start(opening)
        except OSError as error:
            raise NoSession(f"the app cannot be started: {error.strerror}") from error
        finally:
            self._starting -= 1
        session_id = secrets.token_urlsafe(32)
        session = BrowserSession(session_id, visitor, process, self._limits, self._forget)
        self._sessions[session_id] = session
        return session

    async def end_all(self, why: str) -> None:
        """End every session; each page shows why."""
        ends = [session.end(why) for session in self._sessions.values()]
        await asyncio.gather(*ends, return_exceptions=True)

    async def _end_one_without_page(self) -> None:
        """Make room by ending the session whose page left first. Raises NoSession."""
        waiting = [session for session in self._sessions.values() if session.left_at is not None]
        if not waiting:
            most = self._limits.sessions
            raise NoSession(f"{most} sessions are open, which is the limit (--max-clients)")
        oldest = min(waiting, key=lambda session: session.left_at or 0.0)
        self._forget(oldest)
        await oldest.end("another page needed its place")

    def _forget(self, session: BrowserSession) -> None:
        self._sessions.pop(session.id, None)

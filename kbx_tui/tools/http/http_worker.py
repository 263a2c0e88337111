"""A process that answers, as the process that listens sees it."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field

END_SECONDS = 1.8
"""Time for a worker to answer what is in progress when it is to end."""
MAX_UNCONFIRMED = 32
"""Connections that a worker may have been given without having confirmed them."""


@dataclass(eq=False)
class HttpWorker:
    """A process, and the connections it has."""

    name: str
    process: asyncio.subprocess.Process
    control: socket.socket
    is_ready: bool = False
    given: int = 0
    """Connections that it was given since it started."""
    closed: int = 0
    """How many of them have ended."""
    unconfirmed: deque[socket.socket] = field(default_factory=deque)
    """Connections that it has not confirmed; if it ends before, another worker gets them."""

    @property
    def connections(self) -> int:
        return self.given - self.closed

    def give(self, connection: socket.socket) -> bool:
        """Hand a connection over, which is then the worker's; return whether that was possible."""
        if not self.is_ready or len(self.unconfirmed) >= MAX_UNCONFIRMED:
            return False
        try:
            socket.send_fds(self.control, [b"c"], [connection.fileno()])
        except OSError:  # it has ended, or reads nothing
            return False
        self.given += 1
        self.unconfirmed.append(connection)
        return True

    def confirmed(self) -> None:
        """Let go of the connection that was given first: the worker has it."""
        self.unconfirmed.popleft().close()

    async def end(self) -> None:
        """Let the worker answer what is in progress, then end it."""
        with suppress(ProcessLookupError):
            self.process.terminate()
        await self.exit_code()

    async def exit_code(self) -> int:
        """Return the exit code of a worker that is about to end; kill it if it does not.

        Sending it a signal before would collect the code in place of asyncio, which then has none.
        """
        try:
            return await asyncio.wait_for(self.process.wait(), END_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self.process.kill()
            return await self.process.wait()

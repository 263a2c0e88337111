"""Keeps the indices of the bases up to date while the server runs: its sessions may not.

For each base a process of `kbx jsonl` runs without a client: it indexes files that change.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kbx_tui.log_file import logger

END_SECONDS = 1.2
LEAST_SECONDS = 10.0
"""A process that ends sooner is not started again: it would end for the same reason."""


def follower_command(base: Path, *, trust: bool) -> list[str]:
    """Return the command line of the process that keeps the index of a base up to date."""
    command = [sys.executable, "-P", "-m", "kbx_tui", "--kb", str(base)]
    return [*command, *(["--trust"] if trust else []), "jsonl"]


@asynccontextmanager
async def indices_followed(commands: Sequence[Sequence[str]]) -> AsyncIterator[None]:
    """Run the processes within the block; what they report goes to stderr. Raises OSError."""
    followers: list[_Follower] = []
    try:
        for command in commands:
            followers.append(  # noqa: PERF401  # those that run are ended if one cannot be started
                _Follower(command, await _start(command))
            )
        yield
    finally:
        await asyncio.gather(*(follower.end() for follower in followers))


class _Follower:
    """A process that is started again when it ends unasked."""

    def __init__(self, command: Sequence[str], process: asyncio.subprocess.Process) -> None:
        self._command, self._process = command, process
        self._watching = asyncio.create_task(self._watch())

    async def end(self) -> None:
        """End the process, and start no other."""
        self._watching.cancel()
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), END_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _watch(self) -> None:
        while True:
            began = time.monotonic()
            code = await self._process.wait()
            goes_on = time.monotonic() - began >= LEAST_SECONDS
            then = "started again" if goes_on else "files that change are not indexed any more"
            logger().error("%s ended with %s; %s", shlex.join(self._command), code, then)
            if not goes_on:
                return
            try:
                self._process = await _start(self._command)
            except OSError as error:
                logger().error("it cannot be started: %s", error.strerror)
                return


async def _start(command: Sequence[str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,  # its end ends the process, even if we are killed
        stdout=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )

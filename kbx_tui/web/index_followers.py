"""Keeps the indices of the bases up to date while the server runs: its sessions may not.

For each base a process indexes files that change, and reports what the index holds: lines of JSON
as `{"index": {...}}`, with the fields of `IndexState`.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kbx_tui.http_service.service_state import IndexState, ServiceState
from kbx_tui.log_file import logger

END_SECONDS = 1.2
LEAST_SECONDS = 10.0
"""A process that ends sooner is not started again: it would end for the same reason."""


def follower_command(base: Path, *, trust: bool) -> list[str]:
    """Return the command line of the process that keeps the index of a base up to date."""
    command = [sys.executable, "-P", "-m", "kbx_tui.tools.http.indexer_process", str(base)]
    return [*command, *(["--trust"] if trust else [])]


@asynccontextmanager
async def indices_followed(
    commands: Sequence[Sequence[str]], state: ServiceState | None = None
) -> AsyncIterator[Mapping[str, int]]:
    """Run the processes within the block, and yield the pids of those that run, by name.

    What the indices hold is noted in `state`. Raises OSError.
    """
    state = state or ServiceState()
    pids: dict[str, int] = {}
    followers: list[_Follower] = []
    try:
        for number, command in enumerate(commands):
            followers.append(
                _Follower(f"indexer {number}", command, await _start(command), state, pids)
            )
        yield pids
    finally:
        await asyncio.gather(*(follower.end() for follower in followers))


class _Follower:
    """A process that is started again when it ends unasked."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        process: asyncio.subprocess.Process,
        state: ServiceState,
        pids: dict[str, int],
    ) -> None:
        self._name, self._command, self._process = name, command, process
        self._state, self._pids = state, pids
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
            self._pids[self._name] = self._process.pid
            await self._read_reports()
            code = await self._process.wait()
            del self._pids[self._name]
            self._state.forget(self._name)
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
            self._state.observer.restarted()

    async def _read_reports(self) -> None:
        """Note what the process reports, until it ends."""
        assert self._process.stdout is not None
        try:
            async for line in self._process.stdout:
                fields = json.loads(line)["index"]
                self._state.set_index(self._name, None if fields is None else IndexState(**fields))
        except (KeyError, TypeError, ValueError) as error:
            logger().error("%s sent what is not a report: %s", self._name, error)


async def _start(command: Sequence[str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,  # its end ends the process, even if we are killed
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )

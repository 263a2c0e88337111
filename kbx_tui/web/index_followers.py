"""Keeps the indices of the bases up to date while the server runs: its sessions may not.

For each base a process of `kbx jsonl` runs without a client: it indexes files that change.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

END_SECONDS = 1.2


def follower_command(base: Path, *, trust: bool) -> list[str]:
    """Return the command line of the process that keeps the index of a base up to date."""
    command = [sys.executable, "-P", "-m", "kbx_tui", "--kb", str(base)]
    return [*command, *(["--trust"] if trust else []), "jsonl"]


@asynccontextmanager
async def indices_followed(commands: Sequence[Sequence[str]]) -> AsyncIterator[None]:
    """Run the processes within the block; what they report goes to stderr. Raises OSError."""
    processes = [
        await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,  # its end ends the process, even if we are killed
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        for command in commands
    ]
    try:
        yield
    finally:
        await asyncio.gather(*map(_end, processes))


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), END_SECONDS)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

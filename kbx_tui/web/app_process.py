"""A process of the app that serves one visitor, and the packets that it exchanges with the server.

The protocol is that of textual-serve: after the line `GREETING` of the process, each side sends
packets: a byte for the kind, the length of the payload in four bytes (big-endian), and the payload.
Kind D is text for or from the terminal, M a message in JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from kbx_tui.object_store.store_uri import ENDPOINT_VARIABLES, OFFLINE

PASSED_ON = frozenset((
    "HOME", "KBX_LOG_DIR", "KBX_STATE_DIR", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "PYTHONPATH",
    "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "TZ", "USERPROFILE", "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
))  # fmt: skip
"""Variables that a process keeps. Keys and tokens are not among them."""
STORES = frozenset(("KBX_CACHE_DIR", *chain.from_iterable(ENDPOINT_VARIABLES.values())))
"""Variables that say where the copy of a published index is. The server's process fetches it."""
SOCKET = "{socket}"
"""Stands for a descriptor in a command line."""
APP_END_SECONDS = 1.2
"""Time to end by itself; longer than that, the server would be ended while it waits."""
ERROR_BYTES = 4_000
ERROR_SECONDS = 0.5


def app_command(bases: Sequence[Path], *, allow_writes: bool, memory_bytes: int) -> list[str]:
    """Return the command line of a process that shows these bases.

    `-P` keeps Python from importing modules from the current folder, which may hold anything.
    """
    limited = ["kbx_tui.web.limited_process", str(memory_bytes)]
    command = [sys.executable, "-P", "-m", *limited, "kbx_tui.tui.visitor"]
    return [*command, *_arguments(bases, allow_writes=allow_writes)]


def fork_command(bases: Sequence[Path], *, allow_writes: bool, memory_bytes: int) -> list[str]:
    """Return the command line of a fork server for such processes, for `fork_server`."""
    command = [sys.executable, "-P", "-m", "kbx_tui.tui.visitor.fork_server"]
    arguments = _arguments(bases, allow_writes=allow_writes)
    return [*command, SOCKET, str(memory_bytes), *arguments]


def _arguments(bases: Sequence[Path], *, allow_writes: bool) -> list[str]:
    arguments = [word for base in bases for word in ("--kb", str(base))]
    return [*arguments, "--allow-writes"] if allow_writes else arguments


def app_environment(environment: Mapping[str, str], width: int, height: int) -> dict[str, str]:
    """Return the environment of a process: few variables, and the size of its first screen."""
    passed_on = PASSED_ON | STORES
    kept = {name: value for name, value in environment.items() if name.upper() in passed_on}
    return kept | {
        OFFLINE: "1",
        "COLORTERM": "truecolor",
        "COLUMNS": str(width),
        "ROWS": str(height),
        "TERM": "xterm-256color",
    }


class Process(Protocol):
    """What is needed of a process; the methods as those of `asyncio.subprocess.Process`."""

    @property
    def pid(self) -> int: ...

    @property
    def stdin(self) -> asyncio.StreamWriter | None: ...

    @property
    def stdout(self) -> asyncio.StreamReader | None: ...

    @property
    def stderr(self) -> asyncio.StreamReader | None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...

    async def wait(self) -> int: ...


class AppProcess:
    """A running process; make one with `start`, or with a `ForkServer`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._errors = asyncio.create_task(self._read_errors())
        self._greeted = False

    @classmethod
    async def start(cls, command: Sequence[str], environment: Mapping[str, str]) -> AppProcess:
        """Start a process, without a shell and without a terminal. Raises OSError."""
        return cls(
            await asyncio.create_subprocess_exec(
                *command,
                env=environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # ctrl+c is for the server, which then ends it
            )
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    async def read(self) -> Packet | None:
        """Return the next packet; None when the process has ended. Raises BrokenPacket."""
        assert self._process.stdout is not None
        if not self._greeted:
            await read_greeting(self._process.stdout)
            self._greeted = True
        return await read_packet(self._process.stdout)

    async def type(self, text: str) -> None:
        """Send what the visitor types; wait while the process has much to read."""
        await self._send(encode_packet(DATA, text.encode("utf-8", "replace")))

    async def tell(self, message: dict[str, Any]) -> None:
        """Send a message."""
        await self._send(encode_message(message))

    async def end(self) -> None:
        """Ask the process to end; kill it if it does not."""
        with suppress(ProcessLookupError):
            self._process.terminate()
        await self.wait()

    async def wait(self) -> int:
        """Return the exit code of a process that is about to end; kill it if it does not."""
        try:
            code = await asyncio.wait_for(self._process.wait(), APP_END_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            code = await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        return code

    async def last_errors(self) -> str:
        """Return the end of what the process printed on stderr, after it has ended."""
        with suppress(TimeoutError):  # a process that it started may still have it
            return await asyncio.wait_for(self._errors, ERROR_SECONDS)
        return ""

    async def _send(self, packet: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # the reader learns that it ended
            self._process.stdin.write(packet)
            await self._process.stdin.drain()

    async def _read_errors(self) -> str:
        """Read what the process prints on stderr; return the end of it."""
        assert self._process.stderr is not None
        last = b""
        while block := await self._process.stderr.read(ERROR_BYTES):
            last = (last + block)[-ERROR_BYTES:]
        return last.decode("utf-8", "replace")


GREETING = b"__GANGLION__\n"
DATA, MESSAGE = b"D", b"M"
PAYLOAD_BYTES = 16_000_000
"""A screen takes less than a hundredth of it."""


class Packet(NamedTuple):
    """One packet of a process."""

    kind: bytes
    payload: bytes


class BrokenPacket(Exception):
    """A process sent what is not a packet."""


def encode_packet(kind: bytes, payload: bytes) -> bytes:
    """Return the bytes of one packet."""
    return b"%b%b%b" % (kind, len(payload).to_bytes(4, "big"), payload)


def encode_message(message: dict[str, Any]) -> bytes:
    """Return the bytes of a packet with a message."""
    return encode_packet(MESSAGE, json.dumps(message).encode())


async def read_greeting(reader: asyncio.StreamReader) -> None:
    """Read what precedes the packets. Raises BrokenPacket, also if the process ends before."""
    try:
        line = await reader.readline()
    except ValueError:
        line = b""
    if line != GREETING:
        raise BrokenPacket("the process did not start with the greeting of the protocol")


async def read_packet(reader: asyncio.StreamReader) -> Packet | None:
    """Return the next packet, or None when the process has ended. Raises BrokenPacket."""
    try:
        header = await reader.readexactly(5)
        size = int.from_bytes(header[1:], "big")
        if size > PAYLOAD_BYTES:
            raise BrokenPacket(f"a packet of {size:,} bytes is too large")
        return Packet(header[:1], await reader.readexactly(size))
    except asyncio.IncompleteReadError:
        return None

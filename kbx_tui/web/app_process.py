"""A process of the app that serves one visitor, and the packets that it exchanges with the server.

The package `kbx_tui.tui.visitor` describes the protocol.

On Linux, processes are forked from a fork server that has the program loaded. They start faster
than new programs, and share the memory of what is loaded.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from kbx_tui.http_service.server_process import exit_code
from kbx_tui.object_store.store_uri import ENDPOINT_VARIABLES, OFFLINE
from kbx_tui.user_files import logger

PASSED_ON = frozenset((
    "HOME", "KBX_CACHE_DIR", "KBX_LOG_DIR", "KBX_STATE_DIR", "LANG", "LC_ALL", "LC_CTYPE", "PATH",
    "PYTHONPATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "TZ", "USERPROFILE", "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    *chain.from_iterable(ENDPOINT_VARIABLES.values()),
))  # fmt: skip
"""Environment variables that a process keeps, without keys and tokens. The last ones say where the
copy of a published index is, which the server process fetches."""
APP = "kbx_tui.tui.visitor"
SOCKET = "{socket}"
"""Placeholder for the descriptor of a socket in a command line."""
END_SECONDS = 1.2
"""Time for a process to end by itself; if longer, the server would be killed while waiting."""
ERROR_BYTES = 4_000
ERROR_SECONDS = 0.5


def app_command(bases: Sequence[Path], *, allow_writes: bool, memory_bytes: int) -> list[str]:
    """Return the command line of a process that shows these bases.

    `-P` keeps Python from importing modules from the current folder, which may hold anything.
    """
    command = [sys.executable, "-P", "-m", APP, "--memory-bytes", str(memory_bytes)]
    command += [word for base in bases for word in ("--kb", str(base))]
    return [*command, "--allow-writes"] if allow_writes else command


def fork_command(command: Sequence[str]) -> list[str]:
    """Return the command line of a fork server for the processes of an `app_command`."""
    at = command.index(APP)
    return [*command[:at], f"{APP}.fork_server", SOCKET, *command[at + 1 :]]


def app_environment(environment: Mapping[str, str], width: int, height: int) -> dict[str, str]:
    """Return the environment of a process: `PASSED_ON`, and the size of its first screen."""
    kept = {name: value for name, value in environment.items() if name.upper() in PASSED_ON}
    return kept | {
        OFFLINE: "1",
        "COLORTERM": "truecolor",
        "COLUMNS": str(width),
        "ROWS": str(height),
        "TERM": "xterm-256color",
    }


class AppProcess:
    """A running process; make one with `start`, or with a `ForkServer`."""

    def __init__(self, process: asyncio.subprocess.Process | ForkedProcess) -> None:
        self._process, self.pid = process, process.pid
        self._errors = asyncio.create_task(_end_of(process.stderr))
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
                start_new_session=True,  # Ctrl+C is for the server, which then ends it
            )
        )

    async def read(self) -> Packet | None:
        """Return the next packet, or None if the process has ended. Raises BrokenPacket."""
        stream = self._process.stdout
        assert stream is not None
        if not self._greeted:
            with suppress(asyncio.IncompleteReadError):
                self._greeted = await stream.readexactly(len(GREETING)) == GREETING
            if not self._greeted:
                raise BrokenPacket("the process did not start with the greeting of the protocol")
        try:
            kind, *size = await stream.readexactly(5)
            if (length := int.from_bytes(size, "big")) > PAYLOAD_BYTES:
                raise BrokenPacket(f"a packet of {length:,} bytes is too large")
            return Packet(bytes([kind]), await stream.readexactly(length))
        except asyncio.IncompleteReadError:
            return None

    async def type(self, text: str) -> None:
        """Send what the visitor types; wait while the process has too much left to read."""
        await self._send(DATA, text.encode("utf-8", "replace"))

    async def tell(self, message: dict[str, Any]) -> None:
        await self._send(MESSAGE, json.dumps(message).encode())

    async def end(self) -> None:
        """Ask the process to end; kill it if it does not."""
        with suppress(ProcessLookupError):
            self._process.terminate()
        await self.wait()

    async def wait(self) -> int:
        """Return the exit code of a process that is about to end; kill it if it does not."""
        code = await exit_code(self._process, END_SECONDS)
        if self._process.stdin is not None:
            self._process.stdin.close()
        return code

    async def last_errors(self) -> str:
        """Return the end of what the process printed on stderr, after it has ended."""
        return await _in_time(self._errors)

    async def _send(self, kind: bytes, payload: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # `read` will report the end
            self._process.stdin.write(kind + len(payload).to_bytes(4, "big") + payload)
            await self._process.stdin.drain()


async def _end_of(stream: asyncio.StreamReader | None) -> str:
    assert stream is not None
    last = b""
    while block := await stream.read(ERROR_BYTES):
        last = (last + block)[-ERROR_BYTES:]
    return last.decode("utf-8", "replace")


async def _in_time(errors: asyncio.Task[str]) -> str:
    with suppress(TimeoutError):  # a child process may still have stderr open
        return await asyncio.wait_for(errors, ERROR_SECONDS)
    return ""


GREETING = b"__GANGLION__\n"
DATA, MESSAGE = b"D", b"M"
PAYLOAD_BYTES = 16_000_000
"""Maximum size of a payload; a screen takes less than a hundredth of it."""


class Packet(NamedTuple):
    kind: bytes
    payload: bytes


class BrokenPacket(Exception):
    """A process sent something other than a packet."""


FIRST_SECONDS = 20.0
"""Time for the fork server to load the program and answer."""
MESSAGE_BYTES = 65_536
KILLED = -int(signal.SIGKILL)


class ForkedProcess:
    """A process started by the fork server, with the interface that `AppProcess` needs."""

    def __init__(
        self,
        pid: int,
        ended: asyncio.Future[int],
        terminal: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        errors: asyncio.StreamReader,
    ) -> None:
        """`ended` gets the exit code when the fork server reports it."""
        self.pid, self._ended, self.stderr = pid, ended, errors
        self.stdout, self.stdin = terminal

    def terminate(self) -> None:
        self._send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self._send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def _send_signal(self, number: signal.Signals) -> None:
        if self._ended.done():  # another process may have its pid now
            raise ProcessLookupError
        os.kill(self.pid, number)


class ForkServer:
    """The server's handle of the fork server, whose processes are killed when it ends."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._process, self._control, self.pid = process, control, process.pid
        self._ends: dict[int, asyncio.Future[int]] = {}
        """Futures of the exit codes of running processes, by pid."""
        self._starts: dict[int, asyncio.Future[tuple[int, asyncio.Future[int]]]] = {}
        """Futures of (pid, future of the exit code), by number of the request."""
        self._numbers = itertools.count()
        self._errors = asyncio.create_task(_end_of(process.stderr))
        self._reading = asyncio.create_task(self._read())

    async def start(
        self, environment: Mapping[str, str], arguments: Sequence[str]
    ) -> AppProcess | None:
        """Return a new process with the size in `environment`; None if it cannot be forked."""
        if self._reading.done():
            return None
        pairs = [socket.socketpair(), socket.socketpair()]
        number = next(self._numbers)
        started = self._starts[number] = asyncio.get_running_loop().create_future()
        request = {
            "number": number,
            "columns": environment["COLUMNS"],
            "rows": environment["ROWS"],
            "arguments": arguments,
        }
        theirs = [other.fileno() for _, other in pairs]
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], theirs)
            await asyncio.wait_for(started, FIRST_SECONDS)
        except (OSError, asyncio.CancelledError) as error:  # OSError includes TimeoutError
            for ours, _ in pairs:
                ours.close()  # ends a process that starts too late
            if isinstance(error, asyncio.CancelledError):
                raise
            return None
        finally:
            self._starts.pop(number, None)
            for _, other in pairs:
                other.close()
        terminal = await asyncio.open_unix_connection(sock=pairs[0][0])
        errors = await _reader_of(pairs[1][0])
        pid, ended = started.result()
        return AppProcess(ForkedProcess(pid, ended, terminal, errors))

    async def end(self) -> None:
        self._reading.cancel()
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        self._control.close()

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError):
            while message := await loop.sock_recv(self._control, MESSAGE_BYTES):
                report = json.loads(message)
                if "code" in report:
                    if (ended := self._ends.pop(report["pid"], None)) is not None:
                        ended.set_result(report["code"])
                else:
                    ended = self._ends[report["pid"]] = loop.create_future()
                    start = self._starts.get(report["number"])
                    if start is not None and not start.done():
                        start.set_result((report["pid"], ended))
        for start in filter(lambda start: not start.done(), self._starts.values()):
            start.set_exception(ConnectionResetError())
        for pid, ended in self._ends.items():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            ended.set_result(KILLED)
        self._ends.clear()
        logger().error(
            "the fork server of kbx web has ended; each page starts its own program: %s",
            await _in_time(self._errors),
        )


class _ReaderProtocol(asyncio.StreamReaderProtocol):
    """Closes the connection at the end of the input."""

    def eof_received(self) -> bool:
        super().eof_received()
        return False


async def _reader_of(connection: socket.socket) -> asyncio.StreamReader:
    """Return a reader of a socket, without asyncio's writer, which closes it when dropped."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.create_unix_connection(lambda: _ReaderProtocol(reader), sock=connection)
    return reader


@asynccontextmanager
async def fork_server(
    command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[ForkServer | None]:
    """Run a fork server within the block; yield None without a command, or if not on Linux."""
    if not command or sys.platform != "linux":
        yield None
        return
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    with theirs:
        at = command.index(SOCKET)
        process = await asyncio.create_subprocess_exec(
            *command[:at],
            str(theirs.fileno()),
            *command[at + 1 :],
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    server = ForkServer(process, ours)
    try:
        yield server
    finally:
        await server.end()

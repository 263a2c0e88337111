"""Processes of the app as copies of one that has the program loaded, which is a fork server.

They start faster than a program of their own, and share the memory of what is loaded.
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

from kbx_tui.user_files import logger
from kbx_tui.web.app_process import ERROR_BYTES, ERROR_SECONDS, SOCKET, AppProcess

FIRST_SECONDS = 20.0
"""Time for the fork server to load the program, and to answer."""
MESSAGE_BYTES = 65_536
KILLED = -int(signal.SIGKILL)


class ForkedProcess:
    """A copy, with what `AppProcess` needs of a process."""

    def __init__(
        self,
        pid: int,
        ended: asyncio.Future[int],
        terminal: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        errors: asyncio.StreamReader,
    ) -> None:
        """`ended` is its exit code, once the fork server has reported it."""
        self.pid, self._ended, self.stderr = pid, ended, errors
        self.stdout, self.stdin = terminal

    def terminate(self) -> None:
        """Ask it to end. Raises ProcessLookupError if it has ended."""
        self._send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it. Raises ProcessLookupError if it has ended."""
        self._send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Return the exit code."""
        return await asyncio.shield(self._ended)

    def _send_signal(self, number: signal.Signals) -> None:
        if self._ended.done():  # its pid may be that of another process
            raise ProcessLookupError
        os.kill(self.pid, number)


class ForkServer:
    """The fork server, as its server sees it. When it ends, its processes are ended, too."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._process, self._control = process, control
        self._ends: dict[int, asyncio.Future[int]] = {}
        """The exit codes to come of the processes that run, by pid."""
        self._starts: dict[int, asyncio.Future[tuple[int, asyncio.Future[int]]]] = {}
        """The pids to come, each with the exit code to come, by the number of the request."""
        self._numbers = itertools.count()
        self._reading = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        return self._process.pid

    async def start(
        self, environment: Mapping[str, str], arguments: Sequence[str]
    ) -> AppProcess | None:
        """Return a new process with the size in `environment`; None if it cannot be made so."""
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
        except (OSError, asyncio.CancelledError) as error:  # TimeoutError is one of the first
            for ours, _ in pairs:
                ours.close()  # a process that is late ends with them
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
        """End the fork server."""
        self._reading.cancel()
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        self._control.close()

    async def _read(self) -> None:
        """Receive what the fork server reports, until it ends."""
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
            await self._last_errors(),
        )

    async def _last_errors(self) -> str:
        """Return the end of what the fork server printed on stderr, after it has ended."""
        assert self._process.stderr is not None
        with suppress(TimeoutError):
            errors = await asyncio.wait_for(self._process.stderr.read(), ERROR_SECONDS)
            return errors[-ERROR_BYTES:].decode("utf-8", "replace")
        return ""


class _ReaderProtocol(asyncio.StreamReaderProtocol):
    """Closes the connection when all has been read."""

    def eof_received(self) -> bool:
        super().eof_received()
        return False


async def _reader_of(connection: socket.socket) -> asyncio.StreamReader:
    """Return a reader of a socket to which nothing is written.

    That of `open_unix_connection` comes with a writer, which closes the socket when it is dropped.
    """
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.create_unix_connection(lambda: _ReaderProtocol(reader), sock=connection)
    return reader


@asynccontextmanager
async def fork_server(
    command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[ForkServer | None]:
    """Run a fork server within the block; None without a command, or where there is none."""
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

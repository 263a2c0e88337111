"""`kbx mcp --http --workers N`: several processes that answer, and the one that listens.

The process that listens accepts each connection and hands it to the worker that has the fewest. It
reads nothing of it, so that a slow client costs it nothing, and replaces a worker that ends.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace

from kbx_tui.errors import KbxError
from kbx_tui.http_service.service_state import ServiceState
from kbx_tui.tools.http.mcp_options import McpOptions, say
from kbx_tui.tools.http.reports import StateReports
from kbx_tui.tools.http.worker_process import ADOPTED, CLOSED, READY

MODULE = "kbx_tui.tools.http.worker_process"
RESTARTS, RESTART_SECONDS = 5, 60.0
"""More restarts than this within this time end the server: they would end for the same reason."""
START_SECONDS = 60.0
"""Time for a worker to be ready; one that is not is replaced."""
END_SECONDS = 1.8
"""Time for workers to answer what is in progress when the server ends."""
WAIT_SECONDS = 5.0
"""Time for which a connection waits while no worker is ready."""
ANSWER_SECONDS = 1.0
REPORT_BYTES = 65_536
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%b"
)
BUSY_BODY = json.dumps({
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": -32002, "message": "no process of this server is ready; try again"},
}).encode()  # fmt: skip


@dataclass
class _Worker:
    """A process, and the connections it has."""

    name: str
    process: asyncio.subprocess.Process
    control: socket.socket
    is_ready: bool = False
    connections: int = 0
    handed_over: deque[socket.socket] = field(default_factory=deque)
    """Connections that it has not confirmed; if it ends before, another worker gets them."""

    def give(self, connection: socket.socket) -> bool:
        """Hand a connection over; return whether that was possible."""
        try:
            socket.send_fds(self.control, [b"c"], [connection.fileno()])
        except OSError:  # it has ended, or reads nothing
            return False
        self.connections += 1
        self.handed_over.append(connection.dup())
        return True


class WorkerPool:
    """Runs the workers and hands connections out."""

    def __init__(self, options: McpOptions, count: int, state: ServiceState) -> None:
        self._options, self._count, self._state = options, count, state
        self._workers: dict[int, _Worker] = {}
        self._restarts: deque[float] = deque()
        self._available = asyncio.Event()
        self._failed: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._refusals: set[asyncio.Task[None]] = set()
        state.pids = self.pids

    def pids(self) -> dict[str, list[int]]:
        """Return the workers that run."""
        return {worker.name: [worker.process.pid] for worker in self._workers.values()}

    async def serve(self, listening: socket.socket) -> None:
        """Serve until `stop`. Raises KbxError if workers end again and again."""
        self._loop = asyncio.get_running_loop()
        self._failed = self._loop.create_future()
        listening.setblocking(False)
        watches = [asyncio.create_task(self._keep(number)) for number in range(self._count)]
        accepting = asyncio.create_task(self._accept(listening))
        try:
            await self._failed
        finally:
            accepting.cancel()
            listening.close()
            for watch in watches:
                watch.cancel()
            await asyncio.gather(*map(_end, self._workers.values()))
            self._workers.clear()

    def stop(self) -> None:
        """Let the workers answer what is in progress, then end. Callable on any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._finish, None)

    def _finish(self, error: Exception | None) -> None:
        if self._failed is not None and not self._failed.done():
            if error is None:
                self._failed.set_result(None)
            else:
                self._failed.set_exception(error)

    async def _keep(self, number: int) -> None:
        """Run a worker, and another one whenever it ends."""
        while True:
            try:
                worker = await self._start(number)
                await self._follow(worker)
                code = await _exit_code(worker)
            except OSError as error:
                self._finish(KbxError(f"a worker cannot be started: {error.strerror}"))
                return
            del self._workers[number]
            self._state.forget(worker.name)
            now = time.monotonic()
            self._restarts.append(now)
            while now - self._restarts[0] > RESTART_SECONDS:
                self._restarts.popleft()
            if len(self._restarts) > RESTARTS:
                often = f"{len(self._restarts)} times within {RESTART_SECONDS:g} seconds"
                why = f"the last with exit code {code}; --workers 1 shows the reason"
                self._finish(KbxError(f"workers ended {often}, {why}"))
                return
            self._state.observer.restarted()
            say(f"{worker.name} ended with exit code {code}; another one is started")

    async def _start(self, number: int) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", MODULE, str(theirs.fileno())),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # ctrl+c is for the process that listens
            )
        options = replace(self._options, keeps_index=number == 0)
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended already
            ours.sendall(json.dumps(asdict(options)).encode() + b"\n")
        ours.setblocking(False)
        worker = self._workers[number] = _Worker(f"worker {number}", process, ours)
        return worker

    async def _follow(self, worker: _Worker) -> None:
        """Read what a worker reports until it ends; end one that does not get ready."""
        reports = StateReports(self._state, worker.name)
        reader, writer = await asyncio.open_unix_connection(sock=worker.control.dup())
        deadline = asyncio.get_running_loop().call_later(START_SECONDS, worker.process.kill)
        try:
            with suppress(OSError, ValueError):  # ValueError: a line that is not a report
                while line := await reader.readline():
                    if line == READY:
                        deadline.cancel()
                        worker.is_ready = True
                        self._available.set()
                    elif line == ADOPTED:
                        worker.handed_over.popleft().close()
                    elif line == CLOSED:
                        worker.connections -= 1
                    else:
                        reports.receive(line)
        finally:
            deadline.cancel()
            worker.is_ready = False
            writer.close()
            worker.control.close()
            while worker.handed_over:
                with worker.handed_over.popleft() as connection:
                    if not self._give(connection):
                        self._refuse(connection.dup())

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError:  # too many open files, or a client that left
                await asyncio.sleep(0.05)
                continue
            with connection:
                if not self._give(connection):
                    self._available.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._available.wait(), WAIT_SECONDS)
                    if not self._give(connection):
                        self._refuse(connection.dup())

    def _give(self, connection: socket.socket) -> bool:
        """Hand a connection to the worker that has the fewest; return whether one took it."""
        ready = [worker for worker in self._workers.values() if worker.is_ready]
        ready.sort(key=lambda worker: worker.connections)
        return any(worker.give(connection) for worker in ready)

    def _refuse(self, connection: socket.socket) -> None:
        """Tell a client to try again."""
        self._state.observer.rejected("no_worker")
        task = asyncio.create_task(_answer_busy(connection))
        self._refusals.add(task)
        task.add_done_callback(self._refusals.discard)


async def _answer_busy(connection: socket.socket) -> None:
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection(sock=connection)
            try:
                await reader.read(REPORT_BYTES)  # what is left unread would cut the answer off
                writer.write(BUSY % (len(BUSY_BODY), BUSY_BODY))
                await writer.drain()
            finally:
                writer.close()


async def _end(worker: _Worker) -> None:
    """Let a worker answer what is in progress, then end it."""
    with suppress(ProcessLookupError):
        worker.process.terminate()
    await _exit_code(worker)


async def _exit_code(worker: _Worker) -> int:
    """Return the exit code of a worker that is about to end; kill it if it does not.

    Sending it a signal before would collect the code in place of asyncio, which then has none.
    """
    try:
        return await asyncio.wait_for(worker.process.wait(), END_SECONDS)
    except TimeoutError:
        with suppress(ProcessLookupError):
            worker.process.kill()
        return await worker.process.wait()

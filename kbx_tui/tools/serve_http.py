"""Serves MCP over HTTP in this process, or in several workers that it starts.

With workers, this process only accepts connections and hands each to the worker that has the
fewest. It reads nothing from them, so that a slow client costs it nothing, and replaces workers
that end.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from kbx_tui.ending import on_signal
from kbx_tui.errors import KbxError
from kbx_tui.http_service.monitor import MonitorPort, monitored
from kbx_tui.http_service.server_process import (
    ServiceState,
    end_process,
    exit_code,
)
from kbx_tui.system import allow_connections
from kbx_tui.tools.engine_process import start_log
from kbx_tui.tools.engine_worker import EngineWorker, McpOptions, say
from kbx_tui.tools.mcp_http import McpProcess

PROCESS = "server"


def serve_one(
    options: McpOptions, engine: EngineWorker, listening: socket.socket, port: MonitorPort | None
) -> None:
    """Serve in this process until a signal arrives, then answer pending requests."""
    state = ServiceState(pids=lambda: {PROCESS: [os.getpid()]})
    process = McpProcess(engine, options, partial(state.note, PROCESS))
    asyncio.run(_serve(process, listening, port, state))


def serve_several(
    options: McpOptions, count: int, listening: socket.socket, port: MonitorPort | None
) -> None:
    """Serve with `count` worker processes. Raises KbxError if they end again and again."""
    state = ServiceState()
    asyncio.run(_serve(WorkerPool(options, count, state), listening, port, state))


async def _serve(
    service: McpProcess | WorkerPool,
    listening: socket.socket,
    port: MonitorPort | None,
    state: ServiceState,
) -> None:
    allow_connections()
    start_log()
    with on_signal(service.stop):
        async with monitored(port, state):
            await service.serve(listening)


MODULE = "kbx_tui.tools.mcp_http"
RESTARTS, RESTART_SECONDS = 5, 60.0
"""More restarts than this within this time end the server: new workers would fail as well."""
START_SECONDS = 60.0
"""Time for a worker to get ready, after which it is replaced."""
STALL_LOOKS, LOOK_SECONDS = 6, 5.0
"""A worker that confirms no connection during this many checks in a row is stuck, and is replaced.
Checks are counted, not seconds, because time also passes while the machine is suspended."""


class WorkerPool:
    def __init__(self, options: McpOptions, count: int, state: ServiceState) -> None:
        self._options, self._count, self._state = options, count, state
        self._workers: dict[int, HttpWorker] = {}
        self._restarts: deque[float] = deque()
        self._queue = ConnectionQueue(
            self._workers.values, lambda: state.observer.rejected("no_worker")
        )
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        state.pids = self.pids

    def pids(self) -> dict[str, list[int]]:
        return {worker.name: [worker.process.pid] for worker in list(self._workers.values())}

    async def serve(self, listening: socket.socket) -> None:
        """Serve until `stop`. Raises KbxError if workers end again and again."""
        self._loop = asyncio.get_running_loop()
        listening.setblocking(False)
        work = [*map(self._keep, range(self._count)), self._accept(listening)]
        tasks = [asyncio.create_task(each) for each in (self._stopping.wait(), *work)]
        try:
            (ended, *_), _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            ended.result()  # raises, unless it was the wait for `stop` that ended
        finally:
            for task in tasks:
                task.cancel()
            listening.close()
            self._queue.close()
            running = (worker.process for worker in self._workers.values())
            await asyncio.gather(*(end_process(process, END_SECONDS) for process in running))
            self._workers.clear()

    def stop(self) -> None:
        """Let the workers answer pending requests, then end. Callable from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has already ended
                self._loop.call_soon_threadsafe(self._stopping.set)

    async def _keep(self, number: int) -> None:
        """Run a worker, and another one whenever it ends. Raises KbxError if none can run."""
        while True:
            try:
                worker = await self._start(number)
                await self._follow(worker)
                code = await exit_code(worker.process, END_SECONDS)
            except OSError as error:
                raise KbxError(f"a worker cannot be started: {error.strerror}") from error
            del self._workers[number]
            self._state.forget(worker.name)
            now = time.monotonic()
            self._restarts.append(now)
            while now - self._restarts[0] > RESTART_SECONDS:
                self._restarts.popleft()
            if len(self._restarts) > RESTARTS:
                often = f"{len(self._restarts)} times within {RESTART_SECONDS:g} seconds"
                why = f"the last with exit code {code}; --workers 1 shows the reason"
                raise KbxError(f"workers ended {often}, {why}")
            self._state.observer.restarted()
            say(f"{worker.name} ended with exit code {code}; another one is started")

    async def _start(self, number: int) -> HttpWorker:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", MODULE, str(theirs.fileno())),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl+C is for the listening process
            )
        options = replace(self._options, keeps_index=number == 0)
        with suppress(BrokenPipeError, ConnectionResetError):  # the worker has already ended
            ours.sendall(json.dumps(asdict(options)).encode() + b"\n")
        ours.setblocking(False)
        worker = self._workers[number] = HttpWorker(f"worker {number}", process, ours)
        return worker

    async def _follow(self, worker: HttpWorker) -> None:
        """Read the reports of a worker until it ends; kill it if it does not get ready or hangs."""
        reader, writer = await asyncio.open_unix_connection(sock=worker.control.dup())
        deadline = asyncio.get_running_loop().call_later(START_SECONDS, worker.process.kill)
        watching = asyncio.create_task(_end_if_stalled(worker))
        try:
            with suppress(OSError, ValueError):  # ValueError: a line that is not a report
                while line := await reader.readline():
                    match json.loads(line):
                        case {"ready": _}:
                            deadline.cancel()
                            worker.is_ready = True
                            self._queue.hand_over()
                        case {"adopted": _}:
                            worker.confirmed()
                            self._queue.hand_over()
                        case {"closed": int(closed)}:
                            worker.closed = closed
                        case report:
                            for kind, values in report.items():
                                self._state.note(worker.name, kind, *values)
        finally:
            deadline.cancel()
            watching.cancel()
            worker.is_ready = False
            writer.close()
            worker.control.close()
            while worker.unconfirmed:
                self._queue.add(worker.unconfirmed.popleft())

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError:  # too many open files, or the client has disconnected
                await asyncio.sleep(0.05)
            else:
                self._queue.add(connection)


async def _end_if_stalled(worker: HttpWorker) -> None:
    oldest, looks = None, 0
    while looks < STALL_LOOKS:
        await asyncio.sleep(LOOK_SECONDS)
        before, oldest = oldest, worker.unconfirmed[0] if worker.unconfirmed else None
        looks = looks + 1 if oldest is not None and oldest is before else 0
    seconds = STALL_LOOKS * LOOK_SECONDS
    say(f"{worker.name} has taken no connection for {seconds:g} seconds and is ended")
    worker.process.kill()


END_SECONDS = 1.8
"""Time for a worker to answer pending requests when it is asked to end."""
MAX_UNCONFIRMED = 32
"""Maximum number of connections handed to a worker that it has not confirmed yet."""


@dataclass(eq=False)
class HttpWorker:
    name: str
    process: asyncio.subprocess.Process
    control: socket.socket
    is_ready: bool = False
    given: int = 0
    closed: int = 0
    unconfirmed: deque[socket.socket] = field(default_factory=deque)
    """Connections that it has not confirmed; if it ends first, other workers get them."""

    @property
    def connections(self) -> int:
        return self.given - self.closed

    def give(self, connection: socket.socket) -> bool:
        """Hand a connection over to the worker; return whether that was possible."""
        if not self.is_ready or len(self.unconfirmed) >= MAX_UNCONFIRMED:
            return False
        try:
            socket.send_fds(self.control, [b"c"], [connection.fileno()])
        except OSError:  # the worker has ended or does not read
            return False
        self.given += 1
        self.unconfirmed.append(connection)
        return True

    def confirmed(self) -> None:
        """Close our copy of the oldest unconfirmed connection: the worker has it."""
        self.unconfirmed.popleft().close()


WAIT_SECONDS = 5.0
MAX_WAITING = 256
"""Maximum number of waiting connections, and of refusals being sent."""
ANSWER_SECONDS = 1.0
REQUEST_BYTES = 65_536
BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%b"
)
BUSY_BODY = json.dumps({
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": -32002, "message": "no process of this server is ready; try again"},
}).encode()  # fmt: skip


class ConnectionQueue:
    """Hands each connection, in order of arrival, to the worker that has the fewest. Among equals,
    it chooses the one given the fewest so far, so that all are used and have their index open."""

    def __init__(
        self, workers: Callable[[], Iterable[HttpWorker]], refused: Callable[[], object]
    ) -> None:
        """`refused` is called for each connection that no worker took."""
        self._workers, self._refused = workers, refused
        self._waiting: dict[socket.socket, asyncio.TimerHandle] = {}
        self._refusals: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def add(self, connection: socket.socket) -> None:
        """Hand a connection over; if no worker takes it in time, tell its client to try again."""
        if self._is_closed:
            connection.close()
            return
        if len(self._waiting) >= MAX_WAITING:
            self._refuse(connection)
            return
        loop = asyncio.get_running_loop()
        self._waiting[connection] = loop.call_later(WAIT_SECONDS, self._expire, connection)
        self.hand_over()

    def hand_over(self) -> None:
        """Hand over waiting connections; call this whenever a worker may take more."""
        while self._waiting:
            connection, timer = next(iter(self._waiting.items()))
            workers = sorted(self._workers(), key=lambda each: (each.connections, each.given))
            if not any(worker.give(connection) for worker in workers):
                return
            timer.cancel()
            del self._waiting[connection]

    def close(self) -> None:
        self._is_closed = True
        for connection, timer in self._waiting.items():
            timer.cancel()
            connection.close()
        self._waiting.clear()

    def _expire(self, connection: socket.socket) -> None:
        del self._waiting[connection]
        self._refuse(connection)

    def _refuse(self, connection: socket.socket) -> None:
        self._refused()
        if len(self._refusals) >= MAX_WAITING:
            connection.close()
            return
        task = asyncio.create_task(_answer_busy(connection))
        self._refusals.add(task)
        task.add_done_callback(self._refusals.discard)


async def _answer_busy(connection: socket.socket) -> None:
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection(sock=connection)
            try:
                await reader.read(REQUEST_BYTES)  # closing with unread data would cut the answer
                writer.write(BUSY % (len(BUSY_BODY), BUSY_BODY))
                await writer.drain()
            finally:
                writer.close()

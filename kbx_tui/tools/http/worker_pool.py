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
from dataclasses import asdict, replace

from kbx_tui.errors import KbxError
from kbx_tui.http_service.service_state import ServiceState
from kbx_tui.tools.http.connection_queue import ConnectionQueue
from kbx_tui.tools.http.http_worker import HttpWorker
from kbx_tui.tools.http.mcp_options import McpOptions, say
from kbx_tui.tools.http.reports import StateReports

MODULE = "kbx_tui.tools.http.worker_process"
RESTARTS, RESTART_SECONDS = 5, 60.0
"""More restarts than this within this time end the server: they would end for the same reason."""
START_SECONDS = 60.0
"""Time for a worker to be ready; one that is not is replaced."""
STALL_LOOKS, LOOK_SECONDS = 6, 5.0
"""A worker that confirms no connection for so many looks in a row hangs, and is replaced. Looks are
counted, not seconds, which pass while the machine stands still, too."""


class WorkerPool:
    """Runs the workers and hands connections out."""

    def __init__(self, options: McpOptions, count: int, state: ServiceState) -> None:
        self._options, self._count, self._state = options, count, state
        self._workers: dict[int, HttpWorker] = {}
        self._restarts: deque[float] = deque()
        self._queue = ConnectionQueue(
            self._workers.values, lambda: state.observer.rejected("no_worker")
        )
        self._failed: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        state.pids = self.pids

    def pids(self) -> dict[str, list[int]]:
        """Return the workers that run."""
        return {worker.name: [worker.process.pid] for worker in list(self._workers.values())}

    async def serve(self, listening: socket.socket) -> None:
        """Serve until `stop`. Raises KbxError if workers end again and again."""
        self._loop = asyncio.get_running_loop()
        self._failed = self._loop.create_future()
        listening.setblocking(False)
        tasks = [asyncio.create_task(self._keep(number)) for number in range(self._count)]
        tasks.append(asyncio.create_task(self._accept(listening)))
        for task in tasks:
            task.add_done_callback(self._task_ended)
        try:
            await self._failed
        finally:
            for task in tasks:
                task.cancel()
            listening.close()
            self._queue.close()
            await asyncio.gather(*(worker.end() for worker in self._workers.values()))
            self._workers.clear()

    def stop(self) -> None:
        """Let the workers answer what is in progress, then end. Callable on any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._finish, None)

    def _finish(self, error: BaseException | None) -> None:
        if self._failed is not None and not self._failed.done():
            if error is None:
                self._failed.set_result(None)
            else:
                self._failed.set_exception(error)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        """End the server, which cannot do without this task."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._finish(error)

    async def _keep(self, number: int) -> None:
        """Run a worker, and another one whenever it ends. Raises KbxError if none can run."""
        while True:
            try:
                worker = await self._start(number)
                await self._follow(worker)
                code = await worker.exit_code()
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
                start_new_session=True,  # ctrl+c is for the process that listens
            )
        options = replace(self._options, keeps_index=number == 0)
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended already
            ours.sendall(json.dumps(asdict(options)).encode() + b"\n")
        ours.setblocking(False)
        worker = self._workers[number] = HttpWorker(f"worker {number}", process, ours)
        return worker

    async def _follow(self, worker: HttpWorker) -> None:
        """Read what a worker reports until it ends; end one that does not get ready, or hangs."""
        reports = StateReports(self._state, worker.name)
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
                            reports.receive(report)
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
            except OSError:  # too many open files, or a client that left
                await asyncio.sleep(0.05)
            else:
                self._queue.add(connection)


async def _end_if_stalled(worker: HttpWorker) -> None:
    """Kill a worker once it confirms nothing of what it was given."""
    oldest, looks = None, 0
    while looks < STALL_LOOKS:
        await asyncio.sleep(LOOK_SECONDS)
        before, oldest = oldest, worker.unconfirmed[0] if worker.unconfirmed else None
        looks = looks + 1 if oldest is not None and oldest is before else 0
    seconds = STALL_LOOKS * LOOK_SECONDS
    say(f"{worker.name} has taken no connection for {seconds:g} seconds and is ended")
    worker.process.kill()

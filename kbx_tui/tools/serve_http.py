"""Serves MCP over HTTP in this process, or in several workers that it starts.

Workers accept connections on one socket, which this process keeps open, so that those who connect
while a worker starts, or in place of one that ended, wait for it. This process replaces workers
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
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial

from kbx_tui.ending import on_signal
from kbx_tui.errors import KbxError
from kbx_tui.http_service.monitor import MonitorPort, monitored
from kbx_tui.http_service.server_process import ServiceState, end_process, exit_code, start_child
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
LOOK_SECONDS, START_LOOKS, SILENT_LOOKS = 5.0, 12, 6
"""A worker that reports nothing in this many waits in a row is stuck, and is replaced; the first
report may take longer. Waits are counted, not seconds, because time also passes while this process
is stopped or the machine is suspended: then a wait ends before the reports are read."""
END_SECONDS = 1.8
"""Time for a worker to answer pending requests when it is asked to end."""


class WorkerPool:
    def __init__(self, options: McpOptions, count: int, state: ServiceState) -> None:
        self._options, self._count, self._state = options, count, state
        self._workers: dict[str, asyncio.subprocess.Process] = {}
        self._restarts: deque[float] = deque()
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        state.pids = self.pids

    def pids(self) -> dict[str, list[int]]:
        return {name: [process.pid] for name, process in list(self._workers.items())}

    async def serve(self, listening: socket.socket) -> None:
        """Serve until `stop`. Raises KbxError if workers end again and again."""
        self._loop = asyncio.get_running_loop()
        listening.setblocking(False)
        work = [self._keep(number, listening) for number in range(self._count)]
        tasks = [asyncio.create_task(each) for each in (self._stopping.wait(), *work)]
        try:
            (ended, *_), _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            ended.result()  # raises, unless it was the wait for `stop` that ended
        finally:
            for task in tasks:
                task.cancel()
            listening.close()
            ends = [end_process(process, END_SECONDS) for process in self._workers.values()]
            await asyncio.gather(*ends)
            self._workers.clear()

    def stop(self) -> None:
        """Let the workers answer pending requests, then end. Callable from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has already ended
                self._loop.call_soon_threadsafe(self._stopping.set)

    async def _keep(self, number: int, listening: socket.socket) -> None:
        """Run a worker, and another one whenever it ends. Raises KbxError if none can run."""
        name = f"worker {number}"
        options = replace(self._options, keeps_index=number == 0)
        while True:
            try:
                process = self._workers[name] = await _start(options, listening)
                await self._follow(name, process)
                code = await exit_code(process, END_SECONDS)
            except OSError as error:
                raise KbxError(f"a worker cannot be started: {error.strerror}") from error
            del self._workers[name]
            self._state.forget(name)
            now = time.monotonic()
            self._restarts.append(now)
            while now - self._restarts[0] > RESTART_SECONDS:
                self._restarts.popleft()
            if len(self._restarts) > RESTARTS:
                often = f"{len(self._restarts)} times within {RESTART_SECONDS:g} seconds"
                why = f"the last with exit code {code}; --workers 1 shows the reason"
                raise KbxError(f"workers ended {often}, {why}")
            self._state.observer.restarted()
            say(f"{name} ended with exit code {code}; another one is started")

    async def _follow(self, name: str, process: asyncio.subprocess.Process) -> None:
        """Read the reports of a worker until it ends; kill it if it reports nothing for long."""
        assert process.stdout is not None
        silent, most = 0, START_LOOKS
        while silent < most:
            try:
                line = await asyncio.wait_for(process.stdout.readline(), LOOK_SECONDS)
                if not line:
                    return
                for kind, values in json.loads(line).items():
                    self._state.note(name, kind, *values)
                silent, most = 0, SILENT_LOOKS
            except TimeoutError:
                silent += 1
            except (AttributeError, TypeError, ValueError):  # a line that is not a report
                break
        else:
            say(f"{name} has not responded for {most * LOOK_SECONDS:g} seconds and is ended")
        with suppress(ProcessLookupError):
            process.kill()


async def _start(options: McpOptions, listening: socket.socket) -> asyncio.subprocess.Process:
    descriptor = listening.fileno()
    process = await start_child(
        *(sys.executable, "-P", "-m", MODULE, str(descriptor)), pass_fds=[descriptor]
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(asdict(options)).encode() + b"\n")
    return process

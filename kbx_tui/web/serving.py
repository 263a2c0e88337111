"""Runs the server until it is asked to stop, and processes that keep the indices of its bases up to
date: its sessions may not.

For each base a process indexes files that change, and reports what the index holds: lines of JSON
as `{"index": [{...}]}`, with the fields of `IndexState`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from kbx_tui.http_service.connection_guard import ConnectionGuard, ConnectionLimits
from kbx_tui.http_service.monitor import MonitorPort, monitored
from kbx_tui.http_service.server_process import ServiceState, end_process, log_libraries
from kbx_tui.user_files import logger
from kbx_tui.web.app_process import AppProcess, ForkServer, app_environment, fork_server
from kbx_tui.web.browser_session import Limits, SessionRegistry
from kbx_tui.web.links import Visitors, links_served
from kbx_tui.web.listening import Listening
from kbx_tui.web.page_messages import Opening
from kbx_tui.web.web_app import WebApp


@dataclass
class WebServer:
    """A server of the app."""

    listening: Listening
    command: Sequence[str]
    """Starts a process of the app."""
    limits: Limits = field(default_factory=Limits)
    followers: Sequence[Sequence[str]] = ()
    """Start the processes that keep the indices up to date."""
    fork_command: Sequence[str] = ()
    """Starts a fork server for processes of the app; empty to start each with `command`."""
    monitor: MonitorPort | None = None
    """Where health and metrics are served, if at all."""

    def __post_init__(self) -> None:
        self.visitors = Visitors(self.limits.link_seconds, self.limits.visitor_seconds)
        self.registry = SessionRegistry(self._start, self.limits)
        self.state = ServiceState(
            pids=self._pids, sessions=lambda: (len(self.registry), self.limits.sessions)
        )
        self._indexers: Mapping[str, int] = {}
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._forks: ForkServer | None = None
        limits = ConnectionLimits(
            at_once=self.limits.connections,
            receive_seconds=self.limits.request_seconds,
            handshake_seconds=self.limits.handshake_seconds,
        )
        self.guard = ConnectionGuard(limits, self.listening.tls)

    def new_link(self) -> str:
        """Return the address of the page with a token that is valid once.

        The token is in the fragment, which browsers do not send: it is in no log of a proxy, and
        programs that fetch links to preview them do not use it up.
        """
        return f"{self.listening.url}#{self.visitors.new_token()}"

    async def serve(self, ready: Callable[[], object]) -> None:
        """Serve until `stop`; `ready` is called when requests are answered. Raises ConfigError."""
        self._loop = asyncio.get_running_loop()
        log_libraries()
        app = WebApp(
            self.listening, self.visitors, self.registry, self.limits, self.guard, self.state
        )
        runner = web.AppRunner(app.application(), access_log=None, handle_signals=False)
        await runner.setup()
        assert runner.server is not None
        new_connection = runner.server
        async with (
            links_served(self.listening, self.new_link),
            fork_server(self.fork_command, app_environment(os.environ, 80, 24)) as self._forks,
            indices_followed(self.followers, self.state) as self._indexers,
            monitored(self.monitor, self.state),
        ):
            serving = await self._loop.create_server(
                lambda: self.guard.wrap(new_connection()), sock=self.listening.socket
            )
            try:
                ready()
                await self._stopping.wait()
            finally:
                serving.close()
                await self.registry.end_all("the server has ended")
                self.guard.close_all()
        await runner.cleanup()

    def stop(self) -> None:
        """End `serve`. Callable on any thread."""
        self.call(self._stopping.set)

    def call(self, function: Callable[[], object]) -> None:
        """Call a function on the event loop of `serve`, if that runs. Callable on any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(function)

    def _pids(self) -> dict[str, list[int]]:
        """Return the processes that run, by what they do."""
        pids = {"server": [os.getpid()], **{name: [pid] for name, pid in self._indexers.items()}}
        if self._forks is not None:
            pids["fork server"] = [self._forks.pid]
        if sessions := [session.process.pid for session in self.registry]:
            pids["sessions"] = sessions
        return pids

    async def _start(self, opening: Opening) -> AppProcess:
        environment = app_environment(os.environ, opening.width, opening.height)
        scheme = ["--scheme", opening.scheme] if opening.scheme else []
        if self._forks is not None and (copy := await self._forks.start(environment, scheme)):
            return copy
        return await AppProcess.start([*self.command, *scheme], environment)


END_SECONDS = 1.2
LEAST_SECONDS = 10.0
"""A process that ends sooner is not started again: it would end for the same reason."""


def follower_command(base: Path, *, trust: bool) -> list[str]:
    """Return the command line of the process that keeps the index of a base up to date."""
    command = [sys.executable, "-P", "-m", "kbx_tui.tools.engine_process", str(base)]
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
        await end_process(self._process, END_SECONDS)

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
                for kind, values in json.loads(line).items():
                    self._state.note(self._name, kind, *values)
        except (AttributeError, TypeError, ValueError) as error:
            logger().error("%s sent what is not a report: %s", self._name, error)


async def _start(command: Sequence[str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,  # its end ends the process, even if we are killed
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )

"""Runs the server until it is asked to stop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import web

from kbx_tui.http_service.monitor import MonitorPort, monitored
from kbx_tui.http_service.server_log import log_libraries
from kbx_tui.http_service.service_state import ServiceState
from kbx_tui.web.connection_guard import ConnectionGuard
from kbx_tui.web.index_followers import indices_followed
from kbx_tui.web.link_service import links_served
from kbx_tui.web.listening import Listening
from kbx_tui.web.sessions.app_process import AppProcess, app_environment
from kbx_tui.web.sessions.forked_processes import ForkServer, fork_server
from kbx_tui.web.sessions.page_messages import Opening
from kbx_tui.web.sessions.session_registry import SessionRegistry
from kbx_tui.web.visitors import Visitors
from kbx_tui.web.web_app import WebApp
from kbx_tui.web.web_limits import Limits


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
        self.guard: ConnectionGuard
        """Set by `serve`."""

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
        runner = web.AppRunner(self._application(), access_log=None, handle_signals=False)
        await runner.setup()
        assert runner.server is not None
        guard = self.guard = ConnectionGuard(runner.server, self.limits, self.listening.tls)
        async with (
            links_served(self.listening, self.new_link),
            fork_server(self.fork_command, app_environment(os.environ, 80, 24)) as self._forks,
            indices_followed(self.followers, self.state) as self._indexers,
            monitored(self.monitor, self.state),
        ):
            serving = await self._loop.create_server(guard, sock=self.listening.socket)
            try:
                ready()
                await self._stopping.wait()
            finally:
                serving.close()
                await self.registry.end_all("the server has ended")
                guard.close_all()
        await runner.cleanup()

    def stop(self) -> None:
        """End `serve`. Callable on any thread."""
        self.call(self._stopping.set)

    def call(self, function: Callable[[], object]) -> None:
        """Call a function on the event loop of `serve`, if that runs. Callable on any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(function)

    def _application(self) -> web.Application:
        listening = self.listening
        return WebApp(
            listening.rules,
            listening.path,
            self.visitors,
            self.registry,
            self.limits,
            lambda transport: self.guard.keep(transport),
            self.state,
        ).application()

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

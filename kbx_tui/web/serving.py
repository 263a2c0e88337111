"""The web server of the app: its lifetime, its routes, and the processes that keep the indices of
its bases up to date, because sessions may not write them.

One process per base indexes changed files and reports the content of the index, in lines of JSON
such as `{"index": [{...}]}` with the fields of `IndexState`.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import os
import secrets
import shlex
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from aiohttp import WSMsgType, web

from kbx_tui.http_service.connection_guard import ConnectionGuard
from kbx_tui.http_service.hosts import refusal
from kbx_tui.http_service.monitor import MonitorPort, monitored
from kbx_tui.http_service.server_process import (
    ServiceState,
    end_process,
    log_libraries,
    start_child,
)
from kbx_tui.user_files import logger
from kbx_tui.web.app_process import AppProcess, ForkServer, app_environment, fork_server
from kbx_tui.web.browser_session import Closing, Limits, NoSession, PageSocket, SessionRegistry
from kbx_tui.web.links import Listening, Visitors, links_served
from kbx_tui.web.page_messages import BadMessage, Opening, parse_opening


@dataclass
class WebServer:
    listening: Listening
    command: Sequence[str]
    limits: Limits = field(default_factory=Limits)
    followers: Sequence[Sequence[str]] = ()
    """Command lines of the processes that keep the indices up to date."""
    fork_command: Sequence[str] = ()
    """Command line of a fork server for app processes; empty to start each with `command`."""
    monitor: MonitorPort | None = None

    def __post_init__(self) -> None:
        self.visitors = Visitors(self.limits.link_seconds, self.limits.visitor_seconds)
        self.registry = SessionRegistry(self._start, self.limits)
        self.state = ServiceState(
            pids=self._pids, sessions=lambda: (len(self.registry), self.limits.sessions)
        )
        self._indexers: Mapping[str, asyncio.subprocess.Process] = {}
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._forks: ForkServer | None = None
        self.guard = ConnectionGuard(self.limits.connection, self.listening.tls)

    def new_link(self) -> str:
        """Return the address of the page with a token that is valid once.

        The token is in the fragment, which browsers do not send: it does not appear in logs of
        proxies, and programs that fetch links for previews do not use it up.
        """
        return f"{self.listening.url}#{self.visitors.new_token()}"

    async def serve(self, ready: Callable[[], object]) -> None:
        """Serve until `stop`; `ready` is called when requests are answered. Raises ConfigError."""
        self._loop = asyncio.get_running_loop()
        log_libraries()
        runner = web.AppRunner(WebApp(self).application(), access_log=None, handle_signals=False)
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
        """End `serve`. Callable from any thread."""
        self.call(self._stopping.set)

    def call(self, function: Callable[[], object]) -> None:
        """Call a function on the event loop of `serve`, if running. Callable from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has already ended
                self._loop.call_soon_threadsafe(function)

    def _pids(self) -> dict[str, list[int]]:
        pids = {"server": [os.getpid()]}
        pids |= {name: [process.pid] for name, process in self._indexers.items()}
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
"""A process that ends sooner than this is not restarted: it would fail for the same reason."""


def follower_command(base: Path, *, trust: bool) -> list[str]:
    """Return the command line of the process that keeps the index of a base up to date."""
    command = [sys.executable, "-P", "-m", "kbx_tui.tools.engine_process", str(base)]
    return [*command, *(["--trust"] if trust else [])]


@asynccontextmanager
async def indices_followed(
    commands: Sequence[Sequence[str]], state: ServiceState | None = None
) -> AsyncIterator[Mapping[str, asyncio.subprocess.Process]]:
    """Run the processes within the block; yield those that run, by name. Raises OSError."""
    state = state or ServiceState()
    running: dict[str, asyncio.subprocess.Process] = {}
    keeping: list[asyncio.Task[None]] = []
    try:
        for number, command in enumerate(commands):
            name = f"indexer {number}"
            running[name] = await start_child(*command)
            keeping.append(asyncio.create_task(_keep(name, command, running, state)))
        yield running
    finally:
        for task in keeping:
            task.cancel()
        ends = [end_process(process, END_SECONDS) for process in running.values()]
        await asyncio.gather(*ends)


async def _keep(
    name: str,
    command: Sequence[str],
    running: dict[str, asyncio.subprocess.Process],
    state: ServiceState,
) -> None:
    """Read the reports of a process, and start it again if it ends unexpectedly."""
    while True:
        process, began = running[name], time.monotonic()
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                for kind, values in json.loads(line).items():
                    state.note(name, kind, *values)
        except (AttributeError, TypeError, ValueError) as error:
            logger().error("%s sent what is not a report: %s", name, error)
        code = await process.wait()
        del running[name]
        state.forget(name)
        goes_on = time.monotonic() - began >= LEAST_SECONDS
        then = "started again" if goes_on else "files that change are not indexed any more"
        logger().error("%s ended with %s; %s", shlex.join(command), code, then)
        if not goes_on:
            return
        try:
            running[name] = await start_child(*command)
        except OSError as error:
            logger().error("it cannot be started: %s", error.strerror)
            return
        state.observer.restarted()


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
ROUTES = {"_page": "page", "_enter": "enter", "_file": "static", "_socket": "socket"}
"""Names under which requests are counted, by the method that answers them."""
TOKEN_BYTES = 1_000
PAGE_POLICY = (
    "default-src 'self'; style-src 'self' 'nonce-{nonce}'; style-src-attr 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""xterm.js creates style elements, which get the nonce, and style attributes."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every answer; the page has another content policy."""


class WebApp:
    """Answers requests: the page, its files, the exchange of a link for a cookie, the socket."""

    def __init__(self, server: WebServer) -> None:
        self._server, self._limits = server, server.limits
        self._rules, self._path = server.listening.rules, server.listening.path
        self._files = read_page_files()
        secure = "__Secure-" if self._rules.scheme == "https" else ""
        self._cookie = f"{secure}kbx-{secrets.token_hex(4)}"
        """A unique name, because browsers send cookies to all ports of a host."""

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self._checked], client_max_size=TOKEN_BYTES)
        app.on_response_prepare.append(_set_headers)
        app.router.add_get(f"{self._path}/", self._page)
        app.router.add_post(f"{self._path}/enter", self._enter)
        app.router.add_get(f"{self._path}/static/{{name}}", self._file)
        app.router.add_get(f"{self._path}/socket", self._socket)
        if self._path:
            app.router.add_get(self._path, self._add_slash)
        return app

    @web.middleware
    async def _checked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse requests from other pages and for other hosts; answer failures with a sentence."""
        began = time.perf_counter()
        reason = self._refusal(request)
        answer = _sentence(403, f"refused: {reason}") if reason else await _answer(request, handler)
        if not answer.prepared:
            answer.force_close()  # connections have a time limit
        if not isinstance(answer, web.WebSocketResponse):  # a session is counted when it opens
            route = ROUTES.get(getattr(handler, "__name__", ""), "other")
            seconds = time.perf_counter() - began
            self._server.state.observer.request(route, answer.status, seconds)
        return answer

    def _refusal(self, request: web.Request) -> str | None:
        return refusal(
            self._rules,
            request.headers.items(),
            navigates=request.path in (f"{self._path}/", self._path),
            from_page=request.path in (f"{self._path}/enter", f"{self._path}/socket"),
        )

    async def _add_slash(self, request: web.Request) -> web.Response:
        query = request.rel_url.raw_query_string
        location = f"{self._path}/" + (f"?{query}" if query else "")
        return web.Response(status=308, headers={"Location": location})

    async def _page(self, request: web.Request) -> web.Response:
        status, name = (200, "app.html") if self._visitor(request) else (401, "entry.html")
        nonce = secrets.token_urlsafe(16)
        body = self._files[name].body.replace(b"{nonce}", nonce.encode())
        policy = {"Content-Security-Policy": PAGE_POLICY.format(nonce=nonce)}
        headers = {
            **policy,
            "Cache-Control": "no-store",
            "Content-Type": "text/html; charset=utf-8",
        }
        return web.Response(body=body, status=status, headers=headers)

    async def _enter(self, request: web.Request) -> web.Response:
        token = (await request.read()).decode("ascii", "replace")
        cookie = self._server.visitors.enter(token)
        if cookie is None:
            return _sentence(401, "this link was used before, or is too old")
        answer = _sentence(200, "welcome")
        answer.set_cookie(
            self._cookie,
            cookie,
            path=f"{self._path}/",
            max_age=int(self._limits.visitor_seconds),
            httponly=True,
            samesite="Strict",
            secure=self._rules.scheme == "https",
        )
        return answer

    async def _file(self, request: web.Request) -> web.Response:
        file = self._files.get(request.match_info["name"])
        if file is None or file.content_type == "text/html":
            raise web.HTTPNotFound
        headers = {"Cache-Control": "no-cache", "ETag": f'"{file.etag}"', "Vary": "Accept-Encoding"}
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers=headers)
        body = file.body
        if file.compressed is not None and "gzip" in request.headers.get("Accept-Encoding", ""):
            body, headers["Content-Encoding"] = file.compressed, "gzip"
        return web.Response(body=body, content_type=file.content_type, headers=headers)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        visitor = self._visitor(request)
        if visitor is None:
            return _sentence(401, "this browser needs a link: `kbx web --new-link` prints one")
        socket = web.WebSocketResponse(
            heartbeat=self._limits.heartbeat_seconds,
            max_msg_size=self._limits.frame_bytes,
            compress=False,
            timeout=1.0,
        )
        await socket.prepare(request)
        self._server.state.observer.request("socket", 101, 0.0)
        try:
            opening = await self._opening(socket)
            session = self._server.registry.find(visitor, opening.session)
            is_new = session is None
            if session is None:
                session = await self._server.registry.open(visitor, opening)
            if (transport := request.transport) is not None:  # else the connection is lost
                self._server.guard.keep(transport.get_extra_info("peername"))
            page = PageSocket(socket, transport, self._limits.silence_seconds)
            await session.serve(page, opening, new=is_new)
        except BadMessage as error:
            await socket.close(code=Closing.BAD_MESSAGE, message=str(error).encode())
        except NoSession as error:
            self._server.state.observer.rejected("sessions")
            await socket.close(code=Closing.REFUSED, message=str(error).encode())
        return socket

    async def _opening(self, socket: web.WebSocketResponse) -> Opening:
        """Return the first message of a page. Raises BadMessage, also if none comes in time."""
        with suppress(TimeoutError):
            frame = await socket.receive(timeout=self._limits.greeting_seconds)
            if frame.type is WSMsgType.TEXT:
                return parse_opening(frame.data)
        raise BadMessage("a socket that opens no session")

    def _visitor(self, request: web.Request) -> str | None:
        return self._server.visitors.visitor(request.cookies.get(self._cookie, ""))


async def _answer(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        return _sentence(error.status, error.reason.lower())
    except Exception:
        logger().exception("kbx web failed to answer %s", request.path[:200])
        return _sentence(500, "the server failed to answer; its log has the details")


async def _set_headers(request: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.popall("Server", None)


def _sentence(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=f"{text}\n", headers={"Cache-Control": "no-store"})


TYPES = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
COMPRESSED = frozenset(("css", "js", "mjs"))


@dataclass(frozen=True, slots=True)
class PageFile:
    body: bytes
    compressed: bytes | None
    """The body compressed with gzip; None for types that would not become smaller."""
    content_type: str
    etag: str


def read_page_files() -> dict[str, PageFile]:
    folder, read = files("kbx_tui.web").joinpath("page"), dict[str, PageFile]()
    for file in (*folder.iterdir(), *folder.joinpath("vendor").iterdir()):
        suffix = file.name.rpartition(".")[2]
        if suffix in TYPES:
            body = file.read_bytes()
            compressed = gzip.compress(body, mtime=0) if suffix in COMPRESSED else None
            etag = hashlib.sha256(body).hexdigest()[:32]
            read[file.name] = PageFile(body, compressed, TYPES[suffix], etag)
    return read

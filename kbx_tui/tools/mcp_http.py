"""`kbx mcp --http`: the MCP server over streamable HTTP, for this machine only.

Any web page in a browser can send requests to local ports. So the server listens on loopback only,
and refuses requests whose Host or Origin is not a loopback name. Other users and programs of this
machine are kept out by a token, if one is set.

It keeps no sessions: no tool depends on earlier requests, so any process can answer any request,
and clients do not notice when a process is replaced.

It answers in this process, or in several workers that it starts. They accept connections on one
socket, which this process keeps open, so that those who connect while a worker starts, or in place
of one that ended, wait for it. Workers that end are replaced.

    python -P -m kbx_tui.tools.mcp_http DESCRIPTOR

runs a worker. DESCRIPTOR is the listening socket. The worker gets one line of JSON on stdin, the
fields of `McpOptions`, and sends reports on stdout (see `engine_process`), one at least every
`ALIVE_SECONDS`. When stdin is closed, it answers pending requests and ends.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kbx_tui.ending import end_soon, install, leave, on_signal
from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.formatting import format_count
from kbx_tui.http_service.connection_guard import ConnectionGuard, ConnectionLimits
from kbx_tui.http_service.hosts import (
    host_rules,
    ipv4_of_localhost,
    is_loopback,
    listen_on,
    refusal,
)
from kbx_tui.http_service.http_server import HttpServer
from kbx_tui.http_service.monitor import MonitorPort, monitored
from kbx_tui.http_service.server_process import ServiceState, end_process, exit_code, start_child
from kbx_tui.system import allow_connections
from kbx_tui.tools.engine_process import Report, report_index, sent_as_lines, start_log
from kbx_tui.tools.engine_worker import EngineWorker, McpOptions, say
from kbx_tui.tools.mcp_server import make_server

ENDPOINT = "/mcp"
WAITING_CONNECTIONS = 128
RULES = host_rules("127.0.0.1", secure=False)
UNAUTHORIZED = -32001
"""This and the next four are JSON-RPC error codes, from the range that servers may define."""
FULL = -32002
NOT_SUPPORTED = -32003
TOO_LARGE = -32004
REFUSED = -32005
REQUEST_BYTES = 1_000_000
RETRY_SECONDS = 1


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """Return a listening socket and the URL of the server; port 0 picks a free port.

    Raises ConfigError if the address is not loopback or the port is taken.
    """
    if not is_loopback(host):
        raise ConfigError(f"--host {host} can be reached by other machines; use 127.0.0.1 or ::1")
    address = ipv4_of_localhost(host)
    listening = listen_on(address, port, waiting=WAITING_CONNECTIONS, option="--port")
    host_name = f"[{address}]" if ":" in address else address
    return listening, f"http://{host_name}:{listening.getsockname()[1]}{ENDPOINT}"


class McpProcess:
    def __init__(
        self,
        engine: EngineWorker,
        options: McpOptions,
        report: Report,
        *,
        limits: ConnectionLimits | None = None,
    ) -> None:
        guard = ConnectionGuard(limits or ConnectionLimits())
        served: ASGIApp = make_server(
            engine, partial(report, "call"), lists_all=options.lists_all
        ).streamable_http_app(
            streamable_http_path=ENDPOINT,
            stateless_http=True,
            max_request_body_size=REQUEST_BYTES,
            # Left to `Gate`: the SDK compares beginnings, and accepts the host `localhost:@evil`.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._engine, self._report = engine, report
        gate = Gate(served, guard, options, report, engine.waiting)
        self._server = HttpServer(gate, guard)

    async def serve(self, listening: socket.socket, *, is_shared: bool = False) -> None:
        """Serve until `stop`, then answer pending requests.

        The socket may be one on which other processes accept, too.
        """
        self._engine.begin()
        reporting = asyncio.create_task(report_index(self._engine, self._report))
        try:
            if is_shared:
                await self._server.serve_shared(listening)
            else:
                await self._server.serve([listening])
        finally:
            reporting.cancel()

    def stop(self) -> None:
        """Accept no more requests, answer those in progress and end. Callable from any thread."""
        self._server.stop()


class Gate:
    """Forwards complete, authorized requests of programs, up to a limit at a time.

    Without sessions there are no streams to open (GET) and no sessions to end (DELETE). Reports the
    status of each answer, 0 if the client disconnected first, and how long it took.
    """

    def __init__(
        self,
        app: ASGIApp,
        guard: ConnectionGuard,
        options: McpOptions,
        report: Report,
        waiting: Callable[[], int],
    ) -> None:
        """`waiting` returns the number of waiting calls, for the `load` report."""
        self._app, self._guard, self._report, self._waiting = app, guard, report, waiting
        self._token = None if options.token is None else options.token.encode("ascii")
        self._at_once, self._running = options.max_requests, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._answer(scope, receive, observed)
        finally:
            self._report("request", status, time.perf_counter() - began)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal, body = self._refusal(scope), None
        if refusal is None:
            body = await _body(receive)
            if body is None:
                return  # the client has disconnected
            refusal = self._refusal_of_body(body)
        self._guard.answering(scope["client"])
        try:
            if refusal is not None:
                await refusal(scope, receive, send)
            elif body is not None:
                await self._run(scope, _replay(body, receive), send)
        finally:
            self._guard.answered(scope["client"])

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if refusal(RULES, headers.items(), navigates=False, from_page=False):
            message = "this server answers programs that name it as 127.0.0.1 or localhost"
            return _error(403, REFUSED, message, {})
        if not self._is_allowed(headers):
            message = (
                "this server asks for the token that its owner set; send it as the header "
                "'Authorization: Bearer TOKEN'"
            )
            return _error(401, UNAUTHORIZED, message, {"WWW-Authenticate": "Bearer"})
        if scope["method"] != "POST":
            message = "only POST is answered: this server keeps no session and sends no events"
            return _error(405, NOT_SUPPORTED, message, {"Allow": "POST"})
        return None

    def _refusal_of_body(self, body: bytes) -> Response | None:
        if len(body) > REQUEST_BYTES:
            message = f"a request has at most {REQUEST_BYTES:,} bytes"
            return _error(413, TOO_LARGE, message, {"Connection": "close"})
        if self._running < self._at_once:
            return None
        return _error(
            503,
            FULL,
            f"{format_count(self._at_once, 'request')} are being answered, which is the limit "
            f"(--max-requests); try again in {format_count(RETRY_SECONDS, 'second')}",
            {"Retry-After": str(RETRY_SECONDS)},
        )

    def _is_allowed(self, headers: Headers) -> bool:
        """Return whether a request has the token, if one is set; compared in constant time."""
        if self._token is None:
            return True
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        is_same = hmac.compare_digest(sent.strip().encode("latin-1", "replace"), self._token)
        return is_same and scheme.lower() == "bearer"

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._count(1)
        try:
            await self._app(scope, receive, send)
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        self._running += change
        self._report("load", self._running, self._waiting())


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request, cut if too large; None if the client has disconnected."""
    body, more = b"", True
    while more and len(body) <= REQUEST_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first yields a body already read, then what follows it."""
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return parts.pop() if parts else await receive()

    return replay


def _error(status: int, code: int, message: str, headers: dict[str, str]) -> Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return Response(json.dumps(body), status, headers, "application/json")


VARIABLE = "KBX_TOKEN"
HOW = "make one with `openssl rand -hex 32`"


def access_token(file: Path | None, environment: Mapping[str, str]) -> str | None:
    """Return the token from `file`, else from KBX_TOKEN; None if neither is given.

    Raises ConfigError if it cannot be read or is not 16 to 512 visible ASCII characters; the
    message does not contain the token.
    """
    if file is not None:
        try:
            with file.open(encoding="ascii", errors="replace") as opened:
                source, token = str(file), opened.read(1_000)
        except OSError as error:
            raise ConfigError(
                f"the token file {file} cannot be read ({error.strerror}); {HOW} > {file}"
            ) from error
    elif VARIABLE in environment:
        source, token = VARIABLE, environment[VARIABLE]
    else:
        return None
    if not re.fullmatch(r"[\x21-\x7e]{16,512}", token := token.strip()):
        raise ConfigError(
            f"the token in {source} must have 16 to 512 letters, digits or signs, and no spaces; "
            f"{HOW}"
        )
    return token


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
"""Started as a worker."""
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


OPTION_BYTES = 65_536
ALIVE_SECONDS = 5.0


def main() -> None:
    """Serve until stdin is closed, or a signal arrives."""
    install()
    listening = socket.socket(fileno=int(sys.argv[1]))
    options = McpOptions(**json.loads(sys.stdin.buffer.readline(OPTION_BYTES)))
    worker = options.engine()
    start_log()
    asyncio.run(_serve_shared(listening, worker, options))
    end_soon(0)
    worker.close()
    leave(0)


async def _serve_shared(
    listening: socket.socket, worker: EngineWorker, options: McpOptions
) -> None:
    os.set_blocking(1, False)
    report = sent_as_lines()
    process = McpProcess(worker, options, report)

    async def follow_input() -> None:
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
        )
        await reader.read()
        process.stop()

    async def say_alive() -> None:
        while True:
            report("alive")
            await asyncio.sleep(ALIVE_SECONDS)

    with on_signal(process.stop):
        beside = [asyncio.create_task(each) for each in (follow_input(), say_alive())]
        await process.serve(listening, is_shared=True)
        for task in beside:
            task.cancel()


if __name__ == "__main__":
    main()

"""A server that runs in a thread, and visitors that use it through a real client."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from kbx_tui.http_service.connection_guard import ConnectionLimits
from kbx_tui.http_service.monitor import MonitorPort
from kbx_tui.web.browser_session import Limits
from kbx_tui.web.links import Listening, listen
from kbx_tui.web.serving import WebServer

STUB = [sys.executable, "-S", str(Path(__file__).with_name("stub_app.py"))]
SECONDS = 20.0
SHORT = Limits(
    sessions=3,
    reconnect_seconds=0.6,
    connection=ConnectionLimits(at_once=12, receive_seconds=1.5, handshake_seconds=0.8),
    greeting_seconds=0.4,
    heartbeat_seconds=0.8,
    silence_seconds=1.5,
)
"""Limits that a test can wait for."""


class Running:
    """A running server."""

    def __init__(self, server: WebServer) -> None:
        self.server = server
        self.url = server.listening.url

    @property
    def origin(self) -> str:
        return "/".join(self.url.split("/")[:3])

    def token(self) -> str:
        """Return the token of a new link."""
        return self.server.new_link().partition("#")[2]


@contextmanager
def running(
    limits: Limits = SHORT,
    command: Sequence[str] = STUB,
    listening: Listening | None = None,
    fork_command: Sequence[str] = (),
    followers: Sequence[Sequence[str]] = (),
    monitor: MonitorPort | None = None,
) -> Iterator[Running]:
    """Run a server in a thread for the duration of the block."""
    server = WebServer(
        listening or listen("127.0.0.1", 0), command, limits, followers, fork_command, monitor
    )
    ready = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(ready.set)), daemon=True)
    thread.start()
    assert ready.wait(SECONDS)
    yield Running(server)
    server.stop()
    thread.join(SECONDS)
    assert not thread.is_alive()


class Page:
    """An open socket, used as a page does."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.session = ""
        self.resumed = False
        self.messages: list[list[Any]] = []
        self.output = b""

    async def send(self, *message: Any) -> None:
        await self.socket.send_str(json.dumps(message))

    async def type(self, text: str) -> None:
        await self.send("stdin", text)

    async def receive(self) -> aiohttp.WSMsgType:
        """Receive one frame, keep what it holds, and return its type."""
        frame = await self.socket.receive(timeout=SECONDS)
        if frame.type is aiohttp.WSMsgType.BINARY:
            self.output += frame.data
        elif frame.type is aiohttp.WSMsgType.TEXT:
            message = json.loads(frame.data)
            self.messages.append(message)
            if message[0] == "session":
                self.session, self.resumed = message[1]["id"], message[1]["resumed"]
        return frame.type

    async def until(self, text: str) -> str:
        """Receive until the output holds a text; return all output."""
        while text.encode() not in self.output:
            kind = await self.receive()
            assert kind in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), (
                f"{kind} {self.socket.close_code} {self.output[-2_000:]!r}"
            )
        return self.output.decode()

    async def message(self, kind: str) -> Any:
        """Receive until there is a message of this type; return its fields."""
        while not (found := [each[1] for each in self.messages if each[0] == kind]):
            frame = await self.receive()
            assert frame in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), frame
        return found[-1]

    @asynccontextmanager
    async def staying(self) -> AsyncIterator[None]:
        """Say something again and again, as an open page does, and answer the server's questions.

        A page that is silent while others are waited for would be taken to be gone.
        """
        done = asyncio.Event()

        async def talk() -> None:
            while not done.is_set():
                await self.send("ping")
                self.messages.clear()
                await self.message("pong")
                await asyncio.sleep(0.05)

        talking = asyncio.create_task(talk())
        try:
            yield
        finally:
            done.set()
            await talking

    async def closed(self) -> int | None:
        """Receive until the socket is closed; return the code."""
        while await self.receive() in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT):
            pass
        return self.socket.close_code


async def leave(*pages: Page) -> None:
    """End the sessions of these pages, so that others have room."""
    for page in pages:
        await page.type("leave!")
        await page.closed()


class Visitor:
    """A browser that has used a link."""

    def __init__(self, running: Running, client: aiohttp.ClientSession) -> None:
        self.running, self.client = running, client

    async def connect(self, **headers: str) -> aiohttp.ClientWebSocketResponse:
        """Open a socket, as a page of the server does unless `headers` say otherwise."""
        return await self.client.ws_connect(
            f"{self.running.url}socket",
            headers={"Origin": self.running.origin, **headers},
            max_msg_size=0,
        )

    async def open(self, session: str | None = None, **fields: Any) -> Page:
        """Open a session, or come back to one."""
        page = Page(await self.connect())
        opening = {"width": 80, "height": 24, "session": session, "scheme": "dark", "query": ""}
        await page.send("open", {**opening, **fields})
        await page.message("session")
        return page


@asynccontextmanager
async def visitor(running: Running) -> AsyncIterator[Visitor]:
    """A browser that has used a new link of the server."""
    jar = aiohttp.CookieJar(unsafe=True)  # keeps cookies of addresses, as browsers do
    async with aiohttp.ClientSession(cookie_jar=jar) as client:
        answer = await client.post(
            f"{running.url}enter", data=running.token(), headers={"Origin": running.origin}
        )
        assert answer.status == 200, await answer.text()
        yield Visitor(running, client)


@asynccontextmanager
async def stranger() -> AsyncIterator[aiohttp.ClientSession]:
    """A client without a cookie."""
    async with aiohttp.ClientSession() as client:
        yield client

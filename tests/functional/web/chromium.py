"""A headless Chromium, driven through its debugging protocol."""

import asyncio
import base64
import itertools
import json
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

SECONDS = 20.0
"""Longest time that anything may take on a busy machine."""
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-default-apps", "--disable-extensions", "--disable-sync",
    "--no-default-browser-check", "--remote-debugging-port=0", "--force-color-profile=srgb",
)  # fmt: skip


def chromium_program() -> str | None:
    """Return the path of Chromium, if it is installed."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Tab:
    """One tab: sends commands, and keeps the events that it receives."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, session: str) -> None:
        self.requests: list[str] = []
        """Addresses of all requests, sockets included."""
        self.errors: list[str] = []
        """What the console of the page reports."""
        self._socket, self._session = socket, session
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count(1)
        self._reading = asyncio.create_task(self._read())

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its answer. Raises RuntimeError if it fails."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        command = {"id": number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        await self._socket.send_json(command)
        received = await asyncio.wait_for(answer, SECONDS)
        if "error" in received:
            raise RuntimeError(f"{method}: {received['error']}")
        result: dict[str, Any] = received["result"]
        return result

    async def evaluate(self, script: str) -> Any:
        """Return the value of an expression, awaited if it is a promise."""
        answer = await self.call(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    async def until(self, script: str) -> Any:
        """Wait until an expression is true; return its value."""
        deadline = asyncio.get_running_loop().time() + SECONDS
        while True:
            with suppress(RuntimeError):  # the page is being loaded
                if value := await self.evaluate(script):
                    return value
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"{script} stays false; the screen:\n{await self.text()}")
            await asyncio.sleep(0.03)

    async def text(self) -> str:
        """Return the text of the terminal, a line per row."""
        rows = "[...document.querySelectorAll('.xterm-rows > div')].map(row => row.textContent)"
        return str(await self.evaluate(f"{rows}.join('\\n')"))

    async def until_text(self, pattern: str) -> str:
        """Wait until the terminal shows what the pattern matches; return its text."""
        rows = "[...document.querySelectorAll('.xterm-rows > div')].map(row => row.textContent)"
        source = json.dumps(pattern)
        await self.until(f"new RegExp({source}, 'm').test({rows}.join('\\n'))")
        return await self.text()

    async def settled_text(self) -> str:
        """Wait until the terminal stays as it is for a moment; return its text."""
        text, same = "", 0
        async with asyncio.timeout(SECONDS):
            while same < 3:
                await asyncio.sleep(0.12)
                before, text = text, await self.text()
                same = same + 1 if text == before else 0
        return text

    async def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """Set the size of the window; a phone has fingers and small pixels."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        await self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    async def type(self, text: str) -> None:
        """Press and release the key of each character."""
        for character in text:
            await self.key(character, text=character)

    async def key(self, key: str, *, code: int = 0, text: str = "", modifiers: int = 0) -> None:
        """Press and release a key; `code` is that of Windows, 2 of `modifiers` is ctrl."""
        code = code or (ord(key.upper()) if len(key) == 1 and key.isalnum() else 0)
        pressed = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        await self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **pressed)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    async def paste(self, text: str) -> None:
        """Put a text into the clipboard and press ctrl+v."""
        await self.evaluate(f"navigator.clipboard.writeText({json.dumps(text)})")
        pressed = {"key": "v", "windowsVirtualKeyCode": 86, "modifiers": 2}
        await self.call("Input.dispatchKeyEvent", type="keyDown", commands=["paste"], **pressed)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    async def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at one point, move it to another, release it."""
        button = {"button": "left", "buttons": 1, "clickCount": 1}
        for kind, (x, y) in (
            ("mouseMoved", start), ("mousePressed", start), ("mouseMoved", end),
            ("mouseReleased", end),
        ):  # fmt: skip
            held = {} if kind == "mouseMoved" and (x, y) == start else button
            await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **held)

    async def tap(self, point: tuple[float, float]) -> None:
        """Touch a point shortly."""
        await self.swipe(point, point)

    async def swipe(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Move a finger from one point to another."""
        for kind, (x, y) in (("touchStart", start), ("touchMove", end)):
            points = [{"x": x, "y": y}]
            await self.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        await self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    async def screenshot(self, file: Path) -> None:
        """Write a picture of the window."""
        answer = await self.call("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(answer["data"]))

    async def open(self, url: str) -> None:
        """Load a page."""
        await self.call("Page.navigate", url=url)

    def close(self) -> None:
        """Stop reading events."""
        self._reading.cancel()

    async def _read(self) -> None:
        async for frame in self._socket:
            message = json.loads(frame.data)
            if (answer := self._answers.pop(message.get("id", 0), None)) is not None:
                answer.set_result(message)
            elif message.get("method") == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            elif message.get("method") == "Network.webSocketCreated":
                self.requests.append(message["params"]["url"])
            elif message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(message["params"])[:2_000])
            elif message.get("method") == "Log.entryAdded":
                self.errors.append(message["params"]["entry"]["text"])


@asynccontextmanager
async def chromium(program: str, profile: Path) -> AsyncIterator[Tab]:
    """Run Chromium with an empty profile; return its only tab."""
    process = await asyncio.create_subprocess_exec(
        program,
        *OPTIONS,
        f"--user-data-dir={profile}",
        "about:blank",
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        env={**os.environ, "HOME": str(profile)},
        start_new_session=True,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(SECONDS):
            address = ""
            while not address:
                line = (await process.stderr.readline()).decode("utf-8", "replace")
                assert line, "Chromium has ended"
                address = "".join(re.findall(r"DevTools listening on (\S+)", line))
        reading = asyncio.create_task(_read_all(process.stderr))
        async with aiohttp.ClientSession() as client, client.ws_connect(
            address, max_msg_size=0
        ) as socket:  # fmt: skip
            browser = Tab(socket, "")
            targets = (await browser.call("Target.getTargets"))["targetInfos"]
            page = next(each["targetId"] for each in targets if each["type"] == "page")
            attached = await browser.call("Target.attachToTarget", targetId=page, flatten=True)
            browser.close()
            tab = Tab(socket, attached["sessionId"])
            for domain in ("Page", "Runtime", "Network", "Log"):
                await tab.call(f"{domain}.enable")
            yield tab
            tab.close()
        reading.cancel()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _read_all(reader: asyncio.StreamReader) -> None:
    while await reader.read(65_536):
        pass

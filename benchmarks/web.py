"""The app in a browser: key to screen, many sessions at once, memory of each (Linux).

    python -m benchmarks.web BASE [--sessions 10] [--keys 60]

BASE is an indexed folder, which is copied. The server is the program, in a process of its own;
clients speak to it as pages do. With Chromium installed, keys are also timed in the page, from the
event of the key to the frame after the terminal has changed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import psutil

from benchmarks.common import copy_of, row, spread
from tests.functional.web.chromium import Tab, chromium, chromium_program
from tests.functional.web.running import Page

QUERIES = (
    "release", "budget review", "who owns the migration", "roadmap", "incident", "hiring plan",
    "security audit", "customer feedback", "quarterly goals", "onboarding",
)  # fmt: skip
FORK_SERVER = "kbx_tui.tui.visitor.fork_server"
INDEXER = "kbx_tui.tools.engine_process"
TEXT = "what was decided about the release of the new search and why so late "
ANSWERED = rb"\d ms"
"""How long a search took is shown when its results are."""
SETTLED_SECONDS = 3.0
TIMING = """(() => {
  window.times = [];
  let began = 0;
  document.addEventListener('keydown', () => { began = performance.now(); }, true);
  new MutationObserver(() => {
    if (!began) return;
    const since = began;
    began = 0;
    requestAnimationFrame(() => requestAnimationFrame(() => times.push(performance.now() - since)));
  }).observe(document.querySelector('.xterm-rows'),
             {childList: true, subtree: true, characterData: true});
  return true;
})()"""


class Server:
    """The program, serving a base."""

    def __init__(self, process: asyncio.subprocess.Process, link: str) -> None:
        self.process = process
        self.url, _, self.token = link.strip().partition("#")

    @asynccontextmanager
    async def client(self) -> AsyncIterator[aiohttp.ClientSession]:
        """A client that has used the link."""
        headers = {"Origin": self.url.rstrip("/")}
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar, headers=headers) as client:
            (await client.post(f"{self.url}enter", data=self.token)).raise_for_status()
            yield client

    def sessions(self) -> list[psutil.Process]:
        """Return the processes of the app."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        own = [child for child in children if "kbx_tui.tui.visitor" in child.cmdline()]
        forks = [child for child in children if FORK_SERVER in child.cmdline()]
        return own or [child for child in forks if child.ppid() != self.process.pid]

    def others(self) -> list[psutil.Process]:
        """Return the server and the processes that follow the index."""
        process = psutil.Process(self.process.pid)
        return [process, *(each for each in process.children() if each not in self.sessions())]


@asynccontextmanager
async def server_of(base: Path, sessions: int) -> AsyncIterator[Server]:
    """Run `kbx web` on a base."""
    with tempfile.TemporaryDirectory() as state:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kbx_tui", "web", base, "--port", "0"),
            *("--max-clients", str(sessions)),
            env={**os.environ, "KBX_STATE_DIR": state},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert process.stdout is not None
        try:
            yield Server(process, (await process.stdout.readline()).decode())
        finally:
            process.terminate()
            await process.wait()


async def open_page(server: Server, client: aiohttp.ClientSession, query: str = "") -> Page:
    """Open a session of the size of a usual window."""
    page = Page(await client.ws_connect(f"{server.url}socket", max_msg_size=0))
    await page.send("open", {"width": 155, "height": 50, "scheme": "dark", "query": query})
    return page


async def answered(page: Page, query: str) -> None:
    """Receive until the results of a query are shown, which is drawn before them."""
    pattern = re.compile(re.escape(query.encode()) + b".*" + ANSWERED, re.DOTALL)
    while not pattern.search(page.output):
        await page.receive()


async def settle(page: Page, seconds: float = SETTLED_SECONDS) -> None:
    """Receive until nothing comes for a while."""
    try:
        while True:
            await asyncio.wait_for(page.receive(), seconds)
    except TimeoutError:
        page.output = b""


async def time_keys(server: Server, client: aiohttp.ClientSession, keys: int) -> list[float]:
    """Return milliseconds from a key that is sent to the first output after it."""
    page = await open_page(server, client, QUERIES[0])
    await answered(page, QUERIES[0])
    times = []
    for number in range(keys):
        await settle(page, 0.25)
        began = time.perf_counter()
        await page.type(TEXT[number % len(TEXT)])
        while not page.output:
            await page.receive()
        times.append((time.perf_counter() - began) * 1000)
    await page.socket.close()
    return times


async def time_keys_in_chromium(tab: Tab, link: str, keys: int) -> list[float]:
    """Return milliseconds from the event of a key to the frame that shows what it changed."""
    await tab.resize(1400, 900)
    await tab.open(link)
    await tab.until_text("documents")
    await asyncio.sleep(SETTLED_SECONDS)
    await tab.evaluate(TIMING)
    for number in range(keys):
        await tab.type(TEXT[number % len(TEXT)])
        await asyncio.sleep(0.3)
    return [float(number) for number in await tab.evaluate("times")]


def memory(process: psutil.Process) -> tuple[float, float, float]:
    """Return proportional, private and shared memory of a process in MB."""
    sizes = {
        name: int(size)
        for name, size in re.findall(
            r"^(\w+):\s+(\d+) kB", Path(f"/proc/{process.pid}/smaps_rollup").read_text(), re.M
        )
    }
    private = sizes["Private_Clean"] + sizes["Private_Dirty"]
    shared = sizes["Shared_Clean"] + sizes["Shared_Dirty"]
    return sizes["Pss"] / 1024, private / 1024, shared / 1024


def data_mb(process: psutil.Process) -> float:
    """Return the private data of a process in MB, which the limit of memory is about."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.findall(r"VmData:\s+(\d+) kB", status)[0]) / 1024


async def many_sessions(server: Server, client: aiohttp.ClientSession, sessions: int) -> None:
    """Open sessions at once, each with a query, then search in all at once; report memory."""
    began = time.perf_counter()
    queries = [QUERIES[number % len(QUERIES)] for number in range(sessions)]
    pages = await asyncio.gather(*(open_page(server, client, query) for query in queries))
    opened = []

    async def first(page: Page, query: str) -> None:
        await answered(page, query)
        opened.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*map(first, pages, queries))
    row(f"{sessions} sessions opened at once, answered", spread(opened))
    await asyncio.gather(*map(settle, pages))
    for page in pages:
        page.output = b""
    began, again = time.perf_counter(), []

    async def second(page: Page, query: str) -> None:
        await page.send("query", query)
        await answered(page, query)
        again.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*(second(page, query) for page, query in zip(
        pages, [*queries[1:], queries[0]], strict=True)))  # fmt: skip
    row(f"{sessions} searches at once, answered", spread(again))
    await asyncio.gather(*map(settle, pages))
    sizes = [memory(process) for process in server.sessions()]
    for label, which in (("proportional", 0), ("private", 1), ("shared with others", 2)):
        each = sorted(size[which] for size in sizes)
        row(f"memory of a session, {label}", f"{each[len(each) // 2]:.0f} MB")
    row("all sessions, proportional", f"{sum(size[0] for size in sizes):.0f} MB")
    row("private data, for the limit", f"{max(map(data_mb, server.sessions())):.0f} MB")
    for process in server.others():
        name = "the server"
        if INDEXER in process.cmdline():
            name = "a process that follows the index"
        elif FORK_SERVER in process.cmdline():
            name = "the fork server"
        row(f"{name}, proportional", f"{memory(process)[0]:.0f} MB")


async def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--keys", type=int, default=60)
    options = parser.parse_args()
    with copy_of(options.base, keep_index=True) as base:
        async with server_of(base, options.sessions) as server, server.client() as client:
            row(
                "key to output at the client", spread(await time_keys(server, client, options.keys))
            )
            await asyncio.sleep(1)
        if program := chromium_program():
            with tempfile.TemporaryDirectory() as profile:
                async with (
                    server_of(base, options.sessions) as server,
                    chromium(program, Path(profile)) as tab,
                ):
                    link = f"{server.url}#{server.token}"
                    times = await time_keys_in_chromium(tab, link, options.keys)
                    row("key to the next frame in Chromium", spread(times))
        async with server_of(base, options.sessions) as server, server.client() as client:
            await many_sessions(server, client, options.sessions)


if __name__ == "__main__":
    asyncio.run(main())

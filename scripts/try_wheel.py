"""Try an installed kbx-tui as people, agents and browsers use it, in a new folder.

    PYTHON scripts/try_wheel.py FOLDER

PYTHON is that of the environment it is installed in, with the extra `web`. Nothing of the checkout
is imported. Prints a line with the seconds for each use, and fails with the first that fails.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

QUERY = "what did the platform team decide about migration?"
FOUND = "migration-go-no-go.transcript.md"
PROGRAM = Path(sys.executable).with_name("kbx-tui")
SECONDS = 600


def run(*arguments: str | Path) -> str:
    finished = subprocess.run(
        [PROGRAM, *arguments], capture_output=True, encoding="utf-8", timeout=SECONDS, check=False
    )
    assert finished.returncode == 0, f"{arguments}\n{finished.stdout}\n{finished.stderr}"
    return finished.stdout


def version(base: Path) -> str:
    short = subprocess.check_output([PROGRAM.with_name("kbx"), "--version"], encoding="utf-8")
    assert short == run("--version")
    assert run("doctor", "--kb", base).startswith(f"program   {short}")
    return short.strip()


def demo(base: Path) -> str:
    said = run("demo", "--smoke")
    assert said.startswith("ok: ") and FOUND in said
    return said.partition(",")[0]


def search(base: Path) -> str:
    answer = json.loads(run("search", QUERY, "--json", "--kb", base))
    assert answer["results"][0]["path"].endswith(FOUND)
    return f"{answer['meta']['search_mode']}, {FOUND} first"


def dedup(base: Path) -> str:
    drafts = json.loads(run("dedup", base / "drafts.md", "--json", "--kb", base))["drafts"]
    states = [draft["state"] for draft in drafts]
    assert {"new", "exact", "conflict"} <= set(states)
    return ", ".join(states)


def agent(base: Path) -> str:
    from mcp import Client, StdioServerParameters

    async def ask() -> tuple[int, Any]:
        arguments = ["mcp", "--kb", str(base)]
        server = StdioServerParameters(command=str(PROGRAM), args=arguments, env=dict(os.environ))
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            return len(tools), await client.call_tool("kb_search", {"query": QUERY})

    count, answer = asyncio.run(asyncio.wait_for(ask(), SECONDS))
    assert not answer.is_error and FOUND in str(answer)
    return f"{count} tools, {FOUND} found"


def browser(base: Path) -> str:
    command = [PROGRAM, "web", base, "--port", "0"]
    visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            address, _, token = server.stdout.readline().strip().partition("#")
            origin = {"Origin": address.rstrip("/")}
            enter = urllib.request.Request(f"{address}enter", token.encode(), origin)
            visitor.open(enter, timeout=SECONDS).close()
            with visitor.open(address, timeout=SECONDS) as page:
                html = page.read().decode()
        finally:
            server.terminate()
    assert "app.js" in html
    return f"a page of {len(html)} characters"


USES: tuple[Callable[[Path], str], ...] = (demo, version, search, dedup, agent, browser)


def main() -> None:
    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True)
    os.environ["KBX_DEMO_DIR"] = str(folder / "demo")
    os.environ["KBX_STATE_DIR"] = str(folder / "state")
    os.chdir(folder)
    for use in USES:
        began = time.monotonic()
        said = use(folder / "demo")
        print(f"{use.__name__:<8} {time.monotonic() - began:5.1f} s  {said}", flush=True)


if __name__ == "__main__":
    main()

"""Sessions of the real app: what documents and keys may do there."""

import asyncio
import hashlib
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import WSMsgType

from kbx_tui import KnowledgeBase
from kbx_tui.tui.commands.command_table import COMMANDS
from kbx_tui.tui.commands.keymap import WRITES
from kbx_tui.user_files import logger
from kbx_tui.web.app_process import app_command, fork_command
from kbx_tui.web.browser_session import Closing, Limits
from tests.functional.web.running import Page, Running, running, visitor

ALICE = """---
aliases: [Ace]
---
# Alice Chen

## Recent Facts

- [2026-02-15] Prefers async Slack over email
"""
HOSTILE = """---
title: "Ferry <script>alert(1)</script> \\e[2J\\e]0;owned\\a \\e]52;c;b3duZWQ=\\a"
---
# Ferry

Ferry \x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07 <img src=x onerror=alert(2)>
\x1b[6n\x1bP+q\x1b\\
\x9b2J \x9d0;owned\x9c \u202egnp.exe [link](javascript:alert(3)) [[Alice Chen]] {nonce}
"""
CONTROLS = re.compile(r"\x1b\[[0-9;?]*(\$p|[A-Za-z])|\x1b\]22;[a-z-]+\x07")
"""What the app itself sends to the terminal: colours, positions, modes, pointer shapes."""
KEYS = {"enter": "\r", "delete": "\x1b[3~", "escape": "\x1b", "tab": "\t", "space": " "}
MODES = ("\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~")
"""F1 to F5, as a terminal sends them."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base with a person and a hostile document, indexed."""
    root = tmp_path_factory.mktemp("web") / "hostile"
    (root / "people").mkdir(parents=True)
    (root / "people" / "alice-chen.md").write_text(ALICE)
    (root / "ferry.md").write_text(HOSTILE)
    with KnowledgeBase(root) as kb:
        kb.index(fast=True)
    return root


@pytest.fixture(scope="module")
def served(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of the real app, with one fault."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBX_LOG_DIR", str(tmp_path_factory.mktemp("log")))
        limits = Limits()
        patch.setenv("GEMINI_API_KEY", "secret")
        allowed: Any = {"allow_writes": False, "memory_bytes": limits.memory_bytes}
        command = app_command([base], **allowed)
        forks = fork_command(command)
        assert command[0] == forks[0] == sys.executable
        forks[forks.index("kbx_tui.tui.visitor.fork_server")] = "tests.functional.web.faulty_app"
        with running(limits, command, fork_command=forks) as server:
            yield server


@pytest.fixture
def server_log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What the server logs."""
    logger().addHandler(caplog.handler)
    yield caplog
    logger().removeHandler(caplog.handler)


def content(root: Path) -> str:
    """Return a digest of all files below a folder."""
    digest = hashlib.sha256()
    for file in sorted(path for path in root.rglob("*") if path.is_file()):
        digest.update(str(file.relative_to(root)).encode() + file.read_bytes())
    return digest.hexdigest()


def typed(keys: str) -> Iterator[str]:
    """Yield what a terminal sends for the keys of a command."""
    for key in keys.split(","):
        if key.startswith("ctrl+") and len(key) == 6:
            yield chr(ord(key[-1]) & 0x1F)
        elif key in KEYS or len(key) == 1:
            yield KEYS.get(key, key)


async def settled(page: Page) -> None:
    """Receive until the app sends nothing for a moment."""
    while True:
        try:
            await asyncio.wait_for(page.receive(), 0.3)
        except TimeoutError:
            return


async def test_text_of_documents_controls_neither_terminal_nor_page(served: Running) -> None:
    async with visitor(served) as known:
        page = await known.open(query="ferry", width=200, height=40)
        while (await page.message("page"))["query"] != "ferry":
            await page.receive()
        await page.until("<script>")
        await page.type("\x1b[B\r")
        await page.until("alert(2)")
        await settled(page)
        assert {each[0] for each in page.messages} == {"session", "page"}
        rest = CONTROLS.sub("", page.output.decode())
        assert not re.search(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", rest)
        # Neither an empty text nor the report of an empty window, with a click, ends the app.
        for text in ("", "\x1b[48;0;0;0;0t", "\x1b[<0;5;5M", "\x1b[<0;5;5m"):
            await page.type(text)
        await settled(page)
        page.output = b""
        await page.type(MODES[3])
        while not page.output:
            assert await page.receive() is not WSMsgType.CLOSE
        await page.socket.close()


async def test_no_writing_key_changes_a_file_of_a_visitor_who_may_only_read(
    served: Running, base: Path
) -> None:
    writing = [each for each in COMMANDS if each.id in WRITES]
    keys = {text for each in writing for text in typed(f"{each.keys},{each.moved}".rstrip(","))}
    assert {"S", "0", "z", "\r"} <= keys
    before = content(base)
    async with visitor(served) as known:
        page = await known.open(query="alice", width=120, height=40)
        await page.until("Chen")
        for mode in MODES:
            await page.type(mode)
            if mode == MODES[1]:
                await page.type("Prefers email over Slack\r")
            await settled(page)
            for key in sorted(keys):
                await page.type(key)
            await page.type("\x1b")
        page.output = b""
        await page.send("resize", {"width": 100, "height": 30})
        await page.until("\x1b[")  # drawn again, after all keys
        await settled(page)
        await page.socket.close()
    assert content(base) == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has fork servers, and /proc")
async def test_a_session_that_is_killed_or_raises_an_error_ends_alone(
    served: Running, server_log: pytest.LogCaptureFixture
) -> None:
    async with visitor(served) as known:
        page, killed, raising = await asyncio.gather(*(known.open() for _ in range(3)))
        await asyncio.gather(*(each.until("hostile") for each in (page, killed, raising)))
        pids = {session.id: session.process.pid for session in served.server.registry}
        started = {Path(f"/proc/{pid}") for pid in pids.values()}
        assert all(b"secret" not in (each / "environ").read_bytes() for each in started)
        (fork_server,) = {
            re.findall(r"PPid:\t(\d+)", (each / "status").read_text())[0] for each in started
        }
        os.kill(pids[killed.session], signal.SIGKILL)
        await raising.send("query", "raise!")
        assert await killed.closed() == Closing.ENDED
        assert await raising.closed() == Closing.ENDED
        assert "RuntimeError: raised as asked" in server_log.text
        await page.send("query", "ferry")
        while (await page.message("page"))["query"] != "ferry":
            await page.receive()
        await page.until("<script>")
        again = await known.open(raising.session)
        assert not again.resumed
        await again.socket.close()
        os.kill(int(fork_server), signal.SIGKILL)
        assert await page.closed() == Closing.ENDED
        page = await known.open()
        await page.until("hostile")  # from a program of its own
        await page.socket.close()

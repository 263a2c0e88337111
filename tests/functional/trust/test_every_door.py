"""What a clone cannot do is tried by each way into a base: none of them shows, sends or hangs."""

import json
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import lancedb
import pytest
from mcp import Client

from kbx_tui import KnowledgeBase, NotTrusted
from kbx_tui.removal import INDEX_TABLES
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_server import make_server
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.shell.questions import TrustQuestion
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.lines_view import ChoiceList
from kbx_tui.web.app_process import app_command
from kbx_tui.web.browser_session import Limits
from tests.command_line import CommandLine
from tests.damage import time_limit
from tests.functional.tools.test_jsonl import line, responses_to
from tests.functional.trust.test_foreign_index import LIE, index_of, lie
from tests.functional.tui.driving import WIDE, starting
from tests.functional.vaults import ROLLBACKS, index_vault, write_vault
from tests.functional.web.running import running, visitor
from tests.trusting import copy_base
from tests.unit.index.test_stamp import BASE_PATH, change

Door = Callable[[Path], Awaitable[str]]
QUERY = "how do deployment rollbacks work"
SAID = "former release"
SECRET = "zanzibar"
NOT_TRUSTED = "is not trusted with a link from"


async def by_python(base: Path) -> str:
    try:
        with KnowledgeBase(base) as kb:
            return str(kb.search(QUERY))
    except NotTrusted as error:
        return str(error)


async def by_json_lines(base: Path) -> str:
    worker = EngineWorker(lambda: KnowledgeBase(base))
    said = responses_to(worker, line({"method": "kbx.search", "params": {"query": QUERY}}))
    worker.close()
    return str(said)


async def by_mcp(base: Path) -> str:
    worker = EngineWorker(lambda: KnowledgeBase(base))
    async with Client(make_server(worker)) as client:
        said = await client.call_tool("kbx_search", {"query": QUERY})
    worker.close()
    return str(said.structured_content)


async def by_app(base: Path) -> str:
    """Search in the app after its question about the base was answered with no."""
    async with starting(base, WIDE) as driver:
        await driver.until(lambda: isinstance(driver.app.screen, TrustQuestion))
        await driver.until_focused(ChoiceList)
        asked = driver.screen_text()
        await driver.press("enter")
        await driver.until(lambda: driver.app.screen is driver.app.explore)
        driver.explore.query_one(QueryLine).value = QUERY
        await driver.until(
            lambda: SAID in driver.screen_text() or NOT_TRUSTED in driver.text_of(StatusLine)
        )
        return asked + driver.screen_text()


async def by_web(base: Path) -> str:
    command = app_command([base], allow_writes=False, memory_bytes=Limits().memory_bytes)
    with running(Limits(), command) as served:
        async with visitor(served) as known:
            page = await known.open(query=QUERY, width=140, height=40)
            shown = await page.until("`kbx")  # a command to run is all that it says
            await page.socket.close()
    return shown


@pytest.fixture(
    params=[
        "command",
        "tool",
        by_python,
        by_json_lines,
        by_mcp,
        by_app,
        pytest.param(by_web, marks=pytest.mark.slow),
    ],
    ids=lambda door: door if isinstance(door, str) else door.__name__,
)
def door(request: pytest.FixtureRequest, kbx: CommandLine) -> Door:
    """Search a base and return all that is shown."""
    words = {
        "command": ("search", QUERY),
        "tool": ("tool", "kbx_search", f'{{"query": "{QUERY}"}}'),
    }

    async def by_command(base: Path) -> str:
        ran = kbx("--kb", base, *words[request.param])
        return ran.out + ran.err

    return by_command if request.param in words else request.param


def of_thief(message: bytes, inner: Sequence[int] = (2, 2)) -> bytes:
    """Return a manifest whose data is at the base path 1: field 7 of the files of its fragments."""
    if not inner:
        return message + b"\x38\x01"
    changed, place = b"", 0
    while place < len(message):
        key, start = number_at(message, place)
        size, end = number_at(message, start)
        if key == inner[0] << 3 | 2:  # a message within the message
            value = of_thief(message[end : end + size], inner[1:])
            changed += bytes([key]) + as_number(len(value)) + value
        end += size if key & 7 == 2 else 0
        changed += b"" if key == inner[0] << 3 | 2 else message[place:end]
        place = end
    return changed


def number_at(message: bytes, place: int) -> tuple[int, int]:
    end = next(each for each in range(place, len(message)) if message[each] < 128) + 1
    return sum((byte & 127) << 7 * at for at, byte in enumerate(message[place:end])), end


def as_number(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + as_number(number >> 7)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The requests to an object store that the environment has credentials of."""
    heard = list[str]()

    class Store(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_request(self, *_: object) -> None:
            heard.append(self.requestline)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Store) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        monkeypatch.setenv("AWS_ENDPOINT", address)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
            monkeypatch.setenv(name, "x")
        yield heard
        server.shutdown()


async def test_an_index_that_lies_sends_and_blocks_is_not_opened(
    door: Door,
    indexed_vault: Path,
    tmp_path: Path,
    requests: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = copy_base(indexed_vault, tmp_path / "clone")
    lie(base)
    for table in INDEX_TABLES:
        for manifest in index_of(base).glob(f"{table}.lance/_versions/*.manifest"):
            change(manifest, lambda message: of_thief(message) + BASE_PATH)
    (index_of(base) / "facts.bin").unlink()
    os.mkfifo(index_of(base) / "facts.bin")
    stars = "*a" * 60 + "b"
    (base / "memory" / ("a" * 200 + ".md")).write_text("# Long\n")
    (base / ".gitignore").write_text(f"{stars}\n")
    (base / "kbx.toml").write_text(f"[index]\nexclude = {json.dumps([stars])}\n")
    monkeypatch.setenv("KBX_STATE_DIR", str(tmp_path / "another"))
    monkeypatch.setattr("kbx_tui.index.ownership._allowed_now", set())
    with pytest.raises(RuntimeError, match="lance error"):
        lancedb.connect(index_of(base)).open_table("documents").to_arrow()
    assert requests
    requests.clear()
    with time_limit(120):
        shown = await door(base)
    assert LIE not in shown
    assert SAID in shown or "`kbx index`" in shown
    assert requests == []


@pytest.mark.parametrize("place", ["memory", ".kbx/index.old-deadbeef"])
async def test_a_link_out_of_a_clone_closes_it(door: Door, tmp_path: Path, place: str) -> None:
    mine = index_vault(
        tmp_path / "mine", {"memory/plans.md": f"{ROLLBACKS}\n{SECRET}\n"}, fast=True
    )
    before = {path: path.lstat().st_mtime_ns for path in mine.rglob("*")}
    base = tmp_path / "clone"
    write_vault(base, {"kbx.toml": "", **({} if place == "memory" else {"memory/a.md": "# A\n"})})
    (base / place).parent.mkdir(exist_ok=True)
    (base / place).symlink_to(mine / {"memory": "memory"}.get(place, ".kbx/index"))
    clone = sorted(base.rglob("*"))
    shown = await door(base)
    assert SECRET not in shown
    assert f"{NOT_TRUSTED} {place} to" in " ".join(shown.translate(str.maketrans("│", " ")).split())
    assert sorted(base.rglob("*")) == clone
    assert {path: path.lstat().st_mtime_ns for path in mine.rglob("*")} == before


async def test_a_link_to_a_hidden_file_is_left_out(door: Door, tmp_path: Path) -> None:
    base = tmp_path / "clone"
    asks = "[writes]\nauto_commit = true\n"  # so that the app asks
    files = {"memory/a.md": ROLLBACKS, ".git/config": f"{ROLLBACKS}{SECRET}", "kbx.toml": asks}
    write_vault(base, files)
    (base / "memory/b.md").symlink_to(base / ".git/config")
    assert SECRET not in await door(base)

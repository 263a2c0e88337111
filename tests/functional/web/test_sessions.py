"""Sessions: what a page and its process say to each other, and how long a process lives."""

import asyncio
import fcntl
import json
import subprocess
import sys
import termios
from array import array
from dataclasses import replace
from pathlib import Path

import pytest

from kbx_tui.web.app_process import SOCKET
from kbx_tui.web.browser_session import Closing
from tests.functional.web.running import SHORT, Page, Running, leave, running, visitor
from tests.waiting import until


async def test_a_new_page_starts_a_process_with_its_size_scheme_and_query(served: Running) -> None:
    async with visitor(served) as known:
        page = await known.open(width=50, height=20, scheme="light", query="ferry\x1b[2J")
        assert '{"type": "kbx_query", "query": "ferry"}' in await page.until("ferry")
        await page.type("arguments?")
        await page.until('["--scheme", "light"]')
        await page.type("environment?")
        assert '"COLUMNS": "50"' in await page.until('"ROWS": "20"')
        await leave(page)


async def test_keys_and_messages_of_a_page_reach_the_process(served: Running) -> None:
    async with visitor(served) as known:
        page = await known.open()
        await page.type("é\x1b[A")
        await page.until("typed:é\x1b[A")
        for message, received in (
            (["resize", {"width": 120, "height": 10_000}], '"width": 120, "height": 300}'),
            (["focus"], '{"type": "focus"}'),
            (["blur"], '{"type": "blur"}'),
            (["query", "a\nb"], '{"type": "kbx_query", "query": "a b"}'),
            (["scheme", "light"], '{"type": "kbx_scheme", "scheme": "light"}'),
        ):
            await page.send(*message)
            await page.until(f"message:{received}" if received[0] == "{" else received)
        await page.send("ping")
        assert await page.message("pong") == {}
        await leave(page)


async def test_a_page_receives_titles_copies_files_and_web_links_alone(served: Running) -> None:
    async with visitor(served) as known:
        page = await known.open()
        for message in (
            {"type": "kbx_page", "title": "n\x1b]0;x\x07 - q", "base": "n", "query": "q"},
            {"type": "kbx_copy", "text": "two\nlines"},
            {"type": "kbx_file", "name": "../.a/b\x1b[0m.html", "text": "<p>", "mime_type": "x/y"},
            {"type": "open_url", "url": "https://example.org/?a=b#c", "new_tab": True},
            *({"type": "open_url", "url": url, "new_tab": True} for url in (
                "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@b.c",
                "https://a@evil.example", "http://", "https://a\\b", "//evil.example", "https:x",
                " https://evil.example", "https://evil.example/\x1b[0m",
            )),
            {"type": "deliver_file_start", "key": "k", "path": "x"},
            {"type": "exit"},
            {"type": "copy", "text": 5},
        ):  # fmt: skip
            await page.type(f"say {json.dumps(message)}")
        await page.type("end")
        await page.until("typed:end")
        assert [each for each in page.messages if each[0] != "session"] == [
            ["page", {"title": "n - q", "query": "q"}],
            ["copy", {"text": "two\nlines"}],
            ["file", {"name": "_.a_b.html", "text": "<p>"}],
            ["link", {"url": "https://example.org/?a=b#c"}],
        ]
        await leave(page)


async def test_a_page_that_comes_back_finds_its_session_and_has_it_drawn_again(
    served: Running,
) -> None:
    async with visitor(served) as known:
        page = await known.open()
        await page.type("before the cut")
        await page.until("typed:before the cut")
        page.socket._response.close()  # no closing frame: a cut
        again = await known.open(page.session, width=60, height=30)
        assert again.resumed
        assert again.session == page.session
        drawn = await again.until("kbx_redraw")
        assert drawn.index('"width": 60') < drawn.index("kbx_redraw")
        assert "welcome" not in drawn
        await leave(again)


async def test_a_session_ends_when_its_page_stays_away(served: Running) -> None:
    async with visitor(served) as known:
        page = await known.open()
        await page.socket.close()
        await until(lambda: not len(served.server.registry))
        again = await known.open(page.session)
        assert not again.resumed
        await leave(again)


async def test_a_second_page_with_the_session_takes_it_from_the_first(served: Running) -> None:
    async with visitor(served) as known:
        page = await known.open()
        second = await known.open(page.session)
        assert second.resumed
        assert await page.closed() == Closing.ELSEWHERE
        await second.type("here")
        await second.until("typed:here")
        await leave(second)


async def test_a_session_without_a_page_makes_room_for_a_new_one(served: Running) -> None:
    async with visitor(served) as known:
        pages = [await known.open() for _ in range(SHORT.sessions)]
        await pages[1].socket.close()
        await until(lambda: any(each.left_at is not None for each in served.server.registry))
        newest = await known.open()
        assert not newest.resumed
        for page in (pages[0], pages[2]):
            await page.type("alive")
            await page.until("typed:alive")
        await leave(pages[0], pages[2], newest)


async def test_much_output_reaches_the_page_whole(served: Running) -> None:
    async with visitor(served) as known:
        page = await known.open()
        await page.type("flood!")
        await page.type("done")
        await page.until("typed:done")
        assert page.output.count(b"x") == 3_000_000
        await leave(page)


async def stall(page: Page) -> None:
    """Stop reading, as a computer that sleeps, with more on the way than the system takes."""
    transport = page.socket._response.connection.transport  # type: ignore[union-attr]
    assert transport is not None
    transport.pause_reading()
    for _ in range(3):
        await page.type("flood!")
    waiting = array("i", [0])
    socket = transport.get_extra_info("socket").fileno()

    def is_full() -> bool:
        before = waiting[0]
        fcntl.ioctl(socket, termios.FIONREAD, waiting)
        return waiting[0] == before > 0

    await until(is_full)


async def test_a_page_that_reads_nothing_does_not_hold_up_the_next_one(served: Running) -> None:
    async with visitor(served) as known:
        page = await known.open()
        await stall(page)
        again = await known.open(page.session)
        assert again.resumed
        await again.type("here")
        await again.until("typed:here")
        await leave(again)


async def test_a_session_ends_even_if_its_page_has_stopped_reading(served: Running) -> None:
    async with visitor(served) as known:
        await stall(await known.open())
        await until(lambda: not len(served.server.registry))


async def test_a_page_that_reads_nothing_does_not_hold_up_the_end_of_the_server(
    state_folder: Path,
) -> None:
    with running(replace(SHORT, heartbeat_seconds=60.0, silence_seconds=60.0)) as server:
        async with visitor(server) as known:
            await stall(await known.open())
            server.server.stop()
            await until(lambda: not len(server.server.registry))


async def test_a_session_that_nobody_uses_ends(state_folder: Path) -> None:
    with running(replace(SHORT, idle_seconds=0.3)) as server:
        async with visitor(server) as known:
            page = await known.open()
            assert await page.closed() == Closing.ENDED


async def test_the_end_of_the_server_ends_every_session(state_folder: Path) -> None:
    with running() as server:
        async with visitor(server) as known:
            pages = [await known.open() for _ in range(2)]
            pids = [session.process.pid for session in server.server.registry]
            server.server.stop()
            codes = await asyncio.gather(*(page.closed() for page in pages))
            assert codes == [Closing.ENDED] * 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not enforce the limit")
@pytest.mark.parametrize(("taken", "code"), [(10_000_000, 0), (400_000_000, 1)])
def test_a_process_takes_no_more_memory_than_its_limit(taken: int, code: int) -> None:
    script = (
        f"from kbx_tui.system import limit_memory\nlimit_memory(200_000_000)\nbytearray({taken})"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert ran.returncode == code
    assert (b"MemoryError" in ran.stderr) == bool(code)


@pytest.mark.parametrize("script", ["pass", "import sys, time; time.sleep(0.3); sys.exit(1)"])
async def test_without_a_fork_server_each_page_starts_a_program(
    state_folder: Path, script: str
) -> None:
    with running(fork_command=[sys.executable, "-S", "-c", script, SOCKET]) as server:
        async with visitor(server) as known:
            for _ in range(2):
                page = await known.open()
                await page.until("welcome")
                await leave(page)


async def test_a_process_that_cannot_be_started_is_reported(state_folder: Path) -> None:
    with running(command=["/nowhere/python"]) as server:
        async with visitor(server) as known:
            page = Page(await known.connect())
            await page.send("open", {"width": 80, "height": 24})
            assert await page.closed() == Closing.REFUSED


@pytest.mark.parametrize("script", ["print('hello')", "pass", "import sys; sys.exit(3)"])
async def test_a_process_that_does_not_speak_the_protocol_ends_its_session(
    state_folder: Path, script: str
) -> None:
    with running(command=["python3", "-c", script]) as server:
        async with visitor(server) as known:
            page = await known.open()
            assert await page.closed() == Closing.ENDED

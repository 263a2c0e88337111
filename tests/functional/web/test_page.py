"""The page in a real browser: headless Chromium, with the real app behind it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui.index.ownership import allow
from kbx_tui.web.app_process import app_command
from kbx_tui.web.browser_session import Limits
from tests.functional.web.chromium import Tab, chromium, chromium_program
from tests.functional.web.running import Running, running
from tests.waiting import until

PROGRAM = chromium_program()
QUERY = "what did the platform team decide about migration?"
SLIDERS = ("alpha", "threshold")
KNOB = "●"
PIECES = """import('./static/connection.js').then(({ Connection }) => {
  const connection = new Connection(() => ({}), {});
  const sent = [];
  connection.send = (kind, piece) => sent.push(piece);
  connection.type('x'.repeat(7999) + '😀y');
  return sent;
})"""
"""The messages for a long text, with a character of two UTF-16 units where one could end."""

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")


@pytest.fixture
def served(demo_copy: Path, state_folder: Path) -> Iterator[Running]:
    """A server of the demo, whose index this user made."""
    allow(demo_copy / ".kbx" / "index")
    limits = Limits()
    command = app_command([demo_copy], allow_writes=False, memory_bytes=limits.memory_bytes)
    with running(limits, command) as server:
        yield server


async def place_of(tab: Tab, pattern: str) -> tuple[float, float]:
    """Return the point in the window where the first group of a pattern is drawn."""
    rows = (await tab.text()).split("\n")
    row, found = next(
        (number, match) for number, line in enumerate(rows) if (match := re.search(pattern, line))
    )
    box = await tab.evaluate(
        "(({left, top, width, height}) => [left, top, width, height])"
        "(document.querySelector('.xterm-screen').getBoundingClientRect())"
    )
    columns = max(map(len, rows))
    x = box[0] + box[2] * (found.start(1) + 0.5) / columns
    return x, box[1] + box[3] * (row + 0.5) / len(rows)


async def test_the_page_in_a_browser(served: Running, tmp_path: Path) -> None:
    """A visit: search, sliders, a document, the clipboard, a cut, and the same on a phone."""
    assert PROGRAM is not None
    async with chromium(PROGRAM, tmp_path / "profile") as tab:
        allowed = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        await tab.call("Browser.grantPermissions", permissions=allowed)
        await tab.call("Emulation.setFocusEmulationEnabled", enabled=True)
        await tab.resize(1400, 900)
        await tab.open(served.server.new_link())
        await tab.until_text("63 documents")

        assert await tab.evaluate(PIECES) == ["x" * 7_999 + "😀", "y"]

        await tab.paste(QUERY[:-3])
        await tab.type(QUERY[-3:])
        await tab.until_text(r"› \.\d\d .*Migration go/no-go")
        await tab.until("document.title.endsWith('migration?')")
        assert "q=what+did+the+platform" in await tab.evaluate("location.search")
        for name in SLIDERS:
            x, y = await place_of(tab, rf"{name}[^{KNOB}]*({KNOB})")
            await tab.drag((x, y), (x - 50, y))
            value = rf"{name}[^.]*{KNOB}[^.]*\.[123]\d"  # .50 before
            await tab.until_text(value)

        await tab.type("/")  # from the slider back to the query
        await tab.key("ArrowDown", code=40)
        await tab.key("Enter", code=13, text="\r")
        await tab.until_text("next match|n N match")
        await tab.type("y")  # the menu of what can be copied
        await tab.type("y")
        await tab.until("navigator.clipboard.readText().then(text => text.includes('go-no-go'))")

        before = await tab.evaluate("document.querySelectorAll('.xterm-rows > div').length")
        await tab.resize(1000, 600)
        await tab.until(f"document.querySelectorAll('.xterm-rows > div').length < {before}")
        await tab.until_text("─ 9/10 · ")  # the match that is shown

        session = next(iter(served.server.registry))
        requests = len(tab.requests)
        served.server.call(served.server.guard.close_all)
        await until(lambda: len(tab.requests) > requests and session.left_at is None)
        await tab.type("n")
        await tab.until_text("─ 10/10 · ")  # the next one

        await tab.resize(390, 560, phone=True)
        await tab.call("Page.reload")
        await tab.until_text("n N match|esc back")
        text = await tab.settled_text()
        assert 50 <= max(map(len, text.split("\n"))) <= 55
        await tab.evaluate("document.querySelector('#keys button').click()")
        await tab.until_text("Migration kick-off")
        assert "Inês Carvalho" not in await tab.text()
        x, y = await place_of(tab, r"\.\d\d.*(kick)")
        await tab.tap((x, y))
        await tab.until_text(r"› \.\d\d.*kick")
        await tab.tap(await place_of(tab, "(weaker)"))
        await tab.until_text("› .*Cut-over retrospective")
        await tab.swipe((x, 350), (x, 100))
        await tab.swipe((x, 350), (x, 100))
        await tab.until_text(r"\.\d\d.*Inês Carvalho")
        assert len(served.server.registry) == 1

        link = f"<a id=a href='{served.url}?q=pricing'>on another site</a>"
        await tab.open(f"data:text/html,{link}")
        await tab.until("!!document.getElementById('a')")
        await tab.evaluate("document.getElementById('a').click()")
        await tab.until("document.title.endsWith('pricing')")  # the cookie was not sent at first

        address = served.origin.partition("//")[2]
        foreign = [
            url
            for url in tab.requests
            if f"://{address}/" not in url and url != f"data:text/html,{link}"
        ]
        assert foreign == []
        assert [error for error in tab.errors if "401" not in error] == []

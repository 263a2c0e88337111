"""Print which modules of the package run in three flows of a copy of the demo.

    python -m scripts.trace_flow            # the number of modules and of calls of each flow
    python -m scripts.trace_flow --modules  # with the modules, those with the most calls first

a: a warm `KnowledgeBase.search`. b: one press on the alpha slider of the app. c: accepting one
draft in the app, until its line is in the file, and until the app is idle again. Counted are calls
of functions; a module that only defines a class or a constant is not.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from textual import events
from textual.pilot import Pilot

import kbx_tui
from kbx_tui import KnowledgeBase
from kbx_tui.demo import FOLDER_VARIABLE, install_demo
from kbx_tui.tui.app import KbxApp

PACKAGE = str(Path(kbx_tui.__file__).parent) + os.sep
QUERY = "what did the platform team decide about migration?"
DRAFT = "# Alice Chen\nCollects antique barometers\n"
PAGE = "memory/people/alice-chen.md"
STEP = 0.05
"""Seconds between two looks at a condition."""
SHORT_STEP = 0.001
LIMIT = 120
"""Seconds after which a condition is given up: the script no longer knows the app's keys."""
IDLE = 1.0
"""Seconds without a change after which the app is idle."""


_counted: list[Counter[str]] = []
"""What counts the calls, while a flow is traced."""


def count_call(frame: FrameType, event: str, argument: object) -> None:
    """Count a call of a function of the package; a profile function of `sys` and `threading`."""
    code = frame.f_code
    is_ours = code.co_filename.startswith(PACKAGE) and code.co_name != "<module>"
    if _counted and event == "call" and is_ours:
        _counted[0][code.co_filename.removeprefix(PACKAGE)] += 1


@contextmanager
def traced() -> Iterator[Counter[str]]:
    """Count the calls of functions of the package by module, in all threads."""
    calls: Counter[str] = Counter()
    _counted.append(calls)
    try:
        yield calls
    finally:
        _counted.clear()


def search(base: Path) -> Counter[str]:
    """Trace the second of two searches."""
    with KnowledgeBase(base) as kb:
        kb.search(QUERY)
        with traced() as calls:
            kb.search("what has Alice been working on?")
    return calls


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT):
        while not condition():
            await pilot.pause(STEP)
    await pilot.pause(IDLE)


def shows(app: KbxApp, text: str) -> Callable[[], bool]:
    return lambda: text in app.export_screenshot().replace("&#160;", " ")


async def slider(base: Path) -> Counter[str]:
    """Trace `]` in the results of a query."""
    app = KbxApp(base)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.pause(IDLE)
        app.post_message(events.Paste(QUERY))
        await until(pilot, shows(app, "Migration"))
        await pilot.press("enter", "left_square_bracket")
        await pilot.pause(IDLE)
        with traced() as calls:
            await pilot.press("right_square_bracket")
            await pilot.pause(IDLE)
    return calls


async def draft(base: Path) -> tuple[Counter[str], Counter[str]]:
    """Trace the key that writes a draft which is known to be new: the write, and all until idle."""
    app = KbxApp(base)
    page = base / PAGE
    before = page.read_bytes()
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.pause(IDLE)
        await pilot.press("f2", "slash")
        app.post_message(events.Paste(DRAFT))
        await until(pilot, shows(app, "barometers"))
        await pilot.pause(3 * IDLE)  # the check
        await pilot.press("c", "a")  # decide, and list what would be written
        await pilot.pause(IDLE)
        with traced() as calls:
            app.simulate_key("enter")  # confirmed; `press` would wait for what follows the write
            async with asyncio.timeout(LIMIT):
                while page.read_bytes() == before:
                    await asyncio.sleep(SHORT_STEP)
            written = calls.copy()
            await pilot.pause(3 * IDLE)
    return written, calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", action="store_true", help="list the modules of each flow")
    options = parser.parse_args()
    threading.setprofile(count_call)  # before there is a thread: others cannot be reached
    sys.setprofile(count_call)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ[FOLDER_VARIABLE] = str(Path(scratch) / "demo")
        os.environ["KBX_STATE_DIR"] = scratch
        base = install_demo()
        KnowledgeBase(base).index()
        flows = {
            "a: a warm search": search(base),
            "b: a step of the alpha slider": asyncio.run(slider(base)),
        }
        written, followed = asyncio.run(draft(base))
        flows |= {"c: a draft to disk": written, "   and the index run after it": followed}
    for name, calls in flows.items():
        print(f"{name}: {len(calls)} modules, {calls.total()} calls")
        if options.modules:
            for module, count in calls.most_common():
                print(f"{count:7}  {module}")


if __name__ == "__main__":
    main()

"""Writes the pictures in `screenshots/`: the real app on a fresh copy of the demo.

uv run python scripts/make_screenshots.py [FOLDER]
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.demo.install import FOLDER_VARIABLE, install_demo
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.widgets.query_line import QueryLine

QUERY = "what did the platform team decide about migration?"
SHOTS = (
    ("explore.svg", "textual-dark", (140, 40)),
    ("explore-light.svg", "textual-light", (140, 40)),
    ("explore-80x24.svg", "textual-dark", (80, 24)),
)
MARKS_FADE = 2.5
"""Seconds until nothing shows any more what has just moved."""


async def shoot(base: Path, file: Path, theme: str, size: tuple[int, int]) -> None:
    app = KbxApp(lambda: KnowledgeBase(base))
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await pilot.pause(MARKS_FADE)  # the engine loads meanwhile
        app.screen.query_one(QueryLine).value = QUERY
        while app.controller.ranking is None:
            await pilot.pause(0.1)
        await pilot.press("down")
        await pilot.pause(MARKS_FADE)
        file.write_text(app.export_screenshot(title="kbx"), encoding="utf-8")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ[FOLDER_VARIABLE] = str(Path(scratch) / "demo")
        base = install_demo()
        KnowledgeBase(base).index()
        for name, theme, size in SHOTS:
            asyncio.run(shoot(base, folder / name, theme, size))
            print(folder / name)


if __name__ == "__main__":
    main()

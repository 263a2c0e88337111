"""Write the pictures in `screenshots/`: the real app on a fresh copy of the demo.

uv run python -m scripts.make_screenshots [FOLDER]
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.demo import FOLDER_VARIABLE, install_demo
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.dedup.panes import DraftList
from kbx_tui.tui.experts.screen import TopicLine
from kbx_tui.tui.explore.inputs import QueryLine

QUERY = "what did the platform team decide about migration?"
SHOTS: tuple[tuple[str, str, tuple[int, int], tuple[str, ...]], ...] = (
    ("explore.svg", "kbx", (140, 40), ()),
    ("explore-light.svg", "textual-light", (140, 40), ()),
    ("explore-80x24.svg", "kbx", (80, 24), ()),
    ("reading.svg", "kbx", (140, 40), ("enter", "n")),
    ("entity.svg", "kbx", (140, 40), ("e", "enter")),
    ("dedup.svg", "kbx", (140, 40), ("f2", "drafts", "down", "down", "down", "down")),
    ("experts.svg", "kbx", (140, 40), ("f3", "topic", "down")),
)
"""File, theme, size, and the keys that are pressed in the results; `drafts` and `topic` wait."""
TOPIC = "migration"
MARKS_FADE = 2.5
"""Seconds until nothing shows any more what has just moved."""


async def shoot(
    base: Path, file: Path, theme: str, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    app = KbxApp(base)
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await pilot.pause(MARKS_FADE)  # the engine loads meanwhile
        assert app.explore is not None
        app.explore.query_one(QueryLine).show_query(QUERY)
        while app.explore.view is None:
            await pilot.pause(0.1)
        for key in ("down", *keys):
            if key == "drafts":
                reviewing = app.explore.session.review
                reviewing.load(str(base / "drafts.md"))
                while not app.screen.query_one(DraftList).rows or reviewing.is_checking:
                    await pilot.pause(0.1)
            elif key == "topic":
                app.screen.query_one(TopicLine).value = TOPIC
                while app.explore.session.experts.view is None:
                    await pilot.pause(0.1)
            else:
                await pilot.press(key)
        await pilot.pause(MARKS_FADE)
        file.write_text(app.export_screenshot(title="kbx"), encoding="utf-8")


@contextmanager
def fresh_demo() -> Iterator[Path]:
    """Provide an indexed copy of the demo, away from the state of whoever runs this."""
    with tempfile.TemporaryDirectory() as scratch:
        os.environ[FOLDER_VARIABLE] = str(Path(scratch) / "demo")
        os.environ["KBX_STATE_DIR"] = scratch
        base = install_demo()
        KnowledgeBase(base).index()
        yield base


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with fresh_demo() as base:
        for name, theme, size, keys in SHOTS:
            asyncio.run(shoot(base, folder / name, theme, size, keys))
            print(folder / name)


if __name__ == "__main__":
    main()

"""The first paint does not wait for the engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = ("numpy", "lancedb", "pyarrow", "fastembed", "onnxruntime", "kbx_tui.api", "rapidfuzz")


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_the_app_loads_no_engine() -> None:
    code = f"import kbx_tui.tui.app, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert run(code) == "[]"


def test_importing_the_app_loads_no_mode_but_explore() -> None:
    screens = [f"kbx_tui.tui.{mode}.screen" for mode in ("dedup", "experts", "indexing", "tune")]
    later = (*screens, "kbx_tui.tui.comparing", "kbx_tui.tui.dedup.model")
    code = f"import kbx_tui.tui.app, sys; print([m for m in {later!r} if m in sys.modules])"
    assert run(code) == "[]"


def test_app_is_painted_in_the_remembered_theme_before_the_base_is_opened(tmp_path: Path) -> None:
    """All is styled once: styles are not read again for the theme."""
    code = f"""
import asyncio, os, sys
from pathlib import Path
from textual.css.stylesheet import Stylesheet
from kbx_tui.tui.app import KbxApp
os.environ["KBX_STATE_DIR"] = {str(tmp_path)!r}
Path({str(tmp_path / "state.json")!r}).write_text('{{"theme": "textual-light"}}')
painted, read_again = [], []
reparse = Stylesheet.reparse
Stylesheet.reparse = lambda styles: (read_again.append(styles), reparse(styles))
class Bases:
    writes = True
    def open(self, root, notice):
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
        painted.append(any("Type to search" in line for line in lines))
        painted.append(app.screen.styles.background.brightness > 0.5 and not read_again)
        raise OSError("painted before opening")
app = KbxApp(Path({str(tmp_path)!r}), bases=Bases())
async def main():
    async with app.run_test(size=(140, 40)) as pilot:
        while not painted:
            await pilot.pause(0.01)
asyncio.run(main())
print(painted, "numpy" in sys.modules)
"""
    assert run(code) == "[True, True] False"

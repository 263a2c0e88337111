"""What a key and the start may cost, in counts; times belong in benchmarks."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest
from textual._compositor import Compositor, ReflowResult
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Size as ScreenSize
from textual.widget import Widget

from kbx_tui.tui.dedup.panes import DraftLine
from kbx_tui.tui.explore.entities import EntityCard
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.gc_pauses import IdleCollector
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.footer import KeyBar
from tests.functional.tui.driving import NARROW, QUESTION, WIDE, Size, running

MAX_RESTYLED = 50
"""Nodes restyled when the focus moves; `:focus-within` on a container would restyle hundreds."""

MAX_LAYOUTS = 3
"""Layouts for one new size: one, and those the panes request when they know their size."""


async def test_a_burst_of_keys_retrieves_once_and_ranks_once(demo: Path) -> None:
    async with running(demo, WIDE, debounce=1.0) as driver:
        await driver.write(QUESTION)
        await driver.until(lambda: driver.titles)
        assert driver.watched.queries == [QUESTION]
        assert driver.watched.calls["rank"] == 1


async def test_knobs_mode_sorting_muting_and_pinning_never_retrieve(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        ranked = driver.watched.calls["rank"]
        await driver.press("escape", *["right_square_bracket"] * 10)
        await driver.until(lambda: driver.alpha == 1.0)
        assert driver.watched.calls["rank"] - ranked <= 10  # once for a step of a held key
        await driver.press("e", "minus", "plus", "down", "minus", "s", "s")
        for key in ("left_square_bracket", "right_curly_bracket"):
            await driver.press(*[key] * 10)
        await driver.press("m", *["z"] * 6)
        await driver.until(lambda: driver.state.mode == "two-pass")
        assert driver.watched.calls["retrieve"] == 1


async def test_modules_of_the_tables_are_exempt_from_collection(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IdleCollector, "freezes", 0)
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.until(lambda: IdleCollector.freezes == 2)  # of the base, and of its tables


async def test_screens_that_were_closed_keep_no_drawn_lines(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        kept = []
        for _ in range(4):
            await driver.press("f2")
            await driver.until_focused(DraftLine)
            await driver.press("f1")
            await driver.until_focused(QueryLine)
            gc.collect()
            kept.append(sum(type(each).__name__ == "StylesCache" for each in gc.get_objects()))
        assert kept[3] <= kept[1]  # that of one visit is kept until the next


async def test_moving_through_results_reads_no_document_and_each_snippet_once(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        last = len(driver.paths) - 1
        await driver.press("down", *["down"] * last)
        await driver.until(lambda: driver.results.cursor == last)
        asked = driver.explore.model.displayed.snippets
        await driver.until(lambda: driver.paths[last] in asked)
        assert driver.watched.calls["document"] == 0
        snippets = driver.watched.calls["snippets"]
        await driver.press(*["up"] * last, *["down"] * last)
        assert driver.watched.calls["snippets"] == snippets


async def test_a_long_document_adds_no_widgets(demo_copy: Path) -> None:
    long = "# Long quokka\n\n" + "- a **line** about [[Alice Chen]]\n" * 5_000
    (demo_copy / "memory/notes/long.md").write_text(long, encoding="utf-8")
    async with running(demo_copy, WIDE, asked="long quokka") as driver:
        await driver.until(lambda: driver.titles[:1] == ["Long quokka"])
        before = len(driver.explore.query("*"))
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        await driver.press("G")
        await driver.press("escape", "e", "enter")
        await driver.until_focused(EntityCard)
        assert len(driver.explore.query("*")) == before


async def test_holding_down_with_a_preview_reads_each_document_at_most_once(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("down", "p")
        await driver.until_shown(PreviewPane, "Migration go/no-go")
        read = driver.watched.calls["document"]
        for _ in range(15):
            driver.app.simulate_key("down")
        await driver.until(lambda: driver.explore.query_one(PreviewPane).path == driver.paths[15])
        assert driver.watched.calls["document"] - read <= 15


@pytest.mark.parametrize(
    ("size", "keys"),
    [
        (WIDE, ("e", "escape", "slash", "down", "f", "escape", "tab", "tab", "slash")),
        (NARROW, ("slash", "down", "f", "escape", "slash")),
    ],
    ids=["wide", "narrow"],
)
async def test_moving_the_focus_restyles_few_widgets(
    demo: Path, size: Size, keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    styled: list[DOMNode] = []
    apply = Stylesheet.apply

    def counted(sheet: Stylesheet, node: DOMNode, **options: object) -> None:
        styled.append(node)
        apply(sheet, node, **options)  # type: ignore[arg-type]

    async with running(demo, size, asked=QUESTION) as driver:
        await driver.press("escape")
        monkeypatch.setattr(Stylesheet, "apply", counted)
        for key in keys:
            styled.clear()
            await driver.press(key)
            assert len(styled) < MAX_RESTYLED, (key, styled)


async def test_a_new_size_is_laid_out_with_the_classes_of_its_width(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out: list[tuple[int, bool]] = []
    reflow = Compositor.reflow

    def count(compositor: Compositor, parent: Widget, size: ScreenSize) -> ReflowResult:
        if isinstance(parent, Explore):
            laid_out.append((size.width, parent.has_class("-narrow")))
        return reflow(compositor, parent, size)

    async with running(demo, WIDE, asked=QUESTION) as driver:
        monkeypatch.setattr(Compositor, "reflow", count)
        await driver.pilot.resize_terminal(*NARROW)
        await driver.until_shown(KeyBar, "esc leave")
        assert (NARROW[0], False) not in laid_out
        assert 1 <= laid_out.count((NARROW[0], True)) <= MAX_LAYOUTS


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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[True, True] False"

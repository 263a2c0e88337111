"""Write `screenshots/film.svg`: a film of the real app on a fresh copy of the demo.

    uv run python -m scripts.make_film [FILE]

The app is driven by keys, and a frame is taken whenever it has come to rest. The file is one SVG
whose frames lie on each other: each draws the rows that differ from the frame before, and CSS shows
it from its time on. Where nothing is animated, the frames up to `STILL` show. The same code gives
the same bytes.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from rich.cells import cell_len
from textual.pilot import Pilot

from kbx_tui import KnowledgeBase
from kbx_tui.tui.app import KbxApp
from scripts.make_screenshots import fresh_demo

SIZE = (100, 28)
AT_REST = 0.7
"""Seconds without a change after which the app has come to rest."""
PATIENCE = 60.0
QUERY_PARTS = ("what did the platform ", "team ", "decide about ", "migration?")
FONTS = "Fira Code,Menlo,Consolas,DejaVu Sans Mono,monospace"


@dataclass(frozen=True, slots=True)
class Step:
    caption: str
    keys: Sequence[str]
    """Names of keys, or a text to type."""
    shows: str
    """What the screen says once the keys have had their effect."""
    seconds: float


def typed(caption: str, *parts: str, shows: str, seconds: float) -> Iterator[Step]:
    """Type a text part by part; what the last one brings is shown for `seconds`."""
    *first, last = parts
    for part in first:
        yield Step(caption, part, part.split()[-1], 0.25)
    yield Step(caption, last, shows, seconds)


ASK = "Ask as you would ask a colleague"
WEIGH = "]  weighs what a note says more than who it is about"
MISSING = "w  says why a page is missing, and what would bring it in"
DRAFT = "F2  compares a fact with what you know before it is saved"
ANSWER = "Migration go/no-go"
STEPS: tuple[Step, ...] = (
    Step(ASK, (), "F1 Explore", 0.8),
    *typed(ASK, *QUERY_PARTS, shows=ANSWER, seconds=2.5),
    Step(WEIGH, ("down", "]"), ".55", 0.4),
    Step(WEIGH, ("]",), ".60", 0.4),
    Step(WEIGH, ("]",), ".65", 0.4),
    Step(WEIGH, ("]",), ".70", 1.8),
    Step(MISSING, ("w",), "Why not", 0.5),
    Step(MISSING, "on-call", "on-call", 0.5),
    Step(MISSING, ("enter",), "first 10", 2.2),
    Step(DRAFT, ("escape", "escape", "f2"), "No drafts.", 0.5),
    *typed(DRAFT, "[2026-04-20] ", "Prefers email ", "over Slack", shows="conflict", seconds=2.2),
    Step("u  supersedes the known fact", ("enter", "escape", "u"), "supersede ✓", 1.0),
    Step("a  shows what would be written", ("a",), "enter writes", 2.2),
    Step("enter  writes it", ("enter",), "1 superseded", 1.0),
    Step("z  takes it back, to the byte", ("z",), "undid", 2.2),
)
STILL = next(number for number, step in enumerate(STEPS) if step.shows == ANSWER)
"""Last frame that shows without animation."""

Rows = list[str]


class Drawing:
    """Turns screenshots of Textual into rows of SVG with style classes that all frames share."""

    WIDTH, HEIGHT = 12.2, 24.4
    """Size of a character cell in Textual's screenshots, in pixels."""

    def __init__(self) -> None:
        self.classes: dict[str, str] = {}
        """Class by style."""

    def rows(self, screenshot: str) -> Rows:
        """Return the rows of one screenshot."""
        root = ElementTree.fromstring(screenshot)
        name = "{http://www.w3.org/2000/svg}"
        styles = dict(
            line.strip(" .}").split(" { ")
            for line in str(root.findtext(f"{name}style")).splitlines()
            if "-r" in line and "{ fill" in line
        )
        bands = [list[tuple[str, float, float]]() for _ in range(SIZE[1])]
        for part in root.iter(f"{name}rect"):
            if part.get("shape-rendering"):
                start, y, width = (float(part.get(key, 0)) for key in ("x", "y", "width"))
                fill, end = part.get("fill", ""), start + width
                line = bands[round((y - 1.5) / self.HEIGHT)]
                if line and line[-1][0] == fill:  # both are drawn as one
                    start = line.pop()[1]
                line.append((fill, start, end - start))
        rows = ["".join(self._background(*band) for band in line) for line in bands]
        for part in root.iter(f"{name}text"):
            if part.get("clip-path"):
                row = round((float(part.get("y", 0)) - 20) / self.HEIGHT)
                text = str(part.text).replace("\N{NO-BREAK SPACE}", " ")
                rows[row] += self._text(
                    text, float(part.get("x", 0)), styles[part.get("class", "")]
                )
        return rows

    def _background(self, fill: str, x: float, width: float) -> str:
        # A little wider and higher: no gap shows between neighbours.
        kind = self._class(f"fill: {fill}")
        return f'<rect class="{kind}" x="{x:g}" width="{width + 0.3:g}" height="24.7"/>'

    def _text(self, text: str, x: float, style: str) -> str:
        words = text.strip()
        if not words:
            return ""
        x += self.WIDTH * (len(text) - len(text.lstrip()))
        length = f"{self.WIDTH * cell_len(words):g}"
        kind = self._class(style)
        return (
            f'<text class="{kind}" x="{x:g}" y="18.5" textLength="{length}">{escape(words)}</text>'
        )

    def _class(self, style: str) -> str:
        return self.classes.setdefault(style, f"s{len(self.classes)}")

    def film(self, frames: Sequence[Rows], steps: Sequence[Step]) -> str:
        """Return the SVG of frames, each a caption and the rows of the screen."""
        ends = list(accumulate(step.seconds for step in steps))
        width, height = SIZE[0] * self.WIDTH, len(frames[0]) * self.HEIGHT
        drawn, groups, style = Counter[str](), list[str](), list[str]()
        before = [""] * len(frames[0])
        for number, frame in enumerate(frames):
            changed = [(row, text) for row, text in enumerate(frame) if text != before[row]]
            drawn.update(text for _, text in changed)
            ids = {text: f"r{number}" for number, text in enumerate(drawn)}
            uses = (
                f'<use href="#{ids[text]}" y="{row * self.HEIGHT:.1f}"/>' for row, text in changed
            )
            groups.append(f'<g class="f{number}">{"".join(uses)}</g>')
            if number:
                begins = f"{100 * ends[number - 1] / ends[-1]:.2f}%"
                otherwise = "visible" if number <= STILL else "hidden"
                style += [
                    f"@keyframes k{number}{{0%{{visibility:hidden}}"
                    f"{begins},to{{visibility:visible}}}}",
                    f".f{number}{{animation:k{number} {ends[-1]:g}s step-end infinite;"
                    f"visibility:{otherwise}}}",
                ]
            before = frame
        style += [f".{kind}{{{rule}}}" for rule, kind in self.classes.items()]
        style.append("@media(prefers-reduced-motion:reduce){g{animation:none!important}}")
        rows = (f'<g id="r{number}">{text}</g>' for number, text in enumerate(drawn))
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
                f' font-size="20" font-family="{FONTS}" xml:space="preserve">',
                *("<style>", *style, "</style>", "<defs>", *rows, "</defs>", *groups, "</svg>\n"),
            ]
        )

    def caption(self, text: str) -> str:
        band = self._background("#292929", 0, SIZE[0] * self.WIDTH)
        return band + self._text(f" {text}", 0, "fill: #ffc473;font-weight: bold")


async def play(pilot: Pilot[None], step: Step) -> str:
    """Press the keys of a step and return a screenshot of the app at rest."""
    app = pilot.app
    await pilot.press(*step.keys)
    async with asyncio.timeout(PATIENCE):
        taken = ""
        while True:
            await pilot.pause(AT_REST)
            before, taken = taken, app.export_screenshot()
            words = " ".join("".join(ElementTree.fromstring(taken).itertext()).split())
            if taken == before and step.shows in words:
                return taken


async def record(base: Path, steps: Sequence[Step]) -> str:
    """Play the steps on a base and return the film."""
    drawing, frames = Drawing(), list[Rows]()
    app = KbxApp(base)
    async with app.run_test(size=SIZE) as pilot:
        for step in steps:
            rows = drawing.rows(await play(pilot, step))
            frames.append([drawing.caption(step.caption), *rows])
    return drawing.film(frames, steps)


def main() -> None:
    file = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots/film.svg").absolute()
    with fresh_demo() as base:
        with KnowledgeBase(base) as kb:
            kb.change_setting("app.measures", "never")  # times differ from run to run
        film = asyncio.run(record(base, STEPS))
    file.write_text(film, encoding="utf-8")
    print(f"{file}: {len(film) / 1000:.0f} kB")


if __name__ == "__main__":
    main()

"""Drive the app headlessly: typing, sliding, scrolling, reading and resizing.

    python -m benchmarks.exploring BASE [--seconds 180]

BASE is an indexed folder. Prints the longest stall of the event loop, the time of a re-ranking
after a slider moves, the processor time of the idle app, and memory. `computing` is the part of a
stall for which this process, in all its threads, used a processor: what is left of it where no
other program wants one.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
from textual.pilot import Pilot

from benchmarks.common import median, resident_mb, row
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.explore.view import ExploreView

BEAT = 0.004
"""Seconds between two heartbeats of the event loop."""
IDLE_SECONDS = 20.0
SIZES = ((140, 40), (80, 24), (110, 30), (50, 16), (200, 50))
WORDS = (
    "what did the team decide about the release plan",
    "who reviewed the proposal for iterator helpers",
    "industrial design of the remote control",
    "budget meeting minutes education committee",
    "temporal proposal stage 3 concerns",
)


class Heartbeat:
    """Measures how long the event loop was blocked."""

    def __init__(self) -> None:
        self.gaps: list[tuple[float, float, str]] = []
        """Seconds beyond the beat, those of them spent computing, and the action in progress."""
        self.doing = "start"

    async def beat(self) -> None:
        before, used_before = time.perf_counter(), time.process_time()
        while True:
            await asyncio.sleep(BEAT)
            now, used = time.perf_counter(), time.process_time()
            gap = now - before - BEAT
            self.gaps.append((gap, min(gap, used - used_before), self.doing))
            before, used_before = now, used


class Player:
    """Uses the app as a user does, without pauses."""

    def __init__(self, app: KbxApp, pilot: Pilot[None], heart: Heartbeat, seed: int) -> None:
        self.app, self.pilot, self.heart = app, pilot, heart
        self.random = random.Random(seed)
        self.ranking_ms: list[float] = []

    @property
    def explore(self) -> Explore:
        assert self.app.explore is not None
        return self.app.explore

    async def until(self, condition: Callable[[], object], seconds: float = 120.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"timed out while {self.heart.doing}")
            await asyncio.sleep(0.01)

    async def type_query(self) -> None:
        await self.keys("slash", pause=0.02)
        self.explore.query_one(QueryLine).value = ""
        words = self.random.choice(WORDS)
        for letter in words[: self.random.randrange(10, len(words))]:
            self.app.simulate_key("space" if letter == " " else letter)
            await asyncio.sleep(self.random.uniform(0.03, 0.15))
        await self.until(self._answered)
        await self.keys("escape")

    async def slide(self) -> None:
        keys = self.random.choice(
            ("left_square_bracket", "right_square_bracket", "left_curly_bracket",
             "right_curly_bracket")
        )  # fmt: skip
        for _ in range(12):
            self.app.simulate_key(keys)
            await asyncio.sleep(0.03)

    async def scroll(self) -> None:
        for key in ("down", "down", "pagedown", "pagedown", "end", "pageup", "home"):
            await self.keys(key, pause=0.08)

    async def read(self) -> None:
        await self.keys("enter", "n", "n", "pagedown", "pagedown", "N", "escape", pause=0.1)

    async def meet(self) -> None:
        await self.keys("e", "enter", pause=0.2)
        await self.keys("pagedown", "escape", "escape", pause=0.1)

    async def resize(self) -> None:
        await self.pilot.resize_terminal(*self.random.choice(SIZES))
        await asyncio.sleep(0.2)

    async def modes(self) -> None:
        await self.keys("m", "m", "m", "s", "s", "z", pause=0.15)

    async def keys(self, *names: str, pause: float = 0.05) -> None:
        for name in names:
            self.app.simulate_key(name)
            await asyncio.sleep(pause)

    def time_rankings(self) -> None:
        """Record the duration of each ranking on the event loop."""
        displayed, rank = self.explore.model.displayed, self.explore.model.displayed.rank

        def timed(*arguments: Any) -> ExploreView | None:
            ranking = displayed.ranking
            is_new = ranking is None or ranking.evidence is not displayed.evidence
            began = time.perf_counter()
            view = rank(*arguments)
            if not is_new:
                self.ranking_ms.append((time.perf_counter() - began) * 1000)
            return view

        displayed.rank = timed  # type: ignore[assignment, method-assign]

    def _answered(self) -> bool:
        view, query = self.explore.view, self.explore.model.state.query
        return view is not None and view.query == query and not self.explore.model.is_searching


async def play(base: Path, seconds: float, seed: int) -> None:
    app, heart = KbxApp(base), Heartbeat()
    async with app.run_test(size=(140, 40)) as pilot:
        beating = asyncio.create_task(heart.beat())
        player = Player(app, pilot, heart, seed)
        await player.until(
            lambda: player.explore.model.summary and player.explore.model.summary.documents
        )
        player.time_rankings()
        acts: list[Callable[[], Awaitable[None]]] = [
            player.type_query, player.slide, player.scroll, player.read, player.slide,
            player.meet, player.modes, player.resize,
        ]  # fmt: skip
        await player.type_query()
        memory, ends = [resident_mb()], time.monotonic() + seconds
        while time.monotonic() < ends:
            for act in acts:
                heart.doing = act.__name__
                await act()
            memory.append(resident_mb())
        results = player.explore.query_one(ResultList)
        candidates = len(player.explore.model.displayed.evidence or ())
        heart.doing = "idle"
        await asyncio.sleep(5.0)
        process, began = psutil.Process(), time.monotonic()
        spent = sum(process.cpu_times()[:2])
        beating.cancel()  # the heartbeat would count as activity
        await asyncio.sleep(IDLE_SECONDS)
        idle = (sum(process.cpu_times()[:2]) - spent) / (time.monotonic() - began)
        _report(heart, player, memory, idle, candidates, len(results.rows))


def _report(
    heart: Heartbeat, player: Player, memory: list[float], idle: float, candidates: int, shown: int
) -> None:
    gaps = sorted(gap for gap, _, _ in heart.gaps)
    worst: dict[str, tuple[float, float]] = {}
    for gap, computing, doing in heart.gaps:
        longest, most = worst.get(doing, (0.0, 0.0))
        worst[doing] = max(longest, gap), max(most, computing)
    row("longest stall of the event loop", stall(*map(max, zip(*worst.values(), strict=True))))
    row("  while starting", stall(*worst.pop("start")))
    for doing, both in sorted(worst.items(), key=lambda item: -item[1][0]):
        row(f"  while: {doing}", stall(*both))
    over = [computing for gap, computing, _ in heart.gaps if gap > 0.1]
    row("stalls over 100 ms", f"{len(over)}, computing {sum(each > 0.1 for each in over)}")
    row("99.9th percentile", f"{gaps[int(len(gaps) * 0.999)] * 1000:.0f} ms")
    ordered = sorted(player.ranking_ms)
    row(
        f"ranking after a move, {candidates:,} candidates, {shown} shown",
        f"{median(ordered):.1f} ms, p99 {ordered[int(len(ordered) * 0.99)]:.1f} ms"
        f" (n {len(ordered)})",
    )
    row("processor while idle", f"{idle * 100:.2f} %")
    third = len(memory) // 3
    row(
        "memory: start, after a third, end",
        f"{memory[0]:.0f}, {memory[third]:.0f}, {memory[-1]:.0f} MB",
    )


def stall(longest: float, computing: float) -> str:
    """Return the longest stall and the longest computation, both given in seconds."""
    return f"{longest * 1000:.0f} ms, computing {computing * 1000:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    asyncio.run(play(options.base, options.seconds, options.seed))


if __name__ == "__main__":
    main()

"""The ways in turn, each at a random moment."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.common import row
from benchmarks.endings.outcome import Outcome
from benchmarks.endings.pipe_tries import try_on_pipes
from benchmarks.endings.terminal_tries import try_in_terminal
from benchmarks.endings.ways import REQUESTS, Way

BARE_SHARE = 0.2
"""Share of the tries on a base without an index, which indexes first."""


def run_tries(
    ways: Sequence[Way], tries: int, chance: random.Random, bare: Path, indexed: Path, limit: float
) -> Iterator[tuple[Way, Outcome]]:
    """Make `tries` tries, taking the ways in turn, on a base without an index and one with it."""
    for number in range(tries):
        way = ways[number % len(ways)]
        base = bare if way.surface == "index" or chance.random() < BARE_SHARE else indexed
        outcome = one_try(way, base, chance, limit)
        if outcome.failures:
            row(f"  try {number + 1}, {way}", f"{outcome.failures} {outcome.detail}")
        if base is bare:
            shutil.rmtree(bare / ".kbx", ignore_errors=True)
        yield way, outcome


def one_try(way: Way, base: Path, chance: random.Random, limit: float) -> Outcome:
    moment = chance.uniform(*way.moments)
    if way.surface in REQUESTS:
        return try_on_pipes(way, base, moment, limit)
    return try_in_terminal(way, base, moment, limit, chance)

"""Measure in a terminal how long the app takes to show a key.

    python -m benchmarks.echo COPY [--rounds 3] [--speed 6.0]

COPY is an indexed folder. The app runs in a pseudo terminal of 140x40. Each time is from writing a
key to reading the output that shows it; `on a processor` is without the time for which the thread
that draws was ready to run but other programs had the processors (Linux only). `typing` is at
`--speed` characters a second, after which a search has ended; `typing while it searches` sends each
key when the search for the key before has begun. Slider and cursor move while nothing else changes.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import copy_of, median, row
from kbx_tui.tui.explore.model import DEBOUNCE_SECONDS
from tests.terminal.terminal import APP, Terminal, terminal

QUERIES = ("alice platform migration", "security review of the database", "who decided on hiring")
CLEAR = "\x15"
CURSOR, KNOB = "›", "●"
STEPS = 6
"""Keys in one direction before they go back."""
QUIET = 0.4
"""Seconds without output after which the app has shown everything."""
LOST = 5.0
"""Seconds after which a key counts as not shown."""
BEGUN = DEBOUNCE_SECONDS + 0.01
"""Seconds after a key when its search has begun."""
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


class Keyboard:
    """Presses keys and waits for what each shows; times are in milliseconds."""

    def __init__(self, app: Terminal) -> None:
        self.app = app
        self.times: list[tuple[float, float]] = []
        """Of each key since the last report: all its time, and what of it was waiting for a
        processor."""

    def echo(self, key: str, is_shown: Callable[[str], bool]) -> None:
        """Press a key and wait until `is_shown` holds for the text written since."""
        self.app.written = ""  # appending to megabytes would take milliseconds
        waited = waiting_for_processor(self.app.process.pid)
        start = time.perf_counter()
        self.app.type(key)
        while not is_shown(ESCAPES.sub("", self.app.written)):
            assert time.perf_counter() - start < LOST, f"{key!r} was not shown"
            self.app.wait_for_output(LOST)  # polling would take a processor away from the app
        took = (time.perf_counter() - start) * 1000
        waited = waiting_for_processor(self.app.process.pid) - waited
        self.times.append((took, min(waited, took)))

    def settle(self) -> None:
        """Wait until the app writes nothing more."""
        length = -1
        while length != len(self.app.written):
            length = len(self.app.written)
            self.app.listen(QUIET)

    def type(self, query: str, pause: float) -> None:
        """Type a query into the empty query line, and pause after each character."""
        self.app.press("/", CLEAR)
        self.settle()
        for end, letter in enumerate(query, start=1):
            self.echo(letter, lambda text, end=end: query[:end] in text)  # type: ignore[misc]
            self.app.listen(pause)
        self.settle()

    def move(self, keys: Sequence[str], is_shown: Callable[[str], bool]) -> None:
        """Press keys each of which changes the screen until `is_shown` holds."""
        for key in keys:
            self.settle()
            self.echo(key, is_shown)

    def report(self, label: str) -> None:
        """Print the times of all keys since the last report."""
        for name, times in (
            (label, [took for took, _ in self.times]),
            ("  on a processor", [took - waited for took, waited in self.times]),
        ):
            times.sort()
            high, most = times[len(times) * 9 // 10], times[-1]
            row(name, f"{median(times):6.1f} ms, p90 {high:.1f}, max {most:.1f}, n {len(times)}")
        self.times.clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--speed", type=float, default=6.0)
    options = parser.parse_args()
    with TemporaryDirectory() as state:
        os.environ["KBX_STATE_DIR"] = state  # in which the index of the copy is allowed
        with copy_of(options.base, keep_index=True) as root:
            own = {"HOME": str(root.parent)}
            with terminal([*APP, "--kb", str(root)], size=(140, 40), environment=own) as app:
                app.wait_for("documents")
                measure(Keyboard(app), options.rounds, options.speed)


def measure(keyboard: Keyboard, rounds: int, speed: float) -> None:
    """Print how long keys of each kind take."""
    for query in QUERIES:  # the first searches load what they need
        keyboard.type(query, BEGUN)
    keyboard.times.clear()
    for label, pause in (("typing", 1 / speed), ("typing while it searches", BEGUN)):
        for query in QUERIES * rounds:
            keyboard.type(query, pause)
        keyboard.report(label)
    keyboard.app.press("escape")
    for label, forth, back, sign in (
        ("cursor in the results", "j", "k", CURSOR),
        ("slider of alpha", "]", "[", KNOB),
    ):
        keyboard.move((forth * STEPS + back * STEPS) * rounds, partial(contains, sign))
        keyboard.report(label)


def contains(sign: str, text: str) -> bool:
    return sign in text


def waiting_for_processor(pid: int) -> float:
    """Return for how long the main thread has been ready but not running; 0 if unknown."""
    statistics = Path(f"/proc/{pid}/schedstat")
    return int(statistics.read_text().split()[1]) / 1e6 if statistics.exists() else 0.0


if __name__ == "__main__":
    main()

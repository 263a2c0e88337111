"""Tries in a terminal, as a user starts the program."""

from __future__ import annotations

import random
import signal
import subprocess
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from benchmarks.endings.outcome import Outcome, check_end, check_terminal, wait_until_gone
from benchmarks.endings.ways import HUNG_UP, SIGNALS, Way, command_of
from tests.terminal.terminal import Terminal, terminal


def try_in_terminal(
    way: Way, base: Path, moment: float, limit: float, chance: random.Random
) -> Outcome:
    command = command_of(way, base, moment)
    with terminal(command, size=(100, 30)) as program:
        before = termios.tcgetattr(program.master)
        if way.surface == "app":
            prepare_app(way, program, chance)
        program.listen(moment)
        began, expected = time.monotonic(), end_in_terminal(way, program)
        is_closed = program.master < 0
        outcome = wait_until_gone(
            program.process, began, limit, None if is_closed else lambda: program.listen(0.02)
        )
        if not is_closed:
            program.listen(0.1)
            check_terminal(outcome, program, before)
        check_end(outcome, program.process, expected, program.written, moment)
        return outcome


def prepare_app(way: Way, program: Terminal, chance: random.Random) -> None:
    """Type something; wait for the app where the ending needs it to be there."""
    if way.ending in ("key", "closed while suspended", "resumed and closed", "exception"):
        with suppress(AssertionError):  # reported as a wrong code
            program.wait_for("Type to search")
    elif chance.random() < 0.5:
        program.listen(chance.uniform(0.0, 1.5))
    if way.ending != "exception":
        program.type("alice migration"[: chance.randrange(16)])
    if way.ending in ("closed while suspended", "resumed and closed"):
        program.press("ctrl+z")
        wait_for_state(program.process, psutil.STATUS_STOPPED)
        if way.ending == "resumed and closed":
            program.process.send_signal(signal.SIGCONT)


def end_in_terminal(way: Way, program: Terminal) -> Sequence[int]:
    """End the program and return the exit codes that are right."""
    if way.ending == "ctrl+c":
        program.press("ctrl+c")
        return 128 + signal.SIGINT, -signal.SIGINT
    if way.ending == "key":
        program.press("escape", "ctrl+q")
        return (0,)
    if way.ending == "exception":  # raised by itself
        return (1,)
    if way.ending.endswith(("closed", "suspended")):
        program.hang_up()
        if way.ending == "closed while suspended":  # what a shell does, and the system for orphans
            program.process.send_signal(signal.SIGHUP)
            program.process.send_signal(signal.SIGCONT)
        return HUNG_UP
    number = SIGNALS[way.ending]
    program.process.send_signal(number)
    return 128 + number, -number


def wait_for_state(process: subprocess.Popen[bytes], state: str, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    with suppress(psutil.NoSuchProcess):
        while psutil.Process(process.pid).status() != state and time.monotonic() < deadline:
            time.sleep(0.02)

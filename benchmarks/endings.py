"""Start and end the program at random moments; it must be gone in time and leave nothing behind.

    python -m benchmarks.endings [--tries 500] [--seed 1] [--only app,search] [--limit 3]

Every try starts one surface on a copy of the demo, in a terminal of its own or on pipes, and ends
it at a random moment, before, while or after it starts. Checked are the time until it is gone, the
exit code, the state of the terminal, what it printed, and that no process is left.

Prints each failure, and a row per surface and way to end; the exit code is 1 if there was a
failure. `late` is an end that took longer than the limit, with little work of its own, on a machine
kept busy by others: it is shown, but not counted. An end before Python runs the program is not
judged.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import psutil

from benchmarks.common import copy_of, row
from kbx_tui.demo.install import SHIPPED
from tests.terminal.terminal import Terminal, terminal
from tests.usual_signals import restore_signals

KBX = [sys.executable, "-m", "kbx_tui"]
FAILING_APP = "from benchmarks.endings import run_failing_app; run_failing_app({delay})"
"""Runs the app with a bug that raises after a while."""

REQUESTS = {
    "mcp": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": '
        b'"2025-06-18", "capabilities": {}, "clientInfo": {"name": "endings", "version": "1"}}}\n'
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
        b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "kbx_search", '
        b'"arguments": {"query": "who decided about the migration"}}}\n'
    ),
    "jsonl": b'{"id": 1, "method": "kb.search", "params": {"query": "rollback plan"}}\n',
}
FIRST_ANSWER = {"mcp": b'"result"', "jsonl": b'"ok"'}
"""What the output holds once the first request is answered."""
UNASKED = "end of input without a request"
STARTING = re.compile(r"init_import_site|KeyboardInterrupt\s*$")
"""What Python prints when it is interrupted before it runs the program."""
BARE_SHARE = 0.2
"""Share of the tries on a base without an index, which indexes first."""
PATIENCE = 10
"""Multiple of the limit after which a process is killed."""
BUSY_LOAD = 1.5
"""Processes waiting per core above which an end that is late is the machine's fault."""
SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}
HUNG_UP = (128 + signal.SIGHUP, -signal.SIGHUP)

SWITCHED = {  # what the app turns on, and how it is turned off
    "alternate screen": ("\x1b[?1049h", "\x1b[?1049l"),
    "cursor": ("\x1b[?25l", "\x1b[?25h"),
    "mouse": ("\x1b[?1000h", "\x1b[?1000l"),
    "mouse motion": ("\x1b[?1003h", "\x1b[?1003l"),
    "bracketed paste": ("\x1b[?2004h", "\x1b[?2004l"),
    "focus events": ("\x1b[?1004h", "\x1b[?1004l"),
}
LAST_RESULT = "\r\n10  ."
"""Stands in the output of a search that had finished before it was ended."""
BAD_OUTPUT = re.compile(
    "Fatal Python error|Traceback|panicked|Exception ignored|Aborted|core dumped"
)


@dataclass(frozen=True)
class Way:
    """One way to end one surface."""

    surface: str
    ending: str
    moments: tuple[float, float]
    """Earliest and latest moment, in seconds after the start."""

    def __str__(self) -> str:
        return f"{self.surface}: {self.ending}"


@dataclass
class Outcome:
    """What one try led to."""

    seconds: float = 0.0
    """From the ending to the end of the process."""
    failures: list[str] = field(default_factory=list)
    """Kinds: hang, late, code, abort, output, terminal, left behind."""
    detail: str = ""


WAYS = [
    *(Way("search", ending, (0.0, 1.2)) for ending in ("ctrl+c", "SIGTERM", "SIGHUP", "closed")),
    *(Way("index", ending, (0.0, 2.5)) for ending in ("ctrl+c", "SIGTERM", "SIGHUP", "closed")),
    *(
        Way("app", ending, (0.0, 3.0))
        for ending in ("SIGINT", "SIGTERM", "SIGHUP", "closed", "key", "exception")
    ),
    Way("app", "closed while suspended", (0.0, 2.0)),
    Way("app", "resumed and closed", (0.0, 1.0)),
    *(Way("mcp", ending, (0.0, 2.5)) for ending in (*SIGNALS, "end of input", UNASKED)),
    *(Way("mcp in a terminal", ending, (0.0, 2.5)) for ending in ("ctrl+c", "closed")),
    *(Way("mcp --http", ending, (0.0, 3.5)) for ending in ("ctrl+c", "SIGTERM", "closed")),
    *(Way("jsonl", ending, (0.0, 2.0)) for ending in (*SIGNALS, "end of input")),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="surfaces, separated by commas")
    parser.add_argument("--limit", type=float, default=3.0, help="seconds until it must be gone")
    options = parser.parse_args()
    restore_signals()
    surfaces = set(filter(None, options.only.split(",")))
    ways = [way for way in WAYS if not surfaces or way.surface in surfaces]
    chance = random.Random(options.seed)
    with (
        tempfile.TemporaryDirectory() as folder,  # log and state of the app
        copy_of(SHIPPED) as bare,
        copy_of(SHIPPED) as indexed,
    ):
        os.environ |= {"KBX_LOG_DIR": folder, "KBX_STATE_DIR": folder}
        # In a process of its own: this one forks, which threads of LanceDB would not survive.
        subprocess.run([*KBX, "--kb", str(indexed), "index"], check=True, capture_output=True)
        outcomes: dict[Way, list[Outcome]] = defaultdict(list)
        with suppress(KeyboardInterrupt):  # the table of the tries made so far
            for way, outcome in run_tries(
                ways, options.tries, chance, bare, indexed, options.limit
            ):
                outcomes[way].append(outcome)
    print_table(outcomes)
    if any(is_failed(outcome) for tried in outcomes.values() for outcome in tried):
        sys.exit(1)


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


def is_failed(outcome: Outcome) -> bool:
    return bool({*outcome.failures} - {"late"})


def print_table(outcomes: dict[Way, list[Outcome]]) -> None:
    total: Counter[str] = Counter()
    for way, tried in outcomes.items():
        kinds = Counter(kind for outcome in tried for kind in outcome.failures)
        slowest = max(outcome.seconds for outcome in tried)
        found = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none"
        row(str(way), f"{len(tried):3} tries, slowest {slowest:.1f} s, failures: {found}")
        total.update(kinds)
    tries = sum(map(len, outcomes.values()))
    found = ", ".join(f"{count} {kind}" for kind, count in total.items()) or "none"
    row("all", f"{tries} tries, failures: {found}; load {os.getloadavg()[0]:.1f}")


def one_try(way: Way, base: Path, chance: random.Random, limit: float) -> Outcome:
    moment = chance.uniform(*way.moments)
    if way.surface in REQUESTS:
        return try_on_pipes(way, base, moment, limit)
    return try_in_terminal(way, base, moment, limit, chance)


# On pipes: servers, as a client starts them.


def try_on_pipes(way: Way, base: Path, moment: float, limit: float) -> Outcome:
    with tempfile.TemporaryFile() as output, started_on_pipes(way.surface, base, output) as process:
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            if way.ending != UNASKED:
                process.stdin.write(REQUESTS[way.surface])
            process.stdin.flush()
        if way.ending == "end of input":  # what was sent is answered first, however long it takes
            wait_for_output(output, FIRST_ANSWER[way.surface])
        time.sleep(moment)
        began = time.monotonic()
        if way.ending in ("end of input", UNASKED):
            process.stdin.close()
            expected: Sequence[int] = (0,)
        else:
            number = SIGNALS[way.ending]
            process.send_signal(number)
            expected = (128 + number, -number)
        outcome = wait_until_gone(process, began, limit)
        output.seek(0)
        check_end(outcome, process, expected, output.read().decode("utf-8", "replace"), moment)
    return outcome


def wait_for_output(output: BinaryIO, text: bytes, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while text not in os.pread(output.fileno(), 100_000, 0) and time.monotonic() < deadline:
        time.sleep(0.05)


@contextmanager
def started_on_pipes(
    command: str, base: Path, output: BinaryIO
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*KBX, "--kb", str(base), command],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.close()


# In a terminal.


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


def command_of(way: Way, base: Path, moment: float) -> list[str]:
    kbx = [*KBX, "--kb", str(base)]
    if way.ending == "exception":
        return [sys.executable, "-c", FAILING_APP.format(delay=moment), "--kb", str(base)]
    arguments = {
        "app": [],
        "search": ["search", "what did alice decide about the migration"],
        "index": ["index"],
        "mcp in a terminal": ["mcp"],
        "mcp --http": ["mcp", "--http", "--port", "0"],
    }
    return [*kbx, *arguments[way.surface]]


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


def check_terminal(outcome: Outcome, program: Terminal, before: list[object]) -> None:
    wrong = [
        name
        for name, (on, off) in SWITCHED.items()
        if program.written.rfind(on) > program.written.rfind(off)
    ]
    if termios.tcgetattr(program.master) != before:
        wrong.append("modes")
    if wrong:
        outcome.failures.append("terminal")
        outcome.detail += f" not restored: {', '.join(wrong)}"


def wait_for_state(process: subprocess.Popen[bytes], state: str, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    with suppress(psutil.NoSuchProcess):
        while psutil.Process(process.pid).status() != state and time.monotonic() < deadline:
            time.sleep(0.02)


# Both.


def wait_until_gone(
    process: subprocess.Popen[bytes],
    began: float,
    limit: float,
    listen: Callable[[], object] | None = None,
) -> Outcome:
    """Wait for the end. One that takes over `limit` seconds is a hang, and killed at last.

    Unless other processes keep the machine busy, and it came to an end that needed little work.
    """
    outcome = Outcome()
    listen = listen or (lambda: time.sleep(0.02))
    cpu_before, cpu, state = cpu_seconds(process), 0.0, ""
    while process.poll() is None:
        cpu = max(cpu, cpu_seconds(process) - cpu_before)
        if not state and time.monotonic() - began > limit:
            state = state_of(process)
        if time.monotonic() - began > limit * PATIENCE:
            process.kill()
            process.wait()
            outcome.failures.append("hang")
        else:
            listen()
    outcome.seconds = time.monotonic() - began
    if state and not outcome.failures:
        is_busy = os.getloadavg()[0] > BUSY_LOAD * (os.cpu_count() or 1)
        kind = "late" if is_busy and cpu < limit else "hang"
        outcome.failures.append(kind)
    if outcome.failures:
        outcome.detail += f" {outcome.seconds:.1f} s, {cpu:.1f} s of CPU; {state}"
    return outcome


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    with suppress(psutil.Error):
        return float(sum(psutil.Process(process.pid).cpu_times()[:2]))
    return 0.0


def state_of(process: subprocess.Popen[bytes]) -> str:
    with suppress(psutil.Error):
        hung = psutil.Process(process.pid)
        return f"{hung.status()}, {hung.num_threads()} threads"
    return "gone meanwhile"


def check_end(
    outcome: Outcome,
    process: subprocess.Popen[bytes],
    expected: Sequence[int],
    output: str,
    moment: float,
) -> None:
    where = f"after {moment:.2f} s"
    if STARTING.search(output) and "in main" not in output:
        return
    if "hang" not in outcome.failures and process.returncode not in expected:
        if process.returncode == 0 and LAST_RESULT in output:
            pass  # it had finished before the signal
        else:
            outcome.failures.append("abort" if process.returncode == -signal.SIGABRT else "code")
            outcome.detail += f" exit {process.returncode} {where}: {output[-300:]!r}"
    if bad := BAD_OUTPUT.search(output):
        outcome.failures.append("output")
        outcome.detail += f" {where}: {output[bad.start() : bad.start() + 1500]!r}"
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, 0)
        outcome.failures.append("left behind")
        os.killpg(process.pid, signal.SIGKILL)


def run_failing_app(delay: float) -> None:
    """Run the program with an app that fails after `delay` seconds."""
    import runpy

    from kbx_tui.tui.app import KbxApp

    def fail() -> None:
        raise RuntimeError("a bug")

    ready = KbxApp.on_mount

    def on_mount(self: KbxApp) -> None:
        ready(self)
        self.set_timer(max(delay, 0.01), fail)

    KbxApp.on_mount = on_mount  # type: ignore[method-assign]
    sys.argv[0] = "kbx"
    runpy.run_module("kbx_tui", run_name="__main__")


if __name__ == "__main__":
    main()

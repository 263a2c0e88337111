"""What one try led to, and the checks of its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

from tests.terminal.terminal import Terminal

STARTING = re.compile(r"init_import_site|KeyboardInterrupt\s*$")
"""What Python prints when it is interrupted before it runs the program."""
PATIENCE = 10
"""Multiple of the limit after which a process is killed."""
BUSY_LOAD = 1.5
"""Processes waiting per core above which an end that is late is the machine's fault."""
SWITCHED = {  # what the app turns on, and how it is turned off
    "alternate screen": ("\x1b[?1049h", "\x1b[?1049l"),
    "cursor": ("\x1b[?25l", "\x1b[?25h"),
    "mouse": ("\x1b[?1000h", "\x1b[?1000l"),
    "mouse motion": ("\x1b[?1003h", "\x1b[?1003l"),
    "bracketed paste": ("\x1b[?2004h", "\x1b[?2004l"),
    "focus events": ("\x1b[?1004h", "\x1b[?1004l"),
}
LAST_RESULT = re.compile(r"\r\n10 (\x1b\[1m)? ?\.")
"""Stands in the output of a search that had finished before it was ended, in colour or not."""
BAD_OUTPUT = re.compile(
    "Fatal Python error|Traceback|panicked|Exception ignored|Aborted|core dumped"
)


@dataclass
class Outcome:
    """What one try led to."""

    seconds: float = 0.0
    """From the ending to the end of the process."""
    failures: list[str] = field(default_factory=list)
    """Kinds: hang, late, code, abort, output, terminal, left behind."""
    detail: str = ""


def is_failed(outcome: Outcome) -> bool:
    return bool({*outcome.failures} - {"late"})


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
        if process.returncode == 0 and LAST_RESULT.search(output):
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

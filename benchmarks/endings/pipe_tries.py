"""Tries on pipes: servers, as a client starts them."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from benchmarks.endings.outcome import Outcome, check_end, wait_until_gone
from benchmarks.endings.ways import FIRST_ANSWER, KBX, REQUESTS, SIGNALS, UNASKED, Way


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

"""A pseudo terminal to run the app in, with keys, window size and signals."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

KEYS: Mapping[str, bytes] = {
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "pagedown": b"\x1b[6~",
    "ctrl+c": b"\x03",
    "ctrl+q": b"\x11",
    "ctrl+z": b"\x1a",
}
APP = [sys.executable, "-m", "kbx_tui"]
TIMEOUT = 60.0
"""Seconds to wait for output or for the end of a program, on a busy machine."""

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|.)")


class Terminal:
    """A program running in a terminal of its own."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process, self.master = process, master
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.written = ""
        """All output so far, including escape sequences."""

    @property
    def text(self) -> str:
        """All output so far, without escape sequences."""
        return _ESCAPE.sub("", self.written)

    def press(self, *keys: str) -> None:
        """Press keys one after the other; a key is a name in KEYS or a single character."""
        for key in keys:
            os.write(self.master, KEYS.get(key, key.encode()))
            # Escape followed at once by a character would be a different key.
            self.listen(0.3 if key == "escape" else 0.02)

    def type(self, text: str) -> None:
        """Type text without pauses."""
        os.write(self.master, text.encode())

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the window."""
        size = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)
        os.killpg(os.tcgetpgrp(self.master), signal.SIGWINCH)

    def listen(self, seconds: float) -> None:
        """Read output for some seconds."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([self.master], [], [], left)
            if ready and not self._read():
                return

    def wait_for_output(self, seconds: float) -> None:
        """Wait until the program writes, without keeping a processor busy; then read that."""
        if select.select([self.master], [], [], seconds)[0]:
            self._read()

    def wait_for(self, text: str, *, after: int = 0) -> None:
        """Wait for `text` in the output after its first `after` characters."""
        deadline = time.monotonic() + TIMEOUT
        while text not in _ESCAPE.sub("", self.written[after:]):
            assert time.monotonic() < deadline, f"no {text!r} in {self.text[-2_000:]!r}"
            assert self.process.poll() is None, f"exited without {text!r}: {self.text[-2_000:]!r}"
            self.listen(0.1)

    def wait_for_exit(self, seconds: float = TIMEOUT) -> int:
        """Wait for the program to exit and return its exit code."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still running: {self.text[-2_000:]!r}"
            self.listen(0.05)
        self.listen(0.1)
        return self.process.returncode

    def hang_up(self) -> None:
        """Close the window, which hangs up the terminal."""
        os.close(self.master)
        self.master = -1

    def close(self) -> None:
        """Kill the program if it still runs, and close the terminal."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.master >= 0:
            os.close(self.master)

    def _read(self) -> bool:
        try:
            data = os.read(self.master, 65_536)
        except OSError:  # the program closed its side
            return False
        self.written += self._decode(data)
        return bool(data)


@contextmanager
def terminal(
    command: Sequence[str],
    *,
    size: tuple[int, int] = (100, 30),
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Iterator[Terminal]:
    """Run a command in a terminal of its own for the duration of the block."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "", **(environment or {})},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(slave)
    running = Terminal(process, master)
    try:
        yield running
    finally:
        running.close()

"""The server's side of the protocol, for tests of the process of a visitor."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Self

from tests.command_line import CHECKOUT

PATIENCE = 60.0
"""Seconds until the process is killed, which ends every wait for it."""


class VisitorProcess:
    """A running process; used as a context, it is gone at the end."""

    def __init__(self, environment: dict[str, str], *roots: Path, options: tuple[str, ...] = ()):
        bases = [word for root in roots for word in ("--kb", str(root))]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kbx_tui.tui.visitor", *bases, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=CHECKOUT,
            env={**environment, "COLUMNS": "140", "ROWS": "40"},
        )
        self._timer = threading.Timer(PATIENCE, self._process.kill)
        self._timer.start()
        self.drawn = bytearray()
        """All that was sent for the terminal."""
        self.told: list[dict[str, object]] = []
        """The messages."""

    def __enter__(self) -> Self:
        assert self._output.readline() == b"__GANGLION__\n"
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.wait()
        self._input.close()
        self._output.close()

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _output(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def send(self, kind: bytes, payload: bytes) -> None:
        self._input.write(kind + len(payload).to_bytes(4, "big") + payload)
        self._input.flush()

    def break_off(self, last: bytes = b"") -> None:
        """Send `last` as it is, then nothing more."""
        self._input.write(last)
        self._input.close()

    def type(self, keys: str) -> None:
        """Send keys as a terminal does."""
        self.send(b"D", keys.encode())

    def tell(self, kind: str, **fields: object) -> None:
        """Send a message."""
        self.send(b"M", json.dumps({"type": kind, **fields}).encode())

    def read(self) -> bool:
        """Read one packet; return False at the end of the output."""
        head = self._output.read(5)
        if len(head) < 5:
            return False
        payload = self._output.read(int.from_bytes(head[1:], "big"))
        if head[:1] == b"M":
            self.told.append(json.loads(payload))
        else:
            self.drawn += payload
        return True

    def read_until(self, condition: Callable[[], object]) -> None:
        """Read packets until `condition` holds."""
        while not condition():
            assert self.read(), f"the process ended: {self.told} {bytes(self.drawn[-2000:])!r}"

    def end(self) -> int:
        """Read what is left and return the exit status."""
        while self.read():
            pass
        return self._process.wait()

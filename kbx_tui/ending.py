"""How the program ends: by a signal, because its terminal is gone, or by itself.

Python would raise KeyboardInterrupt at whatever line the main thread is on, which can leave a lock
of the import system held for ever, and would then wait for every thread, and abort if one of them
is in native code. Here a thread of its own waits for signals, even while the main thread is in
native code, and the interpreter is never torn down:

1. whoever registered with `on_signal` is asked to stop; else, writes in progress are finished;
2. at the latest after `LIMIT_SECONDS`, what was changed of the terminal is restored;
3. the process exits with 128 + the number of the signal.

Only the program calls `install`, before anything slow is imported. Without it (the package used in
another program, tests that call the command line), nothing here has an effect.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from kbx_tui.system import HAS_UNIX

TYPE_CHECKING = False  # known to type checkers; nothing slow is imported before `install`
if TYPE_CHECKING:
    from typing import NoReturn

LIMIT_SECONDS = 2.0
"""Longest time that stopping and writing may take."""

Callback = Callable[[], object]

INPUT_POLL_MILLISECONDS = 200
"""How often the thread that waits for the end of the input checks whether it may stop."""

_BY_ITSELF = 0
"""Stands for no signal where a signal number is expected."""
_CHILD_ENDED = 255
"""Says in the pipe that a program no longer has the terminal; no signal has this number."""


class _Process:
    def __init__(self) -> None:
        self.pipe: int | None = None
        """Where signal numbers are written for the watching thread; None before `install`."""
        self.signal = _BY_ITSELF
        self.code = 0
        self.is_ending = False
        self.changed = threading.Condition()
        self.writes: Counter[int] = Counter()
        """Blocks of `unfinished_write` by thread; one may be within another."""
        self.is_exiting = False
        self.stop: Callback | None = None
        self.restore: Callback | None = None
        self.last_words = "interrupted"
        self.children = 0
        """Programs that have the terminal, and with it ctrl+c."""
        self.terminal: int | None = None
        """A descriptor of the terminal whose end is to end the process."""

    def exit_code(self) -> int:
        return 128 + self.signal if self.signal else self.code  # the convention of shells


_process = _Process()


def install() -> None:
    """Take over SIGINT, SIGTERM and SIGHUP, except where ignored. Call it in the main thread."""
    if not HAS_UNIX:
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    _process.pipe = write_end
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _note)
    threading.Thread(target=_watch, args=(read_end,), name="kbx-end", daemon=True).start()
    if signal.getsignal(signal.SIGHUP) is _note and os.isatty(0):
        _process.terminal = os.dup(0)  # a server may put something else in the place of stdin


def end_by(number: int) -> None:
    """End the process as if it had received this signal. Callable on any thread, returns."""
    if _process.pipe is not None:
        with suppress(OSError):
            os.write(_process.pipe, bytes([number]))


def end_soon(code: int) -> None:
    """Limit the time until the process calls `leave`, which then exits with `code`."""
    if _process.pipe is not None:
        _process.code, _process.is_ending = code, True
        end_by(_BY_ITSELF)


def is_ending() -> bool:
    return _process.is_ending


def leave(code: int) -> NoReturn:
    """Exit once everything printed and all writes of other threads are finished.

    The exit code is that of a signal, if one came, else `code`. A failure after the terminal is
    gone has that cause, even if the signal for it is still on its way.
    """
    _process.code = code
    if code and _is_terminal_gone():
        _process.signal = _process.signal or signal.SIGHUP
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    _exit(LIMIT_SECONDS)


@contextmanager
def unfinished_write() -> Iterator[None]:
    """Give what the block writes a moment to finish before the process exits."""
    thread, writes = threading.get_ident(), _process.writes
    with _process.changed:
        # Nothing new begins: the thread waits here for the exit.
        _process.changed.wait_for(lambda: not _process.is_exiting or thread in writes)
        writes[thread] += 1
    try:
        yield
    finally:
        with _process.changed:
            writes[thread] -= 1
            if not writes[thread]:
                del writes[thread]
            _process.changed.notify_all()


@contextmanager
def on_signal(stop: Callback, last_words: str = "") -> Iterator[None]:
    """Within the block, call `stop` at a signal, and exit only when its time is up.

    `stop` runs on another thread and should make the program end by itself; it returns False when
    it cannot. `last_words` are printed if ctrl+c has to end the process after all.
    """
    before = _process.stop, _process.last_words
    _process.stop, _process.last_words = stop, last_words or _process.last_words
    try:
        yield
    finally:
        _process.stop, _process.last_words = before


@contextmanager
def end_with_input() -> Iterator[None]:
    """Within the block, exit with 0 when stdin ends; what was sent before is read after it."""
    is_over = threading.Event()
    if _process.pipe is not None:
        threading.Thread(
            target=_wait_for_input, args=(is_over,), name="kbx-input", daemon=True
        ).start()
    try:
        yield
    finally:
        is_over.set()


def restore_with(restore: Callback | None) -> None:
    """Call `restore`, which must not block, when the process exits; None: nothing is changed."""
    _process.restore = restore


@contextmanager
def interrupts_for_child() -> Iterator[None]:
    """Within the block, leave ctrl+c to the program that has the terminal, such as an editor."""
    _process.children += 1
    try:
        yield
    finally:
        if _process.pipe is None:
            _process.children -= 1
        else:
            end_by(_CHILD_ENDED)  # the watching thread may still have to read a signal before


def _note(number: int, frame: object) -> None:
    """Remember the signal, in case the main thread exits before the watching thread wakes up."""
    if not _is_for_child(number):
        _process.signal = _process.signal or number
        end_by(number)  # again, in case a library has taken the wakeup descriptor


def _watch(read_end: int) -> None:
    ours = {_BY_ITSELF, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    while True:
        for number in os.read(read_end, 64):
            if number == _CHILD_ENDED:
                _process.children -= 1
            elif number in ours and not _is_for_child(number):
                _end(number)


def _is_for_child(number: int) -> bool:
    return number == signal.SIGINT and _process.children > 0


def _is_terminal_gone() -> bool:
    if _process.terminal is None:
        return False
    poll = select.poll()
    poll.register(_process.terminal, 0)  # errors and the hang-up are always reported
    return bool(poll.poll(0))


def _wait_for_input(is_over: threading.Event) -> None:
    poll = select.poll()
    poll.register(0, select.POLLIN)
    while not is_over.is_set():
        for _, event in poll.poll(INPUT_POLL_MILLISECONDS):
            if is_over.is_set() or event != select.POLLHUP:
                return
            leave(0)


def _end(number: int) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    _process.signal, _process.is_ending = _process.signal or number, True
    if number == _BY_ITSELF:
        time.sleep(LIMIT_SECONDS)  # the process exits meanwhile
    elif _process.stop is not None:
        with suppress(Exception):
            if _process.stop() is not False:
                time.sleep(LIMIT_SECONDS)
    words = _process.last_words if _process.signal == signal.SIGINT else ""
    _exit(max(deadline - time.monotonic(), 0.0), words)


def _exit(seconds: float, last_words: str = "") -> NoReturn:
    """Exit after the writes in progress, or when the time is up; nothing else is torn down."""
    with _process.changed:
        _process.is_exiting = True
        _process.changed.wait_for(lambda: not _process.writes, seconds)
        if _process.restore is not None:
            with suppress(Exception):
                _process.restore()
        if last_words:
            _say(last_words)
        os._exit(_process.exit_code())


def _say(text: str) -> None:
    """Print a line on stderr, unless that would block."""
    with suppress(OSError, ValueError):
        if select.select([], [2], [], 0)[1]:
            os.write(2, f"kbx: {text}\n".encode())

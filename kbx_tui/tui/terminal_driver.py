"""The terminal of the app on Unix, which may be closed at any time.

When the terminal is gone, Textual's driver reads the end of its input in a loop, and its writing
thread dies at the first error, after which the app blocks. When the process is continued, the
driver starts to read even if the app has ended or is already reading. Here a terminal that is gone
ends the app, write errors are ignored, everything is started only once, and another thread can
restore the terminal at any time.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Queue
from typing import Any

from textual.drivers.linux_driver import LinuxDriver

from kbx_tui.ending import end_by, is_ending, restore_with

LEAVE = (
    "\x1b[?2004l\x1b[?7h\x1b[?2048l"  # bracketed paste, line wrap, reports of the size
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # mouse
    "\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"  # keyboard protocol, screen, cursor, focus
)
AGAIN = "\x1b[?2004h\x1b[?25l\x1b[?7l"
"""Bracketed paste, no cursor, no line wrap: modes that shells change while using the terminal."""
LOCK_SECONDS = 0.5
"""Longest wait for another thread using the terminal, before the terminal is restored anyway."""
QUEUED_WRITES = 30
"""Maximum number of writes queued for a slow terminal before the app waits, as in Textual."""


class TerminalDriver(LinuxDriver):
    """Textual's driver for Linux and macOS, robust against a terminal that goes away."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._switching = threading.RLock()
        self._is_active = self._is_switching = self._is_suspending = self._has_ended = False
        self._writer: _Writer | None = None
        self._switched: list[Any] | None = None
        super().__init__(*arguments, **options)  # from here on, signals may switch the terminal
        threading.Thread(
            target=_wait_for_hang_up, args=(self.fileno,), name="kbx-terminal", daemon=True
        ).start()

    def start_application_mode(self) -> None:
        with self._switching:
            if is_ending() or self._has_ended or self._is_switching:
                return
            loop = asyncio.get_running_loop()
            if self._is_active:
                loop.call_soon_threadsafe(self._switch_again)  # a signal handler must not write
                return
            with self._while_switching():
                self._writer = _Writer()
                self._writer.start()
                self._is_active = True
                restore_with(self.restore)
                super().start_application_mode()  # type: ignore[no-untyped-call]
                # That gives up at once if the terminal is gone or belongs to another program.
                self._is_active = self._writer.is_used
                with suppress(termios.error):
                    self._switched = termios.tcgetattr(self.fileno)

    def _switch_again(self) -> None:
        """Undo what a shell changed while SIGSTOP had stopped the process without warning.

        Keys typed meanwhile are kept. In the background, the system stops the process again.
        """
        if not self._is_active:
            return  # the app has ended meanwhile
        if self._switched is not None:
            with suppress(termios.error):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self._switched)
        self.write(AGAIN)
        self.send_message(self.SignalResume())

    def suspend_application_mode(self) -> None:
        self._is_suspending = True
        super().suspend_application_mode()
        self._is_suspending = False

    def stop_application_mode(self) -> None:
        with self._switching, self._while_switching():
            self._has_ended = self._has_ended or not self._is_suspending
            super().stop_application_mode()
            self._is_active = False
            restore_with(None)

    @contextmanager
    def _while_switching(self) -> Iterator[None]:
        self._is_switching = True
        try:
            yield
        finally:
            self._is_switching = False

    def close(self) -> None:
        super().close()
        if self._writer is not None:
            self._writer.finish()

    def write(self, data: str) -> None:
        if self._is_active and self._writer is not None:
            self._writer.put(data)

    def restore(self) -> None:
        """Restore the terminal at once, from any thread; nothing can be drawn afterwards."""
        self._switching.acquire(timeout=LOCK_SECONDS)  # never released: nothing may switch again
        if not self._is_active or self._writer is None:
            return
        self._writer.end_with(LEAVE)
        with suppress(OSError, termios.error):
            # In the background, the system would stop the process for this.
            if self.attrs_before is not None and os.tcgetpgrp(self.fileno) == os.getpgrp():
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)

    def run_input_thread(self) -> None:
        try:
            super().run_input_thread()
        except OSError:
            end_by(signal.SIGHUP)


class _Writer(threading.Thread):
    """Writes to the terminal, as Textual does on stderr, and ignores errors."""

    def __init__(self) -> None:
        super().__init__(name="kbx-output", daemon=True)
        self._queue: Queue[str | None] = Queue(QUEUED_WRITES)
        self._lock = threading.Lock()
        self._ended = False
        self.is_used = False

    def put(self, text: str) -> None:
        self.is_used = True
        self._queue.put(text)

    def run(self) -> None:
        while (text := self._queue.get()) is not None:
            with self._lock, suppress(OSError, ValueError):
                if not self._ended and sys.__stderr__ is not None:
                    sys.__stderr__.write(text)
                    if self._queue.empty():
                        sys.__stderr__.flush()

    def finish(self) -> None:
        if self.is_alive():
            self._queue.put(None)
            self.join()

    def end_with(self, last: str) -> None:
        """Write `last` unless that would block, and drop everything else, now and later."""
        self._lock.acquire(timeout=LOCK_SECONDS)  # never released
        self._ended = True
        with suppress(OSError, ValueError):
            if select.select([], [2], [], 0)[1]:
                os.write(2, last.encode())


def _wait_for_hang_up(descriptor: int) -> None:
    """End the process when its terminal is gone, even if it ignores SIGHUP."""
    poll = select.poll()
    poll.register(descriptor, 0)  # errors and the hang-up are always reported
    for _, event in poll.poll():
        if event & (select.POLLHUP | select.POLLERR):
            end_by(signal.SIGHUP)

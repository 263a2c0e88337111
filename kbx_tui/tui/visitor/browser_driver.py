"""The connection of the app to a browser: Textual's web driver, without its faults.

Textual's reads on when its input has ended, dies silently of a malformed packet, mixes the packets
of two threads, and takes the signals of the process for itself.
"""

from __future__ import annotations

import asyncio
import base64
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from textual.app import App
from textual.drivers.web_driver import WebDriver

from kbx_tui.ending import end_by
from kbx_tui.log_file import logger

LARGEST = (600, 300)
"""Columns and rows beyond which a window is drawn no larger: each cell costs memory."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
COPY = "\x1b]52;c;"
"""How Textual tells a terminal to copy the base64 after it, up to a BEL."""


@runtime_checkable
class Connected(Protocol):
    """An app that talks to the page around it."""

    def connect(self, tell: Callable[[dict[str, object]], object]) -> None:
        """Take what sends a message to the page."""
        ...


class BrowserDriver(WebDriver):
    """Textual's driver for the protocol of its web server, robust against the other side."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._sending = threading.Lock()
        if isinstance(app, Connected):
            app.connect(self.write_meta)

    def start_application_mode(self) -> None:
        with _signals_kept():
            super().start_application_mode()

    def write(self, data: str) -> None:
        """Send text for the screen; what is to be copied goes to the page instead."""
        if data.startswith(COPY):
            copied = base64.b64decode(data.removeprefix(COPY).removesuffix("\a"))
            self.write_meta({"type": "kbx_copy", "text": copied.decode()})
            return
        with self._sends():
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        with self._sends():
            super().write_meta(data)

    def write_binary_encoded(self, data: tuple[str | bytes, ...]) -> None:
        with self._sends():
            super().write_binary_encoded(data)

    def run_input_thread(self) -> None:
        """Read packets until the app stops or the server is gone, which ends the app."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            end_by(signal.SIGHUP)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Take what the server says about the browser; what makes no sense is left out."""
        if packet_type == "resize":
            size = [payload.get(name) for name in ("width", "height")]
            if not all(type(each) is int and each > 0 for each in size):
                logger().warning("a window of %s columns and rows is not possible", size)
                return
            for name, most in zip(("width", "height"), LARGEST, strict=True):
                payload[name] = min(int(str(payload[name])), most)
        super().on_meta(packet_type, payload)

    @contextmanager
    def _sends(self) -> Iterator[None]:
        """Send whole packets; when nobody reads them any more, end the app."""
        with self._sending:
            try:
                yield
            except OSError:
                end_by(signal.SIGHUP)


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Give the signals back to who had them: the app then ends even while its loop is busy."""
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    descriptor = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
    try:
        yield
    finally:
        loop = asyncio.get_running_loop()
        for number, handler in handlers.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
        signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)

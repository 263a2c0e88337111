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
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TextIO, runtime_checkable

from textual.app import App
from textual.drivers.web_driver import WebDriver

from kbx_tui.ending import end_by
from kbx_tui.user_files import logger

LARGEST = (600, 300)
"""Columns and rows beyond which a window is drawn no larger: each cell costs memory."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
COPY = "\x1b]52;c;"
"""How Textual tells a terminal to copy the base64 after it, up to a BEL."""
SET_UP = (
    "\x1b[?1049h\x1b[?25l"  # a screen of its own, no cursor
    "\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"  # mouse
    "\x1b[?2026$p\x1b[?2004h"  # whether it draws whole frames; bracketed paste
)
"""Does again for another terminal what `WebDriver.start_application_mode` did for the first."""
WEB_ADDRESSES = ("http://", "https://")
"""Beginnings of the addresses that a page may be asked to open."""


@runtime_checkable
class PageApp(Protocol):
    """An app that talks to the page around it. All methods are called on the event loop."""

    def connect(self, tell: Callable[[dict[str, object]], object]) -> None:
        """Take what sends a message to the page."""
        ...

    def show_query(self, query: str) -> None:
        """Show the results of a query."""
        ...

    def use_scheme(self, scheme: str) -> None:
        """Follow the scheme of the visitor's system: `light` or `dark`."""
        ...

    def redraw(self) -> None:
        """Draw all of the screen for another page."""
        ...


class BrowserDriver(WebDriver):
    """Textual's driver for the protocol of its web server, robust against the other side."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._sending = threading.Lock()
        self._page_app = app if isinstance(app, PageApp) else None
        if self._page_app is not None:
            self._page_app.connect(self.write_meta)

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

    def deliver_binary(
        self, binary: BinaryIO | TextIO, *, save_path: Path, mime_type: str | None = None, **_: Any
    ) -> None:
        """Send a text file at once: those of the app are small."""
        with binary:
            binary.seek(0)
            text = binary.read()
        if isinstance(text, str):
            self.write_meta(
                {"type": "kbx_file", "name": save_path.name, "mime_type": mime_type, "text": text}
            )

    def open_url(self, url: str, new_tab: bool = True) -> None:
        """Ask the page to open an address of the web; others have no effect."""
        if url.lower().startswith(WEB_ADDRESSES):
            super().open_url(url, new_tab)

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
            # Later than the first size, which Textual posts with a delay, and which would win.
            self._app.call_later(super().on_meta, packet_type, payload)
        elif packet_type.startswith("kbx_"):
            self._take(packet_type, payload)
        else:
            super().on_meta(packet_type, payload)

    def _take(self, packet_type: str, payload: dict[str, object]) -> None:
        """Hand a message of our own to the app; runs on the thread of the input."""
        if (app := self._page_app) is None:
            return
        query, scheme = payload.get("query"), payload.get("scheme")
        if packet_type == "kbx_query" and isinstance(query, str):
            self._app.call_later(app.show_query, query)
        elif packet_type == "kbx_scheme" and isinstance(scheme, str):
            self._app.call_later(app.use_scheme, scheme)
        elif packet_type == "kbx_redraw":
            self._app.call_later(self._redraw, app)

    def _redraw(self, app: PageApp) -> None:
        self.write(SET_UP)
        app.redraw()

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

"""The app for one visitor, with only the bases that it was given, and its state in memory."""

from __future__ import annotations

import asyncio
import base64
import io
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NoReturn, TextIO

from textual import events
from textual.driver import Driver
from textual.drivers.web_driver import WebDriver
from textual.timer import Timer

from kbx_tui.ending import end_by
from kbx_tui.errors import NotFound
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import Bases
from kbx_tui.tui.commands.keymap import NO_EDITOR, NO_OTHER_BASE, offer_in_browser
from kbx_tui.tui.explore.document_actions import COMMAND
from kbx_tui.tui.explore.model import DEBOUNCE_SECONDS
from kbx_tui.user_files import logger

if TYPE_CHECKING:
    from kbx_tui.api.session import Notice
    from kbx_tui.base_trust import TrustRequest
    from kbx_tui.index.index_status import IndexQuestion
    from kbx_tui.search.query_history import PastQuery
    from kbx_tui.tui.visitor.visitor_engine import VisitorEngine


Scheme = Literal["light", "dark"]
Tell = Callable[[dict[str, Any]], object]

THEMES: dict[str, str] = {"light": "textual-light", "dark": "kbx"}
"""The themes for the colour schemes of the visitor's system."""
DRAW_ALL_SECONDS = 0.3
"""Time from a change of size until every cell is drawn again."""
PAGE_SECONDS = 0.3
"""Interval at which title and address of the page are compared with base and query."""
LARGEST = (600, 300)
"""Maximum columns and rows that are drawn, because each cell costs memory."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
COPY = "\x1b]52;c;"
"""The escape code with which Textual has a terminal copy the base64 text up to a BEL."""
SET_UP = (
    "\x1b[?1049h\x1b[?25l"  # alternate screen, no cursor
    "\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"  # mouse
    "\x1b[?2026$p\x1b[?2004h"  # query for synchronized output; bracketed paste
)
"""Sets up another terminal as `WebDriver.start_application_mode` did the first one."""
WEB_ADDRESSES = ("http://", "https://")


class VisitorApp(KbxApp):
    """The app in a browser. It refuses what only a user at this machine may do."""

    bases: VisitorBases

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        allow_writes: bool = False,
        scheme: Scheme = "dark",
        debounce: float = DEBOUNCE_SECONDS,
    ) -> None:
        roots = [root.resolve() for root in roots]
        is_several = len(roots) > 1
        state = AppState(is_kept=False, theme=THEMES[scheme])
        self.tell: Tell = lambda message: None
        """Sends a message to the page; set by the driver."""
        self._told: dict[str, str] = {}
        self._drawing_all: Timer | None = None
        super().__init__(
            None if is_several else roots[0],
            together=roots if is_several else (),
            bases=VisitorBases(roots, lambda: state.past, allow_writes=allow_writes),
            debounce=debounce,
            app_state=state,
            offer=offer_in_browser(allow_writes=allow_writes, has_several_bases=is_several),
        )

    def get_driver_class(self) -> type[Driver]:
        return BrowserDriver

    def on_mount(self) -> None:
        self.set_interval(PAGE_SECONDS, self.report_page)

    async def on_event(self, event: events.Event) -> None:
        await super().on_event(event)
        if isinstance(event, events.Resize):
            # Draw every cell: output for a larger size may have scrolled the screen.
            if self._drawing_all is not None:
                self._drawing_all.stop()
            self._drawing_all = self.set_timer(DRAW_ALL_SECONDS, self.redraw_screen)

    # The page around the app.

    def report_page(self, *, again: bool = False) -> None:
        """Report base and query to the page if they have changed, or if `again`."""
        if self.together is not None and self.explore is None:
            base, query = self.together.base_words[0], safe_line(self.together.model.query)
        elif self.explore is not None and (summary := self.explore.model.summary) is not None:
            base, query = summary.name, safe_line(self.explore.model.state.query)
        else:
            return  # no base is open yet
        title = f"{base} - {query}" if query else base
        page = {"type": "kbx_page", "title": title, "base": base, "query": query}
        if again or page != self._told:
            self._told = page
            self.tell(page)

    def use_scheme(self, scheme: str) -> None:
        if scheme in THEMES and self.theme in THEMES.values():
            self.theme = THEMES[scheme]

    def show_query(self, query: str) -> None:
        self.call_after_refresh(self._search, safe_line(query))

    async def _search(self, query: str) -> None:
        if self.together is not None and self.explore is None:
            self.together.show_query(query)
        else:
            await self.go_to("explore")
            if self.explore is not None:
                self.explore.show_query(query)

    def redraw(self) -> None:
        self.redraw_screen()
        self.report_page(again=True)

    # What only a user at this machine may do.

    def action_switch_base(self) -> None:
        self.show_notice(NO_OTHER_BASE)

    def ask_for_trust(self, go_on: Callable[[], object]) -> None:
        """Ask nothing: only the owner of the machine can trust a base."""

    def ask_to_index(self, question: IndexQuestion, answer: Callable[[bool], object]) -> None:
        """Answer no for the visitor: only the owner may start to index this much."""
        answer(False)

    @property
    def may_ask_for_entities(self) -> bool:
        return False

    def show_notice(self, text: str, *, yields: bool = False) -> None:
        super().show_notice(self.bases.without_folders(text), yields=yields)

    def show_error(self, text: str) -> None:
        super().show_error(self.bases.without_folders(text))

    async def copy(self, name: str, text: str) -> str:
        if name == COMMAND:  # the command contains the folder of the base
            text = self.bases.without_folders(text)
        self.copy_to_clipboard(text)
        return f"copied {name} to the clipboard of the browser: {text}"

    async def save_page(self, query: str, page: str) -> str:
        from kbx_tui.sharing.shared_search import words_for_name

        name = f"kbx-results-{words_for_name(query)}.html"
        self.deliver_text(io.StringIO(page), save_filename=name, mime_type="text/html")
        return f"{name}, among the downloads of the browser"

    async def edit(self, file: Path, line: int) -> str:
        return NO_EDITOR

    def open_beside(self, address: str) -> str:
        return NO_EDITOR

    def leave_base(self, target: str) -> str:
        if not target.lower().startswith(WEB_ADDRESSES):
            return super().leave_base(target)
        self.open_url(target)
        return f"{target} opens in another tab"


class BrowserDriver(WebDriver):
    """The connection of the app to a browser: Textual's web driver, without its faults.

    Textual's driver keeps reading after the end of its input, dies silently at a malformed packet,
    mixes the packets of two threads, and replaces the signal handlers of the process.
    """

    def __init__(self, app: VisitorApp, **options: Any) -> None:
        super().__init__(app, **options)
        self._sending = threading.Lock()
        self._visitor_app = app
        app.tell = self.write_meta

    def start_application_mode(self) -> None:
        """Keep the previous signal handlers, so that the app ends even while its loop is busy."""
        handlers = {number: signal.getsignal(number) for number in SIGNALS}
        descriptor = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)
        super().start_application_mode()
        loop = asyncio.get_running_loop()
        for number, handler in handlers.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
        signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)

    def write(self, data: str) -> None:
        """Send text for the screen; text to copy goes to the page as a message instead."""
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
        with binary:
            binary.seek(0)
            text = binary.read()
        if isinstance(text, str):
            self.write_meta(
                {"type": "kbx_file", "name": save_path.name, "mime_type": mime_type, "text": text}
            )

    def open_url(self, url: str, new_tab: bool = True) -> None:
        if url.lower().startswith(WEB_ADDRESSES):
            super().open_url(url, new_tab)

    def run_input_thread(self) -> None:
        """Read packets until the app stops; end the app if the server is gone."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            end_by(signal.SIGHUP)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Handle a message from the server on the input thread; ignore an invalid one."""
        app = self._visitor_app
        match packet_type, payload:
            case "resize", {"width": int(width), "height": int(height)} if min(width, height) > 0:
                size = {"width": min(width, LARGEST[0]), "height": min(height, LARGEST[1])}
                # Deferred: the first size, which Textual posts with a delay, would replace it.
                app.call_later(super().on_meta, packet_type, size)
            case "resize", _:
                logger().warning("a window of this size is not possible: %s", payload)
            case "kbx_query", {"query": str(query)}:
                app.call_later(app.show_query, query)
            case "kbx_scheme", {"scheme": str(scheme)}:
                app.call_later(app.use_scheme, scheme)
            case "kbx_redraw", _:
                app.call_later(self.write, SET_UP)
                app.call_later(app.redraw)
            case _:
                super().on_meta(packet_type, payload)

    @contextmanager
    def _sends(self) -> Iterator[None]:
        with self._sending:
            try:
                yield
            except OSError:
                end_by(signal.SIGHUP)


class VisitorBases(Bases):
    """Opens only the bases given at the start, with engines that are restricted as well."""

    def __init__(
        self,
        roots: Sequence[Path],
        past: Callable[[], Sequence[PastQuery]],
        *,
        allow_writes: bool,
    ) -> None:
        super().__init__()
        self.roots, self.writes, self._past = tuple(roots), allow_writes, past

    def open(self, root: Path, notice: Notice = lambda text: None) -> VisitorEngine:
        from kbx_tui.tui.visitor.visitor_engine import VisitorEngine

        if root not in self.roots:
            _refuse(root.name)
        return VisitorEngine(root, self._past, notice=notice, read_only=not self.writes)

    def existing(self, folder: str) -> Path:
        return next((root for root in self.roots if str(root) == folder), None) or _refuse(folder)

    def without_folders(self, text: str) -> str:
        """Return a text without the folders that contain the bases, for the visitor."""
        for root in sorted(self.roots, key=lambda root: -len(str(root))):
            text = text.replace(f"{root}/", "").replace(str(root), root.name)
        return text

    def questions(self, root: Path) -> tuple[TrustRequest, ...]:
        return ()

    def answer(self, root: Path, requests: Sequence[TrustRequest], *, allowed: bool) -> None:
        _refuse(root.name)

    def demo(self) -> Path:
        _refuse("the demo")

    def new(self, folder: str) -> Path:
        _refuse(folder)


def _refuse(name: str) -> NoReturn:
    raise NotFound(f"{safe_line(name)} is not one of the knowledge bases of this visit")

"""The app for one visitor: only the bases that it was given, and state of its own in memory."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from textual import events
from textual.driver import Driver
from textual.timer import Timer

from kbx_tui.errors import NotFound
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.bases import Bases
from kbx_tui.tui.commands.keymap import NO_EDITOR, NO_OTHER_BASE, offer_in_browser
from kbx_tui.tui.explore.document_actions import COMMAND
from kbx_tui.tui.explore.search_run import DEBOUNCE_SECONDS
from kbx_tui.tui.visitor.browser_driver import WEB_ADDRESSES, BrowserDriver

if TYPE_CHECKING:
    from kbx_tui.api.session import Notice
    from kbx_tui.base_trust import TrustRequest
    from kbx_tui.index.index_status import IndexQuestion
    from kbx_tui.search.query_history import PastQuery
    from kbx_tui.tui.visitor.visitor_engine import VisitorEngine


Scheme = Literal["light", "dark"]
Tell = Callable[[dict[str, object]], object]

THEMES: dict[str, str] = {"light": "textual-light", "dark": "textual-dark"}
"""The themes that follow the scheme of the visitor's system, by scheme."""
DRAW_ALL_SECONDS = 0.3
"""Time from a new size until all of it is drawn again, whatever has changed."""
PAGE_SECONDS = 0.3
"""How often title and address of the page are compared with base and query."""


class VisitorApp(KbxApp):
    """The app in a browser. What a person at this machine could do besides is refused here."""

    bases: VisitorBases

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        allow_writes: bool = False,
        scheme: Scheme = "dark",
        debounce: float = DEBOUNCE_SECONDS,
    ) -> None:
        """Open the base at the only one of `roots`, or search several together."""
        roots = [root.resolve() for root in roots]
        is_several = len(roots) > 1
        state = AppState(is_kept=False, theme=THEMES[scheme])
        self._tell: Tell = lambda message: None
        self._told: dict[str, object] = {}
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
            self._draw_all_soon()

    def _draw_all_soon(self) -> None:
        """Draw every cell when a new size is laid out.

        What is drawn for a larger size may reach a smaller terminal, and scroll what is in it.
        """
        if self._drawing_all is not None:
            self._drawing_all.stop()
        self._drawing_all = self.set_timer(DRAW_ALL_SECONDS, self.redraw_screen)

    # The page around the app.

    def connect(self, tell: Tell) -> None:
        """Take what sends a message to the page in the browser."""
        self._tell = tell

    def report_page(self, *, again: bool = False) -> None:
        """Report base and query to the page when they have changed, or `again`."""
        base, query = self._base_and_query
        if not base:  # not open yet
            return
        title = f"{base} - {query}" if query else base
        page: dict[str, object] = {
            "type": "kbx_page",
            "title": title,
            "base": base,
            "query": query,
        }
        if again or page != self._told:
            self._told = page
            self._tell(page)

    @property
    def _base_and_query(self) -> tuple[str, str]:
        """The name of the open base, or how many are searched, and the current query."""
        if self.together is not None and self.explore is None:
            return self.together.base_words[0], safe_line(self.together.model.query)
        if self.explore is None or self.explore.model.summary is None:
            return "", ""
        return self.explore.model.summary.name, safe_line(self.explore.model.state.query)

    def use_scheme(self, scheme: str) -> None:
        """Follow the scheme of the visitor's system, unless the visitor has chosen a theme."""
        if scheme in THEMES and self.theme in THEMES.values():
            self.theme = THEMES[scheme]

    def show_query(self, query: str) -> None:
        """Search for a query from the address of the page, as soon as a screen is drawn."""
        self.call_after_refresh(self._search, safe_line(query))

    async def _search(self, query: str) -> None:
        if self.together is not None and self.explore is None:
            self.together.show_query(query)
        else:
            await self.ask(query)

    def redraw(self) -> None:
        """Draw all of the screen, and report the page again: it is a new one."""
        self.redraw_screen()
        self.report_page(again=True)

    # What a person at this machine could do.

    def choose_base(self) -> None:
        self.show_notice(NO_OTHER_BASE)

    def ask_for_trust(self) -> None:
        """Ask nothing: only the owner of the machine can trust a base."""

    def ask_to_index(self, question: IndexQuestion, answer: Callable[[bool], object]) -> None:
        """Answer for the visitor: so much is indexed only where its owner says so."""
        answer(False)

    @property
    def may_ask_for_entities(self) -> bool:
        return False

    def show_notice(self, text: str) -> None:
        super().show_notice(self.bases.without_folders(text))

    def show_error(self, text: str) -> None:
        super().show_error(self.bases.without_folders(text))

    async def copy(self, name: str, text: str) -> str:
        if name == COMMAND:  # it names the folder of the base
            text = self.bases.without_folders(text)
        self.copy_to_clipboard(text)
        return f"copied {name} to the clipboard of the browser: {text}"

    async def save_page(self, query: str, page: str) -> str:
        from kbx_tui.sharing.page_file import words_for_name

        name = f"kbx-results-{words_for_name(query)}.html"
        self.deliver_text(io.StringIO(page), save_filename=name, mime_type="text/html")
        return f"{name}, among the downloads of the browser"

    async def edit(self, root: str, path: str, line: int) -> None:
        self.show_notice(NO_EDITOR)

    def open_beside(self, address: str) -> None:
        self.show_notice(NO_EDITOR)

    def leave_base(self, target: str) -> None:
        if target.lower().startswith(WEB_ADDRESSES):
            self.open_url(target)
            self.show_notice(f"{target} opens in another tab")
        else:
            super().leave_base(target)


class VisitorBases(Bases):
    """Opens the bases that were given at the start, with engines that are locked as well."""

    def __init__(
        self,
        roots: Sequence[Path],
        past: Callable[[], Sequence[PastQuery]],
        *,
        allow_writes: bool,
    ) -> None:
        """`roots` are those of the bases; `past` returns the queries of the visitor."""
        super().__init__()
        self.roots, self.writes, self._past = tuple(roots), allow_writes, past

    def open(self, root: Path, notice: Notice = lambda text: None) -> VisitorEngine:
        """Open one of the bases. Raises NotFound for any other."""
        from kbx_tui.tui.visitor.visitor_engine import VisitorEngine

        if root not in self.roots:
            _refuse(root.name)
        return VisitorEngine(root, self._past, notice=notice, read_only=not self.writes)

    def existing(self, folder: str) -> Path:
        """Return the root of the base with this root. Raises NotFound for any other."""
        return next((root for root in self.roots if str(root) == folder), None) or _refuse(folder)

    def without_folders(self, text: str) -> str:
        """Return a text for the visitor without the folders of the machine that hold the bases."""
        for root in sorted(self.roots, key=lambda root: -len(str(root))):
            text = text.replace(f"{root}/", "").replace(str(root), root.name)
        return text

    def questions(self, root: Path) -> tuple[TrustRequest, ...]:
        """Ask nothing: only the owner of the machine can trust a base."""
        return ()

    def answer(self, root: Path, requests: Sequence[TrustRequest], *, allowed: bool) -> None:
        """Raise NotFound: a visitor is not asked."""
        _refuse(root.name)

    def demo(self) -> Path:
        """Raise NotFound: nothing is installed for a visitor."""
        _refuse("the demo")

    def new(self, folder: str) -> Path:
        """Raise NotFound: no base is created for a visitor."""
        _refuse(folder)


def _refuse(name: str) -> NoReturn:
    raise NotFound(f"{safe_line(name)} is not one of the knowledge bases of this visit")

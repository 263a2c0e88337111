"""The app for one visitor: only the bases that it was given, and state of its own in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from textual.driver import Driver
from textual.drivers.web_driver import WebDriver

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.visitor.browser_driver import BrowserDriver

Scheme = Literal["light", "dark"]
THEMES: dict[Scheme, str] = {"light": "textual-light", "dark": "textual-dark"}
ADDRESS_SECONDS = 0.3
"""How often the title and the address of the page are compared with the query."""


class VisitorApp(KbxApp):
    """The app in a browser."""

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        allow_writes: bool = False,
        query: str = "",
        scheme: Scheme | None = None,
    ) -> None:
        """Open the first of `roots`, with `query` if there is one."""
        self._tell: Callable[[dict[str, object]], object] = lambda message: None
        super().__init__(roots[0].resolve())
        self._query, self._scheme = safe_line(query), scheme
        self._told: dict[str, object] = {}

    def get_driver_class(self) -> type[Driver]:
        kind = super().get_driver_class()
        return BrowserDriver if kind is WebDriver else kind

    def on_mount(self) -> None:
        if self._scheme is not None:
            self.theme = THEMES[self._scheme]
        if self._query and self.explore is not None:
            self.call_after_refresh(self.explore.show_query, self._query)
        self.set_interval(ADDRESS_SECONDS, self._report_address)

    async def copy(self, name: str, text: str) -> str:
        self.copy_to_clipboard(text)
        return f"copied {name} to the clipboard of the browser: {text}"

    def connect(self, tell: Callable[[dict[str, object]], object]) -> None:
        """Take what sends a message to the page in the browser."""
        self._tell = tell

    def _report_address(self) -> None:
        """Report base and query to the page, when they have changed."""
        if self.explore is None or self.explore.model.summary is None:
            return
        model = self.explore.model
        base, query = self.explore.model.summary.name, safe_line(model.state.query)
        address: dict[str, object] = {
            "type": "kbx",
            "title": f"{base} - {query}" if query else base,
            "query": query,
        }
        if address != self._told:
            self._told = address
            self._tell(address)

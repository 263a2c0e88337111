"""The interface of the app for screens, so that they need not import it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kbx_tui.tui.commands.keymap import Keymap

if TYPE_CHECKING:
    from kbx_tui.search.evidence.tuning import Tuning


class Navigator(Protocol):
    """Moves between screens and knowledge bases."""

    @property
    def keymap(self) -> Keymap:
        """The keys of all commands, as kbx.toml changes them."""
        ...

    async def go_to(self, mode: str) -> None:
        """Show a mode of the open base, such as `explore`, `dedup`, `index` or `compare`."""
        ...

    async def read(self, path: str) -> None:
        """Show explore, and open the document at `path` there."""
        ...

    async def ask(self, query: str) -> None:
        """Show explore with this query."""
        ...

    @property
    def tabs_of_several(self) -> Mapping[str, str]:
        """What the tab of several bases counts, by its mode; empty where only one is open."""
        ...

    async def search_together(self) -> None:
        """Show the search of the bases that were opened together."""
        ...

    async def open_alone(self, root: Path, query: str, path: str) -> None:
        """Open one of several bases with a query, and the document at `path` if not empty."""
        ...

    async def open_base(self, root: Path) -> None:
        """Close the open base, if any, and open another."""
        ...

    def choose_base(self) -> None:
        """Ask which base to open."""
        ...

    def show_help(self) -> None:
        """Show the keys that work where the focus is."""
        ...

    def pick_entity(self, pick: Callable[[str], None]) -> None:
        """Let the user choose an entity by name; `pick` receives its id."""
        ...

    def pick_folders(self) -> None:
        """Let the user choose the folders to search in."""
        ...

    async def copy(self, name: str, text: str) -> str:
        """Copy a text called `name`; return a sentence that says where it is, or why nowhere."""

    async def save_page(self, query: str, page: str) -> str:
        """Save a page of results, and return in words where it is. Raises WriteFault."""
        ...

    def ask_blind(self, before: Tuning, after: Tuning) -> None:
        """Let the user choose between the results of two settings without their names."""
        ...

    async def edit(self, root: str, path: str, line: int) -> None:
        """Open a document in the user's editor and wait until it returns."""
        ...

    def leave_base(self, target: str) -> None:
        """Follow a link that leads to no page of the base, or say that it does not."""
        ...

    def open_beside(self, address: str) -> None:
        """Open an address with the program of the desktop, and say so."""
        ...

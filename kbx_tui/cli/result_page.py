"""`kbx search --html`: the results as a page, in a file or on stdout."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.output import say

if TYPE_CHECKING:
    from kbx_tui.sharing.shared_search import SharedSearch

STDOUT = "-"


@dataclass(frozen=True, slots=True)
class PageTarget:
    """Where the page goes. Raises WriteFault where it could not be written."""

    name: str
    """The path of a file, or `-` for stdout."""
    overwrite: bool

    def __post_init__(self) -> None:
        if self.name != STDOUT:  # before anything is searched
            from kbx_tui.sharing.page_file import require_free

            require_free(Path(self.name), overwrite=self.overwrite)

    def write(self, shared: SharedSearch) -> None:
        """Write the page, and print the notes on stderr. Raises WriteFault."""
        from kbx_tui.formatting import format_count
        from kbx_tui.sharing.page_file import write_page
        from kbx_tui.sharing.search_page import search_page

        for note in shared.answer.notes:
            say(note)
        page = search_page(shared)
        if self.name == STDOUT:
            click.echo(page.encode())
            return
        write_page(Path(self.name), page, overwrite=self.overwrite)
        say(f"{format_count(len(shared.answer.results), 'result')} written to {self.name}")

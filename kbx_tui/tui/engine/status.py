"""Where the parts of the app report what the user should know."""

from __future__ import annotations

from typing import Protocol


class Status(Protocol):
    """The status line of the current mode. Call its methods on the event loop."""

    def show_notice(self, text: str) -> None:
        """Show a notice until it can have been read."""
        ...

    def show_error(self, text: str) -> None:
        """Show an error until something works again."""
        ...

    def show_progress(self, text: str) -> None:
        """Show the progress of indexing; empty text removes it."""
        ...


class KeyedStatus(Status, Protocol):
    """A status line that knows the keys of commands, which kbx.toml may change."""

    def key_of(self, command_id: str) -> str:
        """Return the first key of a command, for a sentence."""
        ...

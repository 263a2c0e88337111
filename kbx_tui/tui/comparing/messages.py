"""Messages from the model of the compare screen to it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.comparing.view import CompareView


@dataclass
class Compared(Message):
    """The query has been ranked under both settings."""

    view: CompareView | None
    """None without a query."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Compared)

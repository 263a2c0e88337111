"""Messages from the expert search to its screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.experts.view import ExpertsView


@dataclass
class ExpertsReady(Message):
    """The experts on the current topic have been ranked."""

    view: ExpertsView

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ExpertsReady)


@dataclass
class TopicsFound(Message):
    """Topics with experts."""

    topics: tuple[str, ...]

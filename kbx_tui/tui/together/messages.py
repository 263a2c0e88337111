"""Messages from the search of several bases to its screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.together.view import TogetherView


class BasesChanged(Message):
    """What a base holds, or what is done to it, has changed."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, BasesChanged)


@dataclass
class AnswersMerged(Message):
    """Some or all bases have answered the query."""

    view: TogetherView

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, AnswersMerged)


@dataclass
class QueryRefused(Message):
    """No base can answer the query as it is typed."""

    reason: str

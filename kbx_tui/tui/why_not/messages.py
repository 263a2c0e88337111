"""Messages from the model of the why-not box to its screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from kbx_tui.tui.why_not.view import AnswerView, DocumentRow


@dataclass
class DocumentsFound(Message):
    """The documents that match a text."""

    text: str
    documents: tuple[DocumentRow, ...]


@dataclass
class AnswerReady(Message):
    """Why a document is where it is, and what would change that."""

    answer: AnswerView


@dataclass
class NoAnswer(Message):
    """There is no answer on a document."""

    reason: str
    """A sentence without control characters."""

"""Messages about judging to all screens of the open base."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message


class GradesChanged(Message):
    """Grades were stored, taken back or read; `JudgingModel.grades` has them."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, GradesChanged)


@dataclass
class GradeTakenBack(Message):
    """The user took back the grade of a document."""

    query: str
    path: str


class MeasureChanged(Message):
    """A or the current settings are others, or there is a new measure: `JudgingModel.measured`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, MeasureChanged)

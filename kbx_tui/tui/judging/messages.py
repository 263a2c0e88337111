"""Messages about judging to all screens of the open base."""

from __future__ import annotations

from textual.message import Message


class GradesChanged(Message):
    """Grades were stored, taken back or read; `JudgingModel.grades` has them."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, GradesChanged)


class MeasureChanged(Message):
    """A or the current settings are others, or there is a new measure: `JudgingModel.measured`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, MeasureChanged)

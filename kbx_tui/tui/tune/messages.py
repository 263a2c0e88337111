"""Messages from the tune mode's model to its screen."""

from __future__ import annotations

from textual.message import Message


class CurveChanged(Message):
    """There is another curve, or its p-value is known: `TuneModel.curve`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, CurveChanged)


class PastQueriesChanged(Message):
    """More past queries were read, or other thresholds are compared: `TuneModel.past`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, PastQueriesChanged)


class SnapshotsChanged(Message):
    """Snapshots were read, taken, dropped or compared: `TuneModel.snapshots`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, SnapshotsChanged)


class AdviceChanged(Message):
    """Optimising has got further or ended: `TuneModel.optimiser`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, AdviceChanged)

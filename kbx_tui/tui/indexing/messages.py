"""Messages from the Index mode's model to its screen, and to the picker of folders."""

from __future__ import annotations

from textual.message import Message


class RunChanged(Message):
    """A stage went on, or the run has another state: `IndexModel.run`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RunChanged)


class FilesRead(Message):
    """The files that need attention were read: `IndexModel.overview`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, FilesRead)


class FoldersChanged(Message):
    """There are other folders, hits, or folders in scope: `IndexModel.folders`."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, FoldersChanged)

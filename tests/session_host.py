"""Stands in for the app around a session that a test runs without one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.tui.commands.keymap import Keymap

if TYPE_CHECKING:
    from kbx_tui.config import Settings
    from kbx_tui.index.index_status import IndexQuestion
    from kbx_tui.knowledge.topics import EntityProposal


class RecordingHost:
    """Keeps the errors it is asked to show."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    def show_error(self, text: str) -> None:
        self.errors.append(text)

    def show_notice(self, text: str, *, yields: bool = False) -> None:
        pass

    def show_progress(self, text: str) -> None:
        pass

    def key_of(self, command_id: str) -> str:
        return Keymap().key_of(command_id)

    def broadcast(self, message: Message) -> None:
        pass

    def configure(self, settings: "Settings") -> None:
        pass

    def ask_for_trust(self, go_on: Callable[[], object]) -> None:
        pass

    def ask_to_index(self, question: "IndexQuestion", answer: Callable[[bool], object]) -> None:
        raise AssertionError(question)

    @property
    def may_ask_for_entities(self) -> bool:
        return False

    def ask_for_entities(
        self, proposal: "EntityProposal", answer: Callable[[bool], object]
    ) -> None:
        raise AssertionError(proposal)

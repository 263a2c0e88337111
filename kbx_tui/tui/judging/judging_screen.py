"""What the screens share on which documents are judged and settings compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.tui.judging.grade_store import GradeStep
from kbx_tui.tui.shell.mode_screen import ModeScreen

if TYPE_CHECKING:
    from kbx_tui.search.evidence.tuning import Tuning


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """The document that a grade key is about, and the query it is an answer to."""

    query: str
    path: str
    title: str
    tuning: Tuning
    """What ranked it."""


class JudgingScreen(ModeScreen):
    """A mode whose keys grade a document and pin settings."""

    def document_to_judge(self) -> JudgedDocument | str:
        """Return the current document, or a sentence that says why there is none."""
        raise NotImplementedError

    def action_grade(self, grade: int | None) -> None:
        """Grade the current document; None is not sure."""
        document = self.document_to_judge()
        if isinstance(document, str):
            self.show_notice(document)
            return
        step = GradeStep(document.query, document.path, document.title, grade, document.tuning)
        self.session.judging.judge(step)

    def action_pin_settings(self) -> None:
        """Make the current settings A."""
        settings = self.session.explore.settings
        if settings is not None:
            self.session.judging.pin(settings)
            self.show_notice(f"A is now {settings.words()}; other settings are compared with it")

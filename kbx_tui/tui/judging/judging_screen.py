"""The base of the screens on which documents are judged and settings compared."""

from __future__ import annotations

from typing import Protocol

from kbx_tui.safe_text import safe_lines
from kbx_tui.tui.drawing.lines import shorten
from kbx_tui.tui.judging.model import GradeTakenBack, JudgedDocument
from kbx_tui.tui.shell.frame_screen import ModeScreen
from kbx_tui.tui.shell.overlay import Confirm
from kbx_tui.tui.widgets.footer import StatusLine


class Judge(Protocol):
    """Documents on a screen, to be judged one after the other."""

    def show_grades(self) -> None:
        """Show the newest grades."""

    def document_to_grade(self) -> JudgedDocument | str:
        """Return the document that a grade applies to, or a sentence why there is none."""

    def move_on(self, graded: JudgedDocument) -> str:
        """Go from a graded document to another; return a sentence if there is none, else ''."""

    def go_to_next(self) -> str:
        """Go to the next document to judge; return a sentence if there is none, else ''."""

    def return_to(self, query: str, path: str) -> None:
        """Go back to a document whose grade was undone, if it is still on the screen."""


class JudgingScreen(ModeScreen):
    judge: Judge
    """The screen itself, or a part of it."""

    def on_grades_changed(self) -> None:
        self.query_one(StatusLine).clear_error()
        self.judge.show_grades()

    def on_grade_taken_back(self, message: GradeTakenBack) -> None:
        self.judge.return_to(message.query, message.path)

    def action_grade(self, grade: int | None) -> None:
        document = self.judge.document_to_grade()
        if isinstance(document, str):
            self.show_notice(document)
            return
        document.grade = grade
        self.app_state.note_judged()
        self.session.judging.judge(document)
        self.app_state.remember_query(self.session.explore.asked())
        words = f"{'not sure' if grade is None else grade}: {document.title}"
        reason = self.judge.move_on(document)
        follows = self.judge.document_to_grade()
        is_other = isinstance(follows, JudgedDocument) and follows.path != document.path
        end = reason or "on to the next"
        if isinstance(follows, JudgedDocument) and is_other and not reason:
            end = f"next: {shorten(follows.title, 40)}"
        room = max(self.size.width - len(end) - 8, 32)
        self.show_notice(f"{shorten(f'graded {words}', room)} · {end}")

    def move_on(self, graded: JudgedDocument) -> str:
        return self.judge.go_to_next()

    def return_to(self, query: str, path: str) -> None:
        """Stay at the document at hand, unless a screen overrides it."""

    def action_next_to_judge(self) -> None:
        if reason := self.judge.go_to_next():
            self.show_notice(reason)

    def action_pin_settings(self) -> None:
        settings = self.session.explore.settings
        if settings is not None:
            self.session.judging.pin(settings)
            self.show_notice(f"A is now {settings.words()}; other settings are compared with it")

    def action_ask_blind(self) -> None:
        pinned, current = self.session.judging.pinned, self.session.explore.settings
        if pinned is None or current is None or not self.session.explore.is_searchable:
            self.show_notice("nothing is indexed yet; try again in a moment")
        elif pinned.is_fast or current.is_fast:
            self.show_notice("a fast search has no settings to compare: choose another mode first")
        elif pinned == current:
            key = self.app.keymap.key_of("settings.pin")
            self.show_notice(f"the current settings are A: change one, or pin others with {key}")
        else:
            from kbx_tui.tui.judging.blind import BlindModel, BlindScreen  # seldom needed

            settings = (pinned.tuning, current.tuning)
            session, query = self.session, self.session.explore.state.query
            model = BlindModel(session.client, session.judging, query, settings)
            self.app.push_screen(BlindScreen(model))

    def action_save_settings(self) -> None:
        settings = self.session.explore.settings
        if settings is None:
            return
        if settings.is_fast:
            self.show_notice("a fast search is no setting of kbx.toml: choose another mode first")
            return
        tuning, judging, start = settings.tuning, self.session.judging, self.session.client.start

        def ask(diff: str) -> None:
            def answered(agreed: bool | None) -> None:
                if agreed:
                    start(judging.save(tuning, diff))

            if self.is_current:  # another screen may have been opened since
                known = judging.measured
                warning = () if known is None or known.current != settings else known.warning
                box = Confirm("Save to kbx.toml?", safe_lines(diff), warning)
                self.app.push_screen(box, answered)

        start(judging.propose_saving(tuning, ask))

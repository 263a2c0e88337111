"""The line that says what the current settings are worth, beside A."""

from __future__ import annotations

from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.commands.registry import command_by_id
from kbx_tui.tui.drawing.lines import Line, Span
from kbx_tui.tui.judging.live_measure import measure_candidates
from kbx_tui.tui.judging.model import JudgingModel
from kbx_tui.tui.widgets.line_widget import LineWidget


class MeasureLine(LineWidget):
    """One line; says what to do while there is nothing to measure."""

    def __init__(self) -> None:
        super().__init__()
        self.candidates: tuple[str, ...] = ()
        """Wordings, the longest first."""

    def show(self, judging: JudgingModel, keymap: Keymap) -> None:
        """Show the newest measure."""
        self.candidates = _candidates(judging, keymap)
        self.refresh()

    def line(self, width: int) -> Line:
        fitting = (text for text in self.candidates if len(text) <= width - 2)
        text = next(fitting, self.candidates[-1] if self.candidates else "")
        return (Span(f" {text}", "dim"),)


def _candidates(judging: JudgingModel, keymap: Keymap) -> tuple[str, ...]:
    lowest, highest = (keymap.display_keys(command_by_id(f"grade.{grade}")) for grade in (0, 3))
    keys = f"{lowest}-{highest}"
    if not judging.grades.queries and not keymap.offers("grade.0"):
        return ()
    if not judging.grades.queries:
        return (
            f"{keys} grade a result, {keymap.key_of('judge.next')} goes to the next;"
            " then search quality shows here",
            f"{keys} grade a result, {keymap.key_of('judge.next')} goes to the next",
            f"{keys} grade a result",
        )
    if any(settings and settings.is_fast for settings in (judging.pinned, judging.current)):
        return ("a fast search is not measured",)
    if judging.measured is not None:
        return measure_candidates(judging.measured)
    if not any(query.is_measurable for query in judging.grades.queries):
        return (f"no result is graded 1-{highest}, so there is nothing to measure",)
    return ("reading the judged queries …",)

"""Judging and comparing in the open base: grades, settings A, and what the current ones are worth.

Explore, tune and compare share it; `GradesChanged` and `MeasureChanged` tell their screens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from textual.message import Message

from kbx_tui.formatting import format_count, format_p
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.engine.client import EngineClient, LatestOnly, Status
from kbx_tui.tui.judging.grades import GradeStep, GradeStore, WriteQueue
from kbx_tui.tui.judging.live_measure import EvidenceKeeper, LiveMeasure
from kbx_tui.tui.judging.search_settings import SearchSettings

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.evaluation.blind_preferences import Better, Preference, ShownList, Votes
    from kbx_tui.search.evidence.tuning import Preset


class JudgingHost(Status, Protocol):
    """The interface that judging needs from the app."""

    def broadcast(self, message: Message) -> None:
        """Post a message to all screens of the open base."""
        ...


class UndoHistory(Protocol):
    """Where the changes that `z` takes back are remembered, in order."""

    def remember(self, undo: Callable[[], object]) -> None:
        """Add a change, by the call that takes it back."""
        ...

    def forget(self, undo: Callable[[], object]) -> None:
        """Remove a change that did not happen after all."""
        ...


class JudgingModel:
    """Grades, A, and the measure of the current settings. Its methods run on the event loop."""

    def __init__(self, client: EngineClient, host: JudgingHost, history: UndoHistory) -> None:
        self._client, self._host, self._history = client, host, history
        self.writes = WriteQueue(client)
        self.grades = GradeStore(client, self.writes)
        self.evidence = EvidenceKeeper(client, host.show_progress)
        """Of the judged queries, for the presets of A and of the current settings."""
        self.pinned: SearchSettings | None = None
        """A, with which the current settings are compared; None before kbx.toml is read."""
        self.current: SearchSettings | None = None
        self.measured: LiveMeasure | None = None
        """The newest measure; None without a judged query, and for a fast search."""
        self._reading = LatestOnly(client)
        self._storing: list[GradeStep] = []
        """Grades on their way to the disk."""
        self._is_measuring = False
        self._index_changed = False

    def start(self) -> None:
        """Read judgments and the Evidence of their queries; call when the base can be searched."""
        self._client.start(self._load())

    def note_index_change(self) -> None:
        """Read the Evidence again if the index has another generation."""
        self._index_changed = True
        self.start()

    def stop(self) -> None:
        """Release the measuring thread."""
        self.evidence.close()

    # Grades.

    def judge(self, step: GradeStep) -> None:
        """Store a grade; `GradesChanged` follows once it is on disk."""

        def undo() -> None:
            self._client.start(self._undo(step))

        self._history.remember(undo)
        self._storing.append(step)
        self._client.start(self._judge(step, undo))

    def judged_paths(self, query: str) -> set[str]:
        """Return the documents that have a grade for a query, or are about to have one."""
        storing = {step.path for step in self._storing if step.query == query}
        return storing | set(self.grades.of(query))

    async def _judge(self, step: GradeStep, undo: Callable[[], object]) -> None:
        try:
            await self.grades.add(step)
        except Exception:
            self._history.forget(undo)
            raise
        finally:
            self._storing.remove(step)
        self._tell_grades()

    async def _undo(self, step: GradeStep) -> None:
        if step.stored is None:
            return
        await self.grades.undo(step)
        restored = self.grades.of(step.query)
        grade = restored.get(step.path)
        words = "not sure" if grade is None else f"{grade}"
        now = f"is {words} again" if step.path in restored else "has no grade again"
        self._host.show_notice(f"{step.title} {now}")
        self._tell_grades()
        self._host.broadcast(GradeTakenBack(step.query, step.path))

    async def _load(self) -> None:
        if await self.grades.load():
            self._host.broadcast(GradesChanged())
        self._read()

    def _tell_grades(self) -> None:
        self._host.broadcast(GradesChanged())
        self._read()

    # Preferences.

    def say(self, text: str) -> None:
        """Show a notice on the screen of the mode."""
        self._host.show_notice(text)

    def prefer(self, step: PreferenceStep) -> Callable[[], object]:
        """Store a preference; returns the call that takes it back, which `z` makes, too."""

        def undo() -> None:
            self._history.forget(undo)
            self._client.start(self._undo_preference(step))

        self._history.remember(undo)
        self._client.start(self._prefer(step, undo))
        return undo

    async def _prefer(self, step: PreferenceStep, undo: Callable[[], object]) -> None:
        def write(engine: KnowledgeBase) -> None:
            step.stored = engine.preferences.add(step.query, step.first, step.second, step.better)

        try:
            await self.writes.run(write)
        except Exception:
            self._history.forget(undo)
            raise
        self._host.broadcast(MeasureChanged())

    async def _undo_preference(self, step: PreferenceStep) -> None:
        def write(engine: KnowledgeBase) -> None:
            if step.stored is not None:
                engine.preferences.undo(step.stored)

        await self.writes.run(write)
        self._host.show_notice(f"the preference for “{safe_line(step.query)}” is taken back")
        self._host.broadcast(MeasureChanged())

    # Settings and their measure.

    def pin(self, settings: SearchSettings) -> None:
        """Make these settings A."""
        self.pinned = settings
        self._host.broadcast(MeasureChanged())
        self._measure_soon()

    def use(self, settings: SearchSettings) -> None:
        """Measure these settings, which are now current, against A."""
        if settings != self.current:
            self.current = settings
            self._measure_soon()

    def _measure_soon(self) -> None:
        if self.grades.queries and not self._reading.is_running:
            if all(self.evidence.get(preset) for preset in self._presets()):
                self._start_measuring()
            else:
                self._read()

    def _presets(self) -> list[Preset]:
        both = (settings for settings in (self.pinned, self.current) if settings is not None)
        return list(dict.fromkeys(settings.tuning.preset for settings in both))

    def _read(self) -> None:
        if self.pinned is not None and self.current is not None:
            self._reading.start(self._read_evidence())

    async def _read_evidence(self) -> None:
        for settings in (self.pinned, self.current):
            if settings is not None:
                check = self._index_changed
                await self.evidence.read(settings.tuning, self.grades.queries, check=check)
        self._index_changed = False
        self._start_measuring()

    def _start_measuring(self) -> None:
        if not self._is_measuring:
            self._is_measuring = True
            self._client.start(self._measure())

    async def _measure(self) -> None:
        """Measure until the newest settings are measured; those in between are passed over."""
        measured_for: object = None
        try:
            while measured_for != (wanted := (self.pinned, self.current, self.grades.queries)):
                if self.pinned is not None and self.current is not None:
                    self.measured = await self.evidence.measure(self.pinned, self.current)
                    self._host.broadcast(MeasureChanged())
                measured_for = wanted
        finally:
            self._is_measuring = False


SIGNIFICANCE = 0.05
"""As in `evaluation.significance`, which needs numpy."""


@dataclass(eq=False, slots=True)
class PreferenceStep:
    """An answer of the user to which of two lists is better."""

    query: str
    first: ShownList
    second: ShownList
    better: Better
    stored: Preference | None = None
    """None until it is on disk."""


def vote_words(votes: Votes) -> tuple[str, ...]:
    """Return how often each setting was preferred, the longest wording first; () for never.

    `preferred: A 1, current 8, neither 2 (sign test p .039)`.
    """
    if not (votes.wins_a or votes.wins_b or votes.neither):
        return ()
    counts = f"preferred: A {votes.wins_a}, current {votes.wins_b}, neither {votes.neither}"
    p = format_p(votes.p)
    short = f"preferred {votes.wins_a}:{votes.wins_b}"
    return f"{counts} (sign test p {p})", f"{short} (p {p})", short


def vote_sentences(votes: Votes) -> tuple[str, ...]:
    """Return what the preferences for two settings show, in sentences."""
    if not (words := vote_words(votes)):
        return ("There is no preference between these two settings yet.",)
    decided = votes.wins_a + votes.wins_b
    first = f"{words[0][0].upper()}{words[0][1:]}."
    if not decided:
        return first, "That speaks for neither of them."
    better = "A" if votes.wins_a > votes.wins_b else "the current settings"
    if votes.p <= SIGNIFICANCE:
        return first, f"If both were equally good, such a difference would be rare: {better} win."
    return first, (
        f"With {format_count(decided, 'query')} decided, that may be chance: keep what you have, or"
        " ask more queries."
    )


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

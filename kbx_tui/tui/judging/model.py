"""Judging and comparing in the open base: grades, settings A, and what the current ones are worth.

Explore, tune and compare share it; `GradesChanged` and `MeasureChanged` tell their screens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.errors import WriteFault
from kbx_tui.formatting import format_count, format_p
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.engine.client import EngineClient, Host, LatestOnly
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.judging.live_measure import EvidenceKeeper, LiveMeasure, SearchSettings
from kbx_tui.tui.shell.messages import Newest

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.editing.journal import JournalEntry
    from kbx_tui.evaluation.blind_preferences import Better, Preference, ShownList, Votes
    from kbx_tui.evaluation.judgments import JudgedQuery, Judgment
    from kbx_tui.search.request import Preset, Tuning

SIGNIFICANCE = 0.05
"""As in `evaluation.significance`, which needs numpy."""

Undo = Callable[[], object]


class GradesChanged(Newest):
    """Grades were stored, taken back or read: `JudgingModel.grades_of`."""


@dataclass
class GradeTakenBack(Message):
    query: str
    path: str


class MeasureChanged(Newest):
    """A or the current settings are others, or there is a new measure: `JudgingModel.measured`."""


@dataclass(eq=False, slots=True)
class JudgedDocument:
    query: str
    path: str
    title: str
    tuning: Tuning
    grade: int | None = None
    """0..3; None for not sure."""
    stored: Judgment | None = None


@dataclass(eq=False, slots=True)
class PreferenceStep:
    query: str
    first: ShownList
    second: ShownList
    better: Better
    stored: Preference | None = None


class JudgingModel:
    """Grades, A, and the measure of the current settings. Its methods run on the event loop.

    What the user judges is on disk before it is shown. `z` takes each step back.
    """

    def __init__(
        self,
        client: EngineClient,
        host: Host,
        explore: ExploreModel,
        *,
        on_write: Callable[[Iterable[str]], object],
    ) -> None:
        self._client, self._host, self._explore = client, host, explore
        self._on_write = on_write
        self.queries: tuple[JudgedQuery, ...] = ()
        self._grades: Mapping[str, Mapping[str, int | None]] = {}
        self.evidence = EvidenceKeeper(client, host.show_progress)
        """Of the judged queries, for the presets of A and of the current settings."""
        self.pinned: SearchSettings | None = None
        """A, with which the current settings are compared; None before kbx.toml is read."""
        self.current: SearchSettings | None = None
        self.measured: LiveMeasure | None = None
        """The newest measure; None without a judged query, and for a fast search."""
        self._reading = LatestOnly(client)
        self._storing: list[JudgedDocument] = []
        self._is_measuring = False
        self._index_changed = False

    def start(self) -> None:
        self._client.start(self._load())

    def note_index_change(self) -> None:
        self._index_changed = True
        self.start()

    def stop(self) -> None:
        self.evidence.close()

    @property
    def is_reading(self) -> bool:
        return self._reading.is_running

    # Grades.

    def grades_of(self, query: str) -> Mapping[str, int | None]:
        from kbx_tui.evaluation.judgments import query_key

        return self._grades.get(query_key(query), {})

    def judged_paths(self, query: str) -> set[str]:
        """Return the documents that have a grade for a query, or are about to have one."""
        storing = {document.path for document in self._storing if document.query == query}
        return storing | set(self.grades_of(query))

    def judge(self, document: JudgedDocument) -> None:
        def undo() -> None:
            self._client.start(self._undo_grade(document))

        self._explore.remember(undo)
        self._storing.append(document)
        self._client.start(self._judge(document, undo))

    async def _judge(self, document: JudgedDocument, undo: Undo) -> None:
        def write(engine: KnowledgeBase) -> None:
            document.stored = engine.judgments.add(
                document.query, document.path, document.grade, tuning=document.tuning
            )

        try:
            await self._write(write, undo)
            await self._read_grades()
        finally:
            self._storing.remove(document)
        self._tell_grades()

    async def _undo_grade(self, document: JudgedDocument) -> None:
        if (stored := document.stored) is None:
            return
        await self._client.write(lambda engine: engine.judgments.undo(stored))
        await self._read_grades()
        restored = self.grades_of(document.query)
        grade = restored.get(document.path)
        words = "not sure" if grade is None else f"{grade}"
        now = f"is {words} again" if document.path in restored else "has no grade again"
        self._host.show_notice(f"{document.title} {now}")
        self._tell_grades()
        self._host.broadcast(GradeTakenBack(document.query, document.path))

    async def _write(self, write: Callable[[KnowledgeBase], object], undo: Undo) -> None:
        try:
            await self._client.write(write)
        except Exception:
            self._explore.forget(undo)
            raise

    async def _load(self) -> None:
        if await self._read_grades():
            self._host.broadcast(GradesChanged())
        self._read()

    async def _read_grades(self) -> bool:
        queries = await self._client.run(lambda engine: engine.judgments.queries())
        if queries == self.queries:
            return False
        self.queries = queries
        self._grades = {
            query.text: {**query.grades, **dict.fromkeys(query.unsure)} for query in queries
        }
        return True

    def _tell_grades(self) -> None:
        self._host.broadcast(GradesChanged())
        self._read()

    # Preferences.

    def say(self, text: str) -> None:
        self._host.show_notice(text)

    def prefer(self, step: PreferenceStep) -> Undo:
        """Store a preference; returns the call that takes it back, which `z` makes, too."""

        def undo() -> None:
            self._explore.forget(undo)
            self._client.start(self._undo_preference(step))

        self._explore.remember(undo)
        self._client.start(self._prefer(step, undo))
        return undo

    async def _prefer(self, step: PreferenceStep, undo: Undo) -> None:
        def write(engine: KnowledgeBase) -> None:
            step.stored = engine.preferences.add(step.query, step.first, step.second, step.better)

        await self._write(write, undo)
        self._host.broadcast(MeasureChanged())

    async def _undo_preference(self, step: PreferenceStep) -> None:
        def write(engine: KnowledgeBase) -> None:
            if step.stored is not None:  # by now, as writes follow each other
                engine.preferences.undo(step.stored)

        await self._client.write(write)
        self._host.show_notice(f"the preference for “{safe_line(step.query)}” is taken back")
        self._host.broadcast(MeasureChanged())

    # Settings and their measure.

    def pin(self, settings: SearchSettings) -> None:
        self.pinned = settings
        self._host.broadcast(MeasureChanged())
        self._measure_soon()

    def use(self, settings: SearchSettings) -> None:
        if settings != self.current:
            self.current = settings
            self._measure_soon()

    def _measure_soon(self) -> None:
        if self.queries and not self.is_reading:
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
                await self.evidence.read(settings.tuning, self.queries, check=check)
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
            while measured_for != (wanted := (self.pinned, self.current, self.queries)):
                if self.pinned is not None and self.current is not None:
                    self.measured = await self.evidence.measure(self.pinned, self.current)
                    self._host.broadcast(MeasureChanged())
                measured_for = wanted
        finally:
            self._is_measuring = False

    # Saving the current settings to kbx.toml.

    def propose_saving(self, tuning: Tuning, show: Callable[[str], object]) -> None:
        self._client.start(self._propose_saving(tuning, show))

    def save(self, tuning: Tuning, diff: str) -> None:
        """Write what the diff says. Refused if kbx.toml has changed since."""
        self._client.start(self._save(tuning, diff))

    async def _propose_saving(self, tuning: Tuning, show: Callable[[str], object]) -> None:
        written = await self._client.run(lambda engine: engine.tuner.save(tuning, dry_run=True))
        if written.diff:
            show(written.diff)
        else:
            self._host.show_notice("nothing to save: kbx.toml says this already")

    async def _save(self, tuning: Tuning, diff: str) -> None:
        def write(engine: KnowledgeBase) -> tuple[Written, Tuning]:
            if engine.tuner.save(tuning, dry_run=True).diff != diff:
                raise WriteFault("kbx.toml has changed meanwhile; nothing was saved, try again")
            return engine.tuner.save(tuning), engine.tuning()

        written, saved = await self._client.run(write)
        if (number := written.entry) is not None:
            self._explore.remember(lambda: self._client.start(self._undo_saving(number)))
        self._note_saved([written.path], saved)
        undo = self._host.key_of("undo")
        self._host.show_notice(f"saved to kbx.toml; {undo} undoes it")

    async def _undo_saving(self, number: int) -> None:
        def undo(engine: KnowledgeBase) -> tuple[JournalEntry, Tuning]:
            return engine.undo(number), engine.tuning()

        undone, saved = await self._client.run(undo)
        self._note_saved((change.path for change in undone.changes), saved)
        self._host.show_notice("kbx.toml is as before again; the sliders stay as they are")

    def _note_saved(self, written: Iterable[str], saved: Tuning) -> None:
        """Take what kbx.toml says now as the defaults, and as A."""
        self._on_write(written)
        self._explore.set_defaults(saved)
        self.pin(SearchSettings(saved))


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

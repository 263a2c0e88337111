"""Judging and comparing in the open base: grades, settings A, and the measure of the current ones.

Explore, tune and compare share it; `GradesChanged` and `MeasureChanged` notify their screens.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.errors import WriteFault
from kbx_tui.evaluation.judgments import JudgedQuery, Judgment, query_key
from kbx_tui.formatting import format_count, format_p
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.engine.client import EngineClient, Host, LatestOnly
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.judging.live_measure import EvidenceKeeper, LiveMeasure, SearchSettings
from kbx_tui.tui.terminal_app import Newest

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.editing.journal import JournalEntry
    from kbx_tui.evaluation.blind_preferences import Better, Preference, ShownList, Votes
    from kbx_tui.search.request import Tuning


SIGNIFICANCE = 0.05
"""Largest p-value that counts as evidence; as in `evaluation.metrics`, which needs numpy."""

Undo = Callable[[], object]


class GradesChanged(Newest):
    """Grades were stored, undone or read; `JudgingModel.grades_of` returns them."""


@dataclass
class GradeTakenBack(Message):
    query: str
    path: str


class MeasureChanged(Newest):
    """A, the current settings or the measure has changed; see `JudgingModel.measured`."""


@dataclass(eq=False, slots=True)
class JudgedDocument:
    query: str
    path: str
    title: str
    tuning: Tuning
    grade: int | None = None
    stored: Judgment | None = None


class JudgingModel:
    """Grades, A, and the measure of the current settings. Its methods run on the event loop.

    Judgments are written to disk before they are shown. `z` undoes each step.
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
        self.pinned: SearchSettings | None = None
        """Settings A; like `current`, None until kbx.toml has been read."""
        self.current: SearchSettings | None = None
        self.measured: LiveMeasure | None = None
        self.reading = LatestOnly(client)
        self._storing: list[JudgedDocument] = []
        self._is_measuring = False
        self._index_changed = False

    def start(self) -> None:
        self._client.start(self._load())

    def note_index_change(self) -> None:
        self._index_changed = True
        self.start()

    # Grades.

    def grades_of(self, query: str) -> Mapping[str, int | None]:
        return self._grades.get(query_key(query), {})

    def judged_paths(self, query: str) -> set[str]:
        """Return the paths of documents with a grade for a query, including those being stored."""
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
        words = "is not sure" if grade is None else f"is {grade}"
        now = words if document.path in restored else "has no grade"
        self._host.show_notice(f"{document.title} {now} again")
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

    def prefer(self, query: str, first: ShownList, second: ShownList, better: Better) -> Undo:
        """Store a preference; return a function that undoes it, as `z` does."""
        stored: list[Preference] = []

        def write(engine: KnowledgeBase) -> None:
            stored.append(engine.preferences.add(query, first, second, better))

        def undo() -> None:
            self._explore.forget(undo)
            self._client.start(self._undo_preference(query, stored))

        self._explore.remember(undo)
        self._client.start(self._prefer(write, undo))
        return undo

    async def _prefer(self, write: Callable[[KnowledgeBase], object], undo: Undo) -> None:
        await self._write(write, undo)
        self._host.broadcast(MeasureChanged())

    async def _undo_preference(self, query: str, stored: Sequence[Preference]) -> None:
        def write(engine: KnowledgeBase) -> None:
            for preference in stored:  # the write that stored it has already run
                engine.preferences.undo(preference)

        await self._client.write(write)
        self._host.show_notice(f"the preference for “{safe_line(query)}” is taken back")
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
        if self.queries:
            both = filter(None, (self.pinned, self.current))
            if all(self.evidence.kept.get(settings.tuning.preset) for settings in both):
                self._start_measuring()
            elif not self.reading.is_running:
                self._read()

    def _read(self) -> None:
        if self.pinned is not None and self.current is not None:
            self.reading.start(self._read_evidence())

    async def _read_evidence(self) -> None:
        for settings in filter(None, (self.pinned, self.current)):
            await self.evidence.read(settings.tuning, self.queries, check=self._index_changed)
        self._index_changed = False
        self._start_measuring()

    def _start_measuring(self) -> None:
        if not self._is_measuring:
            self._is_measuring = True
            self._client.start(self._measure())

    async def _measure(self) -> None:
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

    async def propose_saving(self, tuning: Tuning, show: Callable[[str], object]) -> None:
        written = await self._client.run(lambda engine: engine.tuner.save(tuning, dry_run=True))
        if written.diff:
            show(written.diff)
        else:
            self._host.show_notice("nothing to save: kbx.toml says this already")

    async def save(self, tuning: Tuning, diff: str) -> None:
        """Write the changes of the diff. Refused if kbx.toml has changed since."""

        def write(engine: KnowledgeBase) -> tuple[Written, Tuning, str]:
            if engine.tuner.save(tuning, dry_run=True).diff != diff:
                raise WriteFault("kbx.toml has changed meanwhile; nothing was saved, try again")
            return engine.tuner.save(tuning), engine.tuning(), engine.root.name

        written, saved, folder = await self._client.run(write)
        if (number := written.entry) is not None:
            self._explore.remember(lambda: self._client.start(self._undo_saving(number)))
        self._note_saved([written.path], saved)
        undo = self._host.key_of("undo")
        self._host.show_notice(f"saved to {safe_line(folder)}/{written.path}; {undo} undoes it")

    async def _undo_saving(self, number: int) -> None:
        def undo(engine: KnowledgeBase) -> tuple[JournalEntry, Tuning]:
            return engine.undo(number), engine.tuning()

        undone, saved = await self._client.run(undo)
        self._note_saved((change.path for change in undone.changes), saved)
        self._host.show_notice("kbx.toml is as before again; the sliders stay as they are")

    def _note_saved(self, written: Iterable[str], saved: Tuning) -> None:
        self._on_write(written)
        self._explore.set_defaults(saved)
        self.pin(SearchSettings(saved))


def vote_words(votes: Votes) -> tuple[str, ...]:
    """Return `preferred: A 1, current 8, neither 2 (sign test p .039)` and shorter forms, or ()."""
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


DEPTH = 10


def judging_order(now: Sequence[str], start: Sequence[str], judged: Collection[str]) -> list[str]:
    """Return the documents to judge among the first 10 of two rankings, the next one first.

    `now` and `start` are paths, best first. The weight of a document is the difference between the
    discounts `1 / log2(rank + 1)` of its two ranks (0 beyond the first 10), which is how much its
    grade can change the difference of nDCG. Ties are in the order of `now`, then of `start`.
    """
    discounts_now, discounts_start = _discounts(now), _discounts(start)
    weights = {
        path: abs(discounts_now.get(path, 0.0) - discounts_start.get(path, 0.0))
        for path in (*discounts_now, *discounts_start)
        if path not in judged
    }
    return sorted(weights, key=lambda path: -weights[path])


def _discounts(paths: Sequence[str]) -> dict[str, float]:
    return {path: 1.0 / log2(rank + 1) for rank, path in enumerate(paths[:DEPTH], 1)}


UNSURE, NO_GRADE = "?", " "


def grade_sign(grades: Mapping[str, int | None], path: str) -> str:
    """Return `0` to `3`, `?` for not sure, or a space for a document without a grade."""
    if path not in grades:
        return NO_GRADE
    grade = grades[path]
    return UNSURE if grade is None else str(grade)

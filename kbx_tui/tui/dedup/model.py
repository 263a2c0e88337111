"""The review of drafts: checking, deciding, writing and undoing.

Checking and writing are engine calls. Deciding is pure: moving the threshold searches nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.message import Message

from kbx_tui.drafting.drafts import Choice, Draft, complete_file, drafts_from_text, new_draft
from kbx_tui.errors import ConfigError, NotFound, WriteFault
from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.dedup import rows
from kbx_tui.tui.engine.client import EngineClient, Host, LatestOnly
from kbx_tui.tui.terminal_app import Progress

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.decided_pairs import LabelledScore
    from kbx_tui.drafting.drafts import Applied, DraftCheck, Plan, Verdict, Written

TYPING_PAUSE = 0.15
MAX_STEPS = 100
READING = "reading drafts …"


class ReviewModel:
    """The drafts of one base. It outlives the screen.

    Drafts are stored after every change. Of those from a scan, whose text is in the base, only the
    decision to keep both facts is.
    """

    def __init__(
        self, client: EngineClient, host: Host, *, on_write: Callable[[Iterable[str]], object]
    ) -> None:
        self._client, self._host, self._on_write = client, host, on_write
        self.on_change: Callable[[], object] = lambda: None
        self.post: Callable[[Message], object] = lambda message: None
        self.drafts: tuple[Draft, ...] = ()
        self._threshold: float | None = None
        """The threshold that the user has set; None: those of kbx.toml, which differ by kind."""
        self._checks: dict[str, DraftCheck] = {}
        """The newest check of each draft, by its id."""
        self._steps: deque[rows.ReviewStep] = deque(maxlen=MAX_STEPS)
        self._labels: Sequence[LabelledScore] = ()
        self._checking, self._planning = LatestOnly(client), LatestOnly(client)
        self._checking_typed, self._loading = LatestOnly(client), LatestOnly(client)
        self.is_loaded = False
        self.is_checking = False
        self._is_writing = self._undo_waits = False
        self._stored: int | None = None
        """Number of stored drafts; None until they have been counted."""
        self._waiting: set[str] = set()
        """Ids of the proposals of agents, when the inbox was last read."""
        self._unsaved: tuple[Draft, ...] | None = None
        self._kept: dict[str, bool] = {}
        self._unsaved_kept: deque[tuple[DraftCheck, bool]] = deque()

    @property
    def count(self) -> int:
        return len(self.drafts) if self.is_loaded else self._stored or 0

    @property
    def is_reading(self) -> bool:
        """Whether there may be stored drafts that have not been read yet."""
        return not self.is_loaded and self._stored != 0

    async def count_stored(self) -> None:
        self._stored = await self._client.run(lambda engine: len(engine.drafts.stored()))

    async def read_inbox(self) -> Sequence[Draft]:
        """Take over what agents propose, and what was decided elsewhere; return what is new."""
        waiting = await self._client.look(lambda engine: engine.drafts.inbox(shown=True))
        ids, present = {draft.id for draft in waiting}, {draft.id for draft in self.drafts}
        added = [draft for draft in waiting if draft.id not in self._waiting | present]
        settled = (self._waiting & present) - ids
        self._waiting = ids
        if not self.is_loaded:
            await self.count_stored()
        elif added or settled:

            def current(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
                return (*(draft for draft in drafts if draft.id not in settled), *added)

            steps = [replace(step, drafts=current(step.drafts)) for step in self._steps]
            self.drafts, self._steps = current(self.drafts), deque(steps, MAX_STEPS)
            self._check()
        return added

    @property
    def draft_rows(self) -> tuple[rows.DraftRow, ...]:
        return tuple(
            rows.draft_row(draft, self._checks.get(draft.id), self._verdict(draft.id))
            for draft in self.drafts
        )

    @property
    def threshold(self) -> tuple[float, str]:
        """The threshold, and a note on it if the user has set it."""
        engine = self._client.engine
        settings = None if engine is None else engine.settings.dedup
        return rows.describe_threshold(settings, self._labels, self._threshold)

    # Drafts come and go.

    def open(self) -> None:
        if self.is_loaded:
            self.on_change()
        elif not self._loading.is_running:
            self._loading.start(self._load())

    async def _load(self) -> None:
        drafts, self._labels = await self._client.run(
            lambda engine: (engine.drafts.stored(), engine.drafts.labelled())
        )
        self.is_loaded = True
        present = {draft.id for draft in self.drafts}
        loaded = [draft for draft in drafts if draft.id not in present and draft.stands_for is None]
        self.drafts = (*loaded, *self.drafts)
        self._check()

    def add(self, text: str) -> None:
        self._add(drafts_from_text(text))

    def add_line(self, text: str) -> None:
        """Add one draft that was typed; what looks like a heading or JSON is its text."""
        is_plain = text.strip().startswith(("#", "{"))
        self._add((new_draft(text.strip()),) if is_plain else drafts_from_text(text))

    def load(self, file: str) -> None:
        self._client.start(self._load_file(file))

    async def _load_file(self, file: str) -> None:
        drafts = await self._client.run(lambda engine: engine.drafts.in_file(file))
        self._add(drafts)
        self.post(rows.DraftsLoaded())
        name = safe_line(Path(file).name)
        self._host.show_notice(f"{format_count(len(drafts), 'draft')} loaded from {name}")

    async def complete_file(self, text: str) -> tuple[str, ...]:
        return await self._client.run(lambda engine: complete_file(text, engine.root))

    def _add(self, drafts: Sequence[Draft]) -> None:
        if drafts:
            self._change((*self.drafts, *drafts))
            self._save_and_check()

    def scan(self, *, kept: bool = False) -> None:
        self.post(Progress("looking for facts the base states more than once …"))
        self._client.start(self._scan(kept))

    async def _scan(self, kept: bool) -> None:
        def scan(engine: KnowledgeBase) -> tuple[list[DraftCheck], bool]:
            report = partial(self._report, "compared", "fact")
            checks = engine.drafts.scan(kept=kept, progress=report)
            return checks, engine.drafts.count_kept() > 0

        try:
            checks, has_kept = await self._client.run(scan)
        finally:
            self.post(Progress(""))
        present = {draft.id for draft in self.drafts}
        added = [check for check in checks if check.draft.id not in present]
        if added:
            self._change((*self.drafts, *(check.draft for check in added)))
            self._add_checks(added)
            self._save_soon()
            self.on_change()
        ids = tuple(check.draft.id for check in added)
        self.post(rows.ScanEnded(len(checks), ids, kept, has_kept))

    def drop(self, draft_id: str) -> None:
        if (dropped := self.draft(draft_id)) is not None:
            key = self._host.key_of("review.undo")
            self._host.show_notice(f"dropped {rows.named([dropped])}; {key} brings it back")
        self._change(draft for draft in self.drafts if draft.id != draft_id)
        self._save_and_check()  # other drafts may have repeated it

    # Changing and deciding: each change is a step that can be undone.

    def draft(self, draft_id: str) -> Draft | None:
        """Return a draft; None if it is gone: it may have been written since it was shown."""
        return next((draft for draft in self.drafts if draft.id == draft_id), None)

    def _change(self, drafts: Iterable[Draft], *, entry: int | None = None) -> None:
        self._steps.append(rows.ReviewStep(self.drafts, self._threshold, entry))
        self.drafts = tuple(drafts)

    def _replace(self, draft_id: str, *, entry: int | None = None, **changes: Any) -> None:
        drafts = (
            replace(draft, **changes) if draft.id == draft_id else draft for draft in self.drafts
        )
        self._change(drafts, entry=entry)

    def rewrite(self, draft_id: str, text: str) -> None:
        self._replace(draft_id, text=text.strip(), choice=None)
        self._save_and_check()

    def assign(self, draft_id: str, entity_id: str) -> None:
        self._replace(draft_id, entity_id=entity_id, is_guessed=False, choice=None)
        self._save_and_check()

    def toggle_kind(self, draft_id: str) -> None:
        if (draft := self.draft(draft_id)) is not None:
            kind = "open_item" if draft.kind == "fact" else "fact"
            self._replace(draft_id, kind=kind, choice=None)
            self._save_and_check()

    def choose(self, draft_id: str, choice: Choice | None, owner_id: str = "") -> None:
        """Decide about a draft, and if `owner_id` is given, whose it is."""
        draft = self.draft(draft_id)
        if owner_id and draft is not None and draft.entity_id != owner_id:
            self._replace(draft_id, choice=choice, entity_id=owner_id, is_guessed=False)
            self._save_and_check()
        else:
            self._replace(draft_id, choice=choice)
            self._save_soon()
            self.on_change()

    def move_threshold(self, threshold: float) -> None:
        if not self._steps or not self._steps[-1].is_threshold:
            self._steps.append(rows.ReviewStep(self.drafts, self._threshold, is_threshold=True))
        self._threshold = threshold
        self.on_change()

    def label(self, draft_id: str, known: rows.KnownRow, *, same: bool) -> None:
        check = self._checks.get(draft_id)
        if check is not None:
            self._client.start(self._label(check.text, known.text, same))

    async def _label(self, left: str, right: str, same: bool) -> None:
        def save(engine: KnowledgeBase) -> Sequence[LabelledScore]:
            engine.drafts.label(left, right, same)
            return engine.drafts.labelled()

        self._labels = await self._client.run(save)
        self._host.show_notice(rows.describe_saved(len(self._labels)))
        self.on_change()

    # Checking.

    def check_again(self) -> None:
        if self.is_loaded and self.drafts and not self._is_writing:
            self._check()

    def _check(self) -> None:
        """Check all drafts, which may repeat each other; those from a scan were checked then."""
        by_id = {draft.id: draft for draft in self.drafts}
        self._checks = {
            draft_id: check
            for draft_id, check in self._checks.items()
            if check.draft.stands_for is not None
            or draft_id not in by_id  # an undo may bring it back
            or is_current(check, by_id[draft_id])
        }
        drafts = [draft for draft in self.drafts if draft.stands_for is None]
        self.is_checking = bool(drafts)
        if drafts:
            self._checking.start(self._run_check(drafts))
        else:
            self._checking.cancel()
        self.on_change()

    async def _run_check(self, drafts: list[Draft]) -> None:
        try:
            checks = await self._client.run(lambda engine: engine.drafts.check(drafts))
        except Exception:
            self.is_checking = False
            self.on_change()
            raise
        self.is_checking = False
        self._add_checks(checks)
        self.on_change()

    def _add_checks(self, checks: Sequence[DraftCheck]) -> None:
        """Add checks, and take over the entities they guessed."""
        self._checks |= {check.draft.id: check for check in checks}
        self.drafts = tuple(
            replace(draft, entity_id=self._checks[draft.id].draft.entity_id)
            if draft.id in self._checks and draft.is_guessed
            else draft
            for draft in self.drafts
        )

    def check_typed(self, text: str, draft: Draft | None = None) -> None:
        """Check a text: a new draft, or the new text of `draft`, merged if that says so."""
        if draft is None:
            draft = new_draft(text.strip())
        elif draft.choice is None:
            draft = replace(draft, text=text.strip())
        else:
            draft = replace(draft, choice=replace(draft.choice, text=text.strip()))
        self._checking_typed.start(self._check_typed(draft))

    async def _check_typed(self, draft: Draft) -> None:
        await asyncio.sleep(TYPING_PAUSE)
        if not draft.text:
            self.post(rows.TypedTextChecked())
            return

        def check(engine: KnowledgeBase) -> rows.TypedTextChecked:
            from kbx_tui.drafting.deciding import decide  # loaded by the check

            checked = self._checks.get(draft.id) if draft.choice is not None else None
            checked = checked or engine.drafts.check([draft])[0]
            verdict = decide(checked, self._threshold)
            choice = draft.choice or verdict.proposal
            plan = engine.drafts.plan([replace(checked.draft, choice=choice)])
            known = rows.known_rows(checked, [], self._threshold)
            return rows.TypedTextChecked(known, rows.plan_lines(plan), rows.verdict_reason(verdict))

        self.post(await self._client.run(check))

    # Saving.

    @property
    def has_unsaved(self) -> bool:
        return self._unsaved is not None or bool(self._unsaved_kept)

    def save(self, engine: KnowledgeBase) -> None:
        """Save unsaved drafts; runs on the engine's thread, also as its last call."""
        drafts = self._unsaved
        if drafts is not None:
            engine.drafts.save(drafts)
            if self._unsaved is drafts:
                self._unsaved = None
        while self._unsaved_kept:
            check, is_kept = self._unsaved_kept[0]
            engine.drafts.keep(check, kept=is_kept)
            self._unsaved_kept.popleft()

    def _save_soon(self) -> None:
        self._unsaved = tuple(draft for draft in self.drafts if draft.stands_for is None)
        for draft in self.drafts:
            is_kept = draft.choice is not None and draft.choice.action == "skip"
            check = self._checks.get(draft.id)
            if draft.stands_for is None or check is None:
                continue
            if is_kept != self._kept.get(draft.id, False):
                self._kept[draft.id] = is_kept
                self._unsaved_kept.append((check, is_kept))
        self._client.start(self._client.run(self.save))

    def _save_and_check(self) -> None:
        self._save_soon()
        self._check()

    # Writing.

    def _verdict(self, draft_id: str) -> Verdict | None:
        from kbx_tui.drafting.deciding import decide  # loaded by the check

        check = self._checks.get(draft_id)
        return None if check is None else decide(check, self._threshold)

    def _settled(self, *, unsure: bool = False) -> list[Draft]:
        """Return drafts to write, as decided or proposed; doubtful proposals only if `unsure`."""
        settled = []
        for draft in self.drafts:
            verdict = self._verdict(draft.id)
            if draft.choice is not None:
                settled.append(draft)
            elif verdict is not None and (verdict.is_sure or unsure):
                settled.append(replace(draft, choice=verdict.proposal))
        return settled

    def plan(self, draft_id: str) -> None:
        settled = self._settled(unsure=True)
        self._planning.start(self._plan([draft for draft in settled if draft.id == draft_id]))

    async def _plan(self, drafts: list[Draft]) -> None:
        plan = await self._client.run(lambda engine: engine.drafts.plan(drafts))
        self.post(rows.DraftPlanned(rows.plan_lines(plan) if drafts else ()))

    def apply(self) -> None:
        settled = self._settled()  # only drafts already checked
        if self.is_reading:
            self._host.show_notice(READING)
        elif self.is_checking and not settled:
            self._host.show_notice("still checking: a moment")
        elif not self._may_write():
            return
        elif settled:
            self._client.start(self._propose(settled))
        else:
            create, merge, supersede, skip = (
                self._host.key_of(f"draft.{name}")
                for name in ("create", "merge", "supersede", "skip")
            )
            keys = f"{create} creates, {merge} merges, {supersede} supersedes, {skip} skips"
            self._host.show_notice(f"nothing is decided: {keys}")

    async def _propose(self, settled: Sequence[Draft]) -> None:
        plan = await self._client.run(lambda engine: engine.drafts.plan(settled))
        sentences = rows.plan_sentences(plan, len(self.drafts) - len(settled))
        write = partial(self._begin_writing, self._apply, settled)
        title, does = rows.write_question(plan)
        lines = rows.plan_lines(plan) if plan.diff or plan.problems else ()
        self.post(rows.WriteProposed(title, lines, sentences, write, does))

    def _may_write(self) -> bool:
        if self._is_writing:
            self._host.show_notice("still writing")
        return not self._is_writing

    async def _apply(self, settled: Sequence[Draft]) -> None:
        """Write drafts as decided in a proposal, as far as their pages still allow it."""
        before = self.drafts

        def write(engine: KnowledgeBase) -> tuple[Plan, Applied]:
            plan = engine.drafts.plan(settled)
            return plan, engine.drafts.apply(plan, partial(self._report, "writing", "file"))

        with self._until_written():
            plan, applied = await self._client.run(write)
            self._on_write(applied.paths)
        self._steps.append(rows.ReviewStep(before, self._threshold, applied.entry))
        done = set(applied.done)
        self.drafts = tuple(draft for draft in self.drafts if draft.id not in done)
        words = rows.describe_applied(applied, (*plan.problems, *applied.failed))
        self._show_written(words, applied.entry)
        self._save_and_check()

    def create_page(self, draft_id: str) -> bool:
        """Create the page of a draft's entity, or of the person it names; False if of none."""
        check, draft = self._checks.get(draft_id), self.draft(draft_id)
        entity = check.entity if check is not None else None
        if entity is not None and entity.path:
            self._host.show_notice("its entity has a page")
            return True
        name, kind = draft.entity_name if draft is not None else "", "person"
        if entity is not None:
            name, kind = entity.name, entity.type
        if name:
            self.start_page(name, kind)
        return bool(name)

    def start_page(self, name: str, kind: str = "person", draft_id: str = "") -> None:
        """Create a page; the draft of this id, if any, is about its entity from then on."""
        self._begin_writing(self._create_page, name, kind, draft_id)

    async def _create_page(self, name: str, kind: str, draft_id: str) -> None:
        with self._until_written():
            written = await self._client.run(lambda engine: engine.pages.create(name, kind))
        self._on_write([written.path])
        named = {"entity_name": name, "entity_id": "", "is_guessed": True, "choice": None}
        self._replace(draft_id, entry=written.entry, **named)
        self._show_written(f"created {safe_line(written.path)}", written.entry)
        self._save_and_check()

    def propose_correction(self, wrong: str, right: str) -> None:
        """Show what correcting a name would write, or merging where both have pages of people."""

        def look(engine: KnowledgeBase) -> rows.NameChange:
            try:
                found = engine.pages.correct_name(wrong, right, dry_run=True)
                names = f"{wrong} to {right}"
                return rows.NameChange(wrong, right, found.diff, found.hints, names)
            except WriteFault:  # a page has the wrong name
                with suppress(NotFound, ConfigError):
                    return _look_at_merge(engine, right, wrong)
                raise

        self._client.start(self._propose_names(look))

    def propose_merge(self, kept: str, other: str) -> None:
        """Show what merging the page of one person into that of another would write."""
        look = partial(_look_at_merge, kept=kept, other=other)
        self._client.start(self._propose_names(look))

    async def _propose_names(self, look: Callable[[KnowledgeBase], rows.NameChange]) -> None:
        change = await self._client.run(look)
        write = partial(self._begin_writing, self._write_names, change, look)
        lines = tuple(map(safe_line, change.diff.splitlines()))
        self.post(rows.WriteProposed(change.question, lines, change.hints, write))

    async def _write_names(
        self, shown: rows.NameChange, look: Callable[[KnowledgeBase], rows.NameChange]
    ) -> None:
        """Write a correction or merge as shown. Refused if a page has changed since."""

        def correct(engine: KnowledgeBase) -> Written:
            if look(engine) != shown:
                raise WriteFault("the pages have changed meanwhile; nothing was written, try again")
            if shown.is_merge:
                return engine.pages.merge(shown.right, shown.wrong)
            return engine.pages.correct_name(shown.wrong, shown.right)

        with self._until_written():
            written = await self._client.run(correct)
            self._on_write(written.paths)
        self._steps.append(rows.ReviewStep(self.drafts, self._threshold, written.entry))
        where = format_count(len(written.paths), "page")
        self._show_written(f"{shown.done} on {where}", written.entry)
        self._save_and_check()

    def _show_written(self, words: str, entry: int | None) -> None:
        undo = f"; {self._host.key_of('review.undo')} undoes it" if entry is not None else ""
        self._host.show_notice(words + undo)

    def _report(self, doing: str, noun: str, done: int, total: int) -> None:
        words = f"{doing} {done:,} of {format_count(total, noun)}"
        self._client.call_on_loop(self.post, Progress(words))

    def _begin_writing(self, write: Callable[..., Coroutine[Any, Any, None]], *what: Any) -> None:
        if self._may_write():
            self._is_writing = True
            self.post(Progress("writing …"))
            self._client.start(write(*what))

    @contextmanager
    def _until_written(self) -> Iterator[None]:
        """End a write, and undo it if the user asked for that meanwhile, unless it failed."""
        try:
            yield
        except BaseException:
            self._undo_waits = False
            raise
        finally:
            self._is_writing = False
            self.post(Progress(""))
        if self._undo_waits:
            self._undo_waits = False
            self._client.call_on_loop(self.undo)  # later, when the write is a step

    # Undoing.

    @property
    def can_undo(self) -> bool:
        return bool(self._steps)

    def undo(self) -> None:
        if self._is_writing:
            self._undo_waits = True
            self._host.show_notice("writing …, then undone")
            return
        if not self._steps:
            self._host.show_notice("nothing to undo")
            return
        step = self._steps.pop()
        if step.entry is not None:
            self._begin_writing(self._undo_write, step, step.entry)
        else:
            words = rows.describe_undone(self.drafts, self._threshold, step)
            self._take_back(step, words)

    async def _undo_write(self, step: rows.ReviewStep, number: int) -> None:
        with self._until_written():
            try:
                entry = await self._client.run(lambda engine: engine.undo(number))
            except Exception:
                self._steps.append(step)  # it may work later
                raise
        paths = [change.path for change in entry.changes]
        self._on_write(paths)
        settled = len(step.drafts) - len(self.drafts)
        self._take_back(step, rows.describe_undone_write(paths, settled))

    def _take_back(self, step: rows.ReviewStep, words: str) -> None:
        self.drafts, self._threshold = step.drafts, step.threshold
        self._host.show_notice(words)
        self._save_and_check()

    # What the screen shows of one draft.

    def asked(self, draft_id: str) -> Choice | None:
        """Return what an agent asks for, if the draft is one of an agent."""
        draft = self.draft(draft_id)
        return draft.asked.choice if draft is not None and draft.asked is not None else None

    def known(self, draft_id: str) -> tuple[rows.KnownRow, ...]:
        check = self._checks.get(draft_id)
        if check is None:
            return ()
        return rows.known_rows(check, [draft.id for draft in self.drafts], self._threshold)

    def owners(self, draft_id: str) -> list[str]:
        """Return the names of the entities whose facts are nearest to a draft, nearest first."""
        check = self._checks.get(draft_id)
        matches = check.matches if check is not None else ()
        nearest = sorted(matches, key=lambda match: -match.known.score)
        return list(dict.fromkeys(match.known.entity_name for match in nearest))

    def merged_text(self, draft_id: str, known: rows.KnownRow) -> str:
        from kbx_tui.drafting.texts import merged_text

        if (check := self._checks.get(draft_id)) is None or not known.written:
            return ""
        return merged_text(check.written or check.draft.text, known.written)


def _look_at_merge(engine: KnowledgeBase, kept: str, other: str) -> rows.NameChange:
    found = engine.pages.merge(kept, other, dry_run=True)
    names = [engine.entities.resolve(each, "person").name for each in (other, kept)]
    return rows.NameChange(other, kept, found.diff, found.hints, " into ".join(names), True)


def is_current(check: DraftCheck, draft: Draft) -> bool:
    checked = check.draft
    same = (checked.text, checked.kind, checked.date) == (draft.text, draft.kind, draft.date)
    return same and (draft.is_guessed or checked.entity_id == draft.entity_id)

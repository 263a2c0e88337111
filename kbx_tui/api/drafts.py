"""Drafts: facts to check, decide, plan and apply together, those of agents too; labels of pairs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from kbx_tui.api.documents import Documents
from kbx_tui.api.file_writer import FileWriter
from kbx_tui.api.session import Session
from kbx_tui.api.similarity import Similarity
from kbx_tui.drafting import drafts as draft_file
from kbx_tui.drafting.checking import (
    check_drafts,
    check_groups,
    duplicate_groups,
    with_written_texts,
)
from kbx_tui.drafting.decided_pairs import (
    MOST_LABELS,
    Label,
    LabelledScore,
    pairs_of,
    read_kept,
    read_labels,
    write_kept,
    write_labels,
)
from kbx_tui.drafting.drafts import Applied, Choice, Draft, DraftCheck, DraftMatch, Plan
from kbx_tui.drafting.inbox import Inbox, Outcome, Proposal, outcome_of
from kbx_tui.drafting.planning import apply_plan, make_plan
from kbx_tui.editing.file_edits import ProgressCallback
from kbx_tui.editing.journal import read_file
from kbx_tui.editing.state_files import edit_lock
from kbx_tui.errors import NotFound, WriteFault
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.facts import ID_LIMIT
from kbx_tui.knowledge.records import Entity, Fact
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search.browse import facts_by_id
from kbx_tui.similarity.duplicate_scan import DuplicateScan, KeptPairs
from kbx_tui.state_file import read_regular_file


class Drafts:
    """The drafts of one base: `kb.drafts`. Decisions are stored, so quitting loses none."""

    def __init__(self, session: Session) -> None:
        self._session, self._files = session, FileWriter(session)
        self._similarity = Similarity(session)
        self._inbox = Inbox(session.root, session.notice_once)

    def stored(self) -> tuple[Draft, ...]:
        """Return the drafts of this base: those stored, and what agents propose and waits."""
        drafts = self._stored()
        self._session.known_drafts = {**self._session.known_drafts, **_by_id(drafts)}
        return drafts

    def _stored(self) -> tuple[Draft, ...]:
        """Return the drafts of the file, then proposals that wait and were not changed."""
        drafts = draft_file.read_drafts(self._session.root, self._session.notice_once)
        return tuple({**_by_id(drafts), **_by_id(self._inbox.waiting()), **_by_id(drafts)}.values())

    def propose(self, draft: Draft, *, again: bool = False) -> Proposal:
        """Put what an agent asks for in the inbox, where it waits for the user; return it.

        If the same waits already, or the user has refused it and it is not to be proposed `again`,
        that is returned. Raises NotConfirmed if too many wait, and WriteFault.
        """
        return self._inbox.add(draft, again=again)

    def proposals(self) -> list[Proposal]:
        """Return what agents have proposed and what became of it, oldest first."""
        return self._inbox.proposals()

    def inbox(self, *, shown: bool = False) -> tuple[Draft, ...]:
        """Return the drafts of agents that wait, some perhaps changed by the user.

        With `shown`, the user has them all before them: one that is missing from the drafts that
        are saved next is refused.
        """
        waiting = tuple(draft for draft in self._stored() if draft.asked)
        if shown:
            self._session.known_drafts = {**self._session.known_drafts, **_by_id(waiting)}
        return waiting

    def inbox_version(self) -> object:
        """Return a value that differs once the inbox has changed; fast."""
        return self._inbox.version()

    def in_file(self, file: Path | str) -> tuple[Draft, ...]:
        """Return a draft for each line of a file.

        A relative path is tried from the current folder, then from the root. Stores nothing. Raises
        NotFound for a device, a pipe, or a file that is too large or cannot be read, and
        ConfigError for JSON that is not a draft.
        """
        path = Path(file).expanduser()
        if not path.exists():
            path = self._session.root / path  # an absolute path is unchanged
        try:
            data = read_regular_file(path, follow_links=True)
        except (OSError, ValueError) as error:  # ValueError: a NUL in its name
            reason = getattr(error, "strerror", None) or error
            raise NotFound(f"{path} cannot be read: {reason}") from error
        return draft_file.drafts_from_text(decode(data)[0])

    def save(self, drafts: Sequence[Draft]) -> None:
        """Store `drafts` immediately, merged with changes that other processes made meanwhile.

        Drafts that they added stay; drafts that they settled stay removed unless changed here. If a
        draft differs, the version changed here wins. Raises WriteFault and leaves the stored drafts
        unchanged.

        A proposal that is no longer among the drafts is refused; one that is there again, as its
        decision was undone, waits again.
        """
        root, known = self._session.root, self._session.known_drafts
        with edit_lock(root):
            merged = _by_id(draft_file.merge_drafts(drafts, known, self._stored()))
            outcomes: dict[str, tuple[Outcome, str]] = {}
            for proposal in self._inbox.proposals():
                draft_id, waits = proposal.draft.id, proposal.outcome == "waiting"
                if waits and draft_id in known and draft_id not in merged:
                    outcomes[draft_id] = ("refused", "")
                elif draft_id in merged and not waits:
                    outcomes[draft_id] = ("waiting", "")
            self._inbox.decide(outcomes)
            unchanged = set(self._inbox.waiting())
            draft_file.write_drafts(root, [d for d in merged.values() if d not in unchanged])
        self._session.known_drafts = _by_id(drafts)

    def check(self, drafts: Sequence[Draft]) -> list[DraftCheck]:
        """Return for each draft its probable entity, and similar texts in the base and the batch.

        Pages edited since the last run are indexed first. Checking many drafts in one call is
        faster; recently checked texts are not embedded again. Raises EmbeddingError, IndexForeign
        and IndexFault.
        """
        session, engine = self._session, self._similarity.engine
        checks = check_drafts(drafts, engine(), session.open_index())
        pages = [check.entity.path for check in checks if check.entity and check.entity.path]
        if self._files.index_edited(pages):
            checks = check_drafts(drafts, engine(), session.open_index())
        checks = with_written_texts(checks, partial(read_file, session.root))
        return [
            replace(check, matches=tuple(map(self._with_redaction, check.matches)))
            for check in checks
        ]

    def _with_redaction(self, match: DraftMatch) -> DraftMatch:
        known = match.known
        is_redacted = Documents.of(self._session).is_redacted(known.source_path, known.text)
        return replace(match, is_redacted=True) if is_redacted else match

    def scan_duplicates(
        self,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
        kept: bool = False,
        progress: ProgressCallback = lambda done, total: None,
    ) -> DuplicateScan:
        """Return clusters of facts, and of open items, that say the same thing.

        Pairs that the user decided to keep are left out; with `kept`, only those are returned.
        `progress` gets the numbers of facts compared and of all, from time to time. The
        other arguments and the errors are those of `KnowledgeBase.memory_similar`.
        """
        session = self._session
        path_filter, engine = session.path_filter(path), self._similarity.engine()
        with session.naming_newer_files():
            scope = engine.scope(entity, path_filter)
        pairs = KeptPairs(read_kept(session.root, session.notice_once), wanted=kept)
        return engine.scan(scope, threshold, pairs, progress)

    def scan(
        self,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
        kept: bool = False,
        progress: ProgressCallback = lambda done, total: None,
    ) -> list[DraftCheck]:
        """Return the groups of `scan_duplicates`, each as a check of its newest fact.

        The draft's `stands_for` is that fact; the matches are the older ones. With `kept`, each
        draft already has the choice to keep them. Raises the errors of `scan_duplicates`.
        """
        scan = self.scan_duplicates(
            entity=entity, path=path, threshold=threshold, kept=kept, progress=progress
        )
        checks = self._check_groups(scan, threshold)
        if not kept:
            return checks
        skip = Choice("skip")
        return [replace(each, draft=replace(each.draft, choice=skip)) for each in checks]

    def keep(self, check: DraftCheck, *, kept: bool = True) -> None:
        """Exclude the facts of a check from later scans; include them if `kept` is False.

        Raises WriteFault.
        """
        root = self._session.root
        with edit_lock(root):
            write_kept(root, pairs_of(check), kept=kept)

    def count_kept(self) -> int:
        """Return the number of pairs of facts that the user decided to keep."""
        return len(read_kept(self._session.root, self._session.notice_once))

    def _check_groups(self, scan: DuplicateScan, threshold: float | None) -> list[DraftCheck]:
        ids = [fact.fact_id for group in duplicate_groups(scan) for fact in group]
        facts = facts_by_id(self._session.open_index(), ids)
        scale = self._similarity.engine().scale(threshold)
        return check_groups(scan, facts, self._entities(), scale, self._similarity.judge)

    def plan(self, drafts: Sequence[Draft]) -> Plan:
        """Return exactly what applying drafts would write, and problems. Raises IndexFault."""
        self._session.ensure_indexed()
        self._session.fresh_index()
        entities = self._entities()
        owners = {entities[draft.entity_id].path for draft in drafts if draft.entity_id in entities}
        if self._files.index_edited(sorted(filter(None, owners))):
            entities = self._entities()
        return make_plan(
            drafts,
            entities=entities,
            facts=self._facts(drafts),
            read=partial(read_file, self._session.root),
            today=time.strftime("%Y-%m-%d"),
        )

    def apply(self, plan: Plan, progress: ProgressCallback | None = None) -> Applied:
        """Write a plan as one journal entry and remove the drafts it settled.

        A file that changed since the plan was made gets the edits that still fit. Drafts whose
        edits do not fit are in `failed`; all others are written. Raises WriteFault while another
        process is writing.
        """
        session = self._session
        self._files.finish_interrupted()
        with edit_lock(session.root):
            applied = apply_plan(session.root, plan, progress)
            draft_file.drop_drafts(session.root, applied.done)
            settled = [draft for draft in plan.drafts if draft.id in applied.done]
            self._note_outcomes(settled, applied.entry or 0)
        session.known_drafts = {  # a settled draft that reappears counts as new
            draft_id: draft
            for draft_id, draft in session.known_drafts.items()
            if draft_id not in applied.done
        }
        self._files.publish(applied.paths, "dedup", f"{len(applied.done)} drafts")
        return applied

    def _note_outcomes(self, settled: Sequence[Draft], entry: int) -> None:
        """Note what became of proposals; a failure is a notice, as the pages are written."""
        asked = {each.draft.id: each.draft for each in self._inbox.proposals()}
        try:
            self._inbox.decide(
                {each.id: outcome_of(asked[each.id], each) for each in settled if each.id in asked},
                entry,
            )
        except WriteFault as error:
            self._session.notice(f"written, but the proposals stay in the inbox: {error}")

    def label(self, left: str, right: str, same: bool) -> int:
        """Store whether two texts say the same thing; return the label count. Raises WriteFault."""
        root = self._session.root
        label = Label(replace_surrogates(left), replace_surrogates(right), same)
        pair = {label.left, label.right}
        with edit_lock(root):
            stored = read_labels(root, self._session.notice_once)
            others = (other for other in stored if {other.left, other.right} != pair)
            labels = [*others, label]
            write_labels(root, labels)
        return len(labels)

    def labelled(self) -> tuple[LabelledScore, ...]:
        """Return the newest labels with the scores of their pairs. Raises EmbeddingError."""
        stored = read_labels(self._session.root, self._session.notice_once)[-MOST_LABELS:]
        labels = [label for label in stored if label.left.strip() and label.right.strip()]
        pairs = self._similarity.pairs([(label.left, label.right) for label in labels])
        return tuple(
            LabelledScore(label, pair.score, pair.relation == "conflict")
            for label, pair in zip(labels, pairs, strict=True)
        )

    def _entities(self) -> Mapping[str, Entity]:
        return self._session.open_index().generation().entities

    def _facts(self, drafts: Sequence[Draft]) -> dict[int, Fact]:
        ids = [fact_id for draft in drafts if draft.choice for fact_id in draft.choice.fact_ids]
        ids += [draft.stands_for for draft in drafts if draft.stands_for is not None]
        valid_ids = [fact_id for fact_id in ids if 0 < fact_id < ID_LIMIT]  # may be any numbers
        return facts_by_id(self._session.open_index(), valid_ids)


def _by_id(drafts: Sequence[Draft]) -> Mapping[str, Draft]:
    return {draft.id: draft for draft in drafts}

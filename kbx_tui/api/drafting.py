"""Drafting: facts that wait to be written, checked, decided, planned and applied as one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from kbx_tui.api.opened import well_formed
from kbx_tui.api.writing import Writing
from kbx_tui.errors import NotFound, OutOfRange

if TYPE_CHECKING:
    from kbx_tui.drafting.checks import DraftCheck, DraftMatch, Verdict
    from kbx_tui.drafting.differences import Difference
    from kbx_tui.drafting.planning import FactPlace
    from kbx_tui.drafting.plans import Applied, Plan
    from kbx_tui.drafting.threshold_metrics import LabelledScore, Measured
    from kbx_tui.editing.file_edits import Listener
    from kbx_tui.editing.state.drafts import Draft
    from kbx_tui.similarity.conflicts.conflict_guard import Conflict


class Drafting(Writing):
    """Drafts carry what was decided about them, so that nothing is lost by quitting."""

    _known_drafts: Mapping[str, Draft] = MappingProxyType({})
    """The drafts as this process last read or kept them, by id."""

    def drafts(self) -> tuple[Draft, ...]:
        """Return the drafts kept in this base, in order."""
        from kbx_tui.editing.state.drafts import read_drafts

        found = read_drafts(self.root)
        self._known_drafts = {**self._known_drafts, **{draft.id: draft for draft in found}}
        return found

    def drafts_in(self, file: Path | str) -> tuple[Draft, ...]:
        """Return a draft for every line of a file, here or below the root; keeps none of them.

        Raises NotFound for what cannot be read and ConfigError for JSON that is no draft.
        """
        from kbx_tui.editing.state.drafts import drafts_from_text
        from kbx_tui.knowledge.parsing.reading import decode

        place = Path(file).expanduser()
        if not place.exists():
            place = self.root / place  # an absolute one stays what it is
        try:
            data = place.read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            raise NotFound(f"{place} cannot be read: {reason}") from error
        return drafts_from_text(decode(data)[0])

    def save_drafts(self, drafts: Sequence[Draft]) -> None:
        """Keep these drafts, in one step, and what another process did to the file meanwhile.

        What it added stays, what it settled stays gone unless it was changed here, and of two
        versions of a draft the changed one is kept. Raises WriteFault; then the old ones are still
        there.
        """
        from kbx_tui.editing.edit_lock import edit_lock
        from kbx_tui.editing.state.drafts import merged, read_drafts, write_drafts

        with edit_lock(self.root):
            kept = merged(drafts, self._known_drafts, read_drafts(self.root))
            write_drafts(self.root, kept)
        self._known_drafts = {draft.id: draft for draft in drafts}  # those of others stay

    def check_drafts(self, drafts: Sequence[Draft]) -> list[DraftCheck]:
        """Return for each draft whose it may be and what is like it, in the base and before it.

        Pages of their entities that were edited since are taken in first. Many at once are quicker;
        texts that were checked lately are not embedded again. Raises EmbeddingError, IndexForeign
        and IndexFault.
        """
        from kbx_tui.drafting.as_written import with_written
        from kbx_tui.drafting.draft_checking import check_drafts
        from kbx_tui.editing.file_edits import read_file

        def check() -> list[DraftCheck]:
            engine = self._comparing()
            return check_drafts(drafts, engine, self._open_index(), self.settings.dedup)

        checks = check()
        if self._take_in([one.entity.path for one in checks if one.entity and one.entity.path]):
            checks = check()
        return with_written(checks, lambda path: read_file(self.root, path))

    def decide(self, check: DraftCheck, threshold: float | None = None) -> Verdict:
        """Return state and proposal under a threshold, 0..1, or those of `[dedup]`. Pure.

        Raises OutOfRange.
        """
        from kbx_tui.drafting.deciding import decide

        _require_unit_range(threshold)
        return decide(check, threshold)

    def difference(self, left: str, right: str, conflicts: Sequence[Conflict] = ()) -> Difference:
        """Return two texts as pieces that are the same, differ or contradict each other. Pure."""
        from kbx_tui.drafting.differences import difference

        return difference(left, right, conflicts)

    def merged_text(self, check: DraftCheck, match: DraftMatch) -> str:
        """Return a text to begin with when a draft is merged into a fact. Pure."""
        from kbx_tui.drafting.deciding import merged_text

        return merged_text(check.written or check.draft.text, match.written or match.known.text)

    def scan_drafts(
        self,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
    ) -> list[DraftCheck]:
        """Return what `scan_duplicates` finds as checks: the newest fact of each cluster or pair.

        Its `stands_for` is set, its matches are the older ones. Raises as `scan_duplicates`.
        """
        from kbx_tui.drafting.duplicate_groups import check_group, groups_of
        from kbx_tui.search.browsing.known_facts import facts_by_id
        from kbx_tui.similarity.scoring.thresholds import Thresholds

        scan = self.scan_duplicates(entity=entity, path=path, threshold=threshold)
        groups = groups_of(scan)
        found = facts_by_id(self._open_index(), [one.fact_id for g in groups for one in g])
        owners = {fact_id: fact.entity_id for fact_id, fact in found.items()}
        entities = {one.id: one for one in self._open_index().loaded().snapshot.entities}
        usual, checks = Thresholds(self.settings.dedup, threshold), []
        for newest, *others in groups:
            pairs = self.pair_similarity([(newest.text, one.text) for one in others])
            least = [  # members chain: one may be less like the newest than like the next
                min(usual.of(found[one.fact_id].kind, one.text), pair.score)
                for one, pair in zip(others, pairs, strict=True)
            ]
            group = (newest, *others)
            checks.append(
                check_group(group, pairs, least, owners=owners, entities=entities, scan=scan)
            )
        return checks

    def plan(self, drafts: Sequence[Draft]) -> Plan:
        """Return what applying the drafts that have a choice would write, exactly. Writes nothing.

        Raises IndexFault; what is wrong with a draft stands in the plan's `problems`.
        """
        from kbx_tui.drafting.planning import make_plan
        from kbx_tui.editing.file_edits import read_file

        self._ready_index()
        entities = {one.id: one for one in self._open_index().loaded().snapshot.entities}
        owners = {entities[one.entity_id].path for one in drafts if one.entity_id in entities}
        if self._take_in(sorted(filter(None, owners))):
            entities = {one.id: one for one in self._open_index().loaded().snapshot.entities}
        return make_plan(
            drafts,
            entities=entities,
            places=self._places(drafts),
            read=lambda path: read_file(self.root, path),
            today=time.strftime("%Y-%m-%d"),
        )

    def apply(self, plan: Plan, progress: Listener | None = None) -> Applied:
        """Write a plan as one entry of the journal; the index follows before this returns.

        A file that somebody changed since gets its edits where they still fit, else its drafts are
        in `failed` and all others are written. Settled drafts leave the file of drafts at once.
        Raises WriteFault while another process writes.
        """
        from kbx_tui.drafting.applying import apply_plan
        from kbx_tui.editing.edit_lock import edit_lock
        from kbx_tui.editing.state.drafts import drop_drafts

        with edit_lock(self.root):
            applied = apply_plan(self.root, plan, progress)
            drop_drafts(self.root, applied.done)
        known = self._known_drafts.items()  # one that is brought back is a new one
        self._known_drafts = {key: draft for key, draft in known if key not in applied.done}
        if applied.paths:
            self._follow(applied.paths)
            self._commit(applied.paths, "dedup", f"{len(applied.done)} drafts")
        return applied

    def label(self, left: str, right: str, same: bool) -> int:
        """Keep whether two texts say the same; return how many labels there are.

        The newest on a pair rules. Raises WriteFault.
        """
        from kbx_tui.editing.edit_lock import edit_lock
        from kbx_tui.editing.state.labels import Label, read_labels, write_labels

        label = Label(well_formed(left), well_formed(right), same)
        pair = {label.left, label.right}
        with edit_lock(self.root):
            known = [one for one in read_labels(self.root) if {one.left, one.right} != pair]
            write_labels(self.root, [*known, label])
        return len(known) + 1

    def labelled(self) -> tuple[LabelledScore, ...]:
        """Return the labels with the scores of their pairs. Raises EmbeddingError."""
        from kbx_tui.drafting.threshold_metrics import with_scores
        from kbx_tui.editing.state.labels import read_labels

        labels = [one for one in read_labels(self.root) if one.left.strip() and one.right.strip()]
        return with_scores(labels, self.pair_similarity([(one.left, one.right) for one in labels]))

    def measure(self, labelled: Sequence[LabelledScore], threshold: float) -> Measured | None:
        """Return precision and recall of a threshold on labels; None under 20. Pure."""
        from kbx_tui.drafting.threshold_metrics import measure

        _require_unit_range(threshold)
        return measure(labelled, threshold)

    def _places(self, drafts: Sequence[Draft]) -> dict[int, FactPlace]:
        from kbx_tui.drafting.planning import FactPlace
        from kbx_tui.editing.fact_edits import meant
        from kbx_tui.search.browsing.known_facts import facts_by_id

        ids = [one for draft in drafts if draft.choice for one in draft.choice.fact_ids]
        ids += [draft.stands_for for draft in drafts if draft.stands_for is not None]
        known_ids = [one for one in ids if 0 < one < 2**53]  # a file of drafts may say any
        found = facts_by_id(self._open_index(), known_ids)
        return {
            one: FactPlace(fact.entity_id, fact.path, meant(fact)) for one, fact in found.items()
        }


def _require_unit_range(threshold: float | None) -> None:
    if threshold is not None and not 0.0 <= threshold <= 1.0:
        raise OutOfRange(f"the threshold must be within 0..1, got {threshold}")

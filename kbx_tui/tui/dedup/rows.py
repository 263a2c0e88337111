"""What the dedup mode shows: drafts with their states, and what would be written. Pure.

Text from files and drafts is made safe for the terminal here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.formatting import STATE_SIGNS, format_count, format_score
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import format_place

if TYPE_CHECKING:
    from kbx_tui.drafting.drafts import Applied, Draft, DraftCheck, DraftProblem, Plan, Verdict
    from kbx_tui.drafting.texts import Difference
    from kbx_tui.similarity.conflict_guard import Conflict
    from kbx_tui.similarity.pair_score import PairSimilarity, SimilarityMatch


CHECKING = ("·", "checking")
KINDS = {"fact": "fact", "open_item": "open item"}


@dataclass(frozen=True, slots=True)
class DraftRow:
    id: str
    sign: str
    state: str
    text: str
    about: str
    """Owner and kind: `Alice Chen (guessed) · fact`."""
    action: str
    action_words: str
    """The same as displayed: to skip a fact that already stands in the base keeps both."""
    is_decided: bool
    is_sure: bool
    has_page: bool
    """Whether its entity is known and has a page to write to."""
    reason: str
    """The reason for the state: a sentence without a full stop."""
    is_found: bool = False
    """Whether a scan found it: it is on its page already, and neither changed nor written."""
    hint: str = ""
    """`said of Inês Carvalho too`, where the base says of another what the draft says."""

    @property
    def is_checked(self) -> bool:
        return self.state != CHECKING[1]

    @property
    def is_settled(self) -> bool:
        return self.action == "skip" or self.has_page if self.is_decided else self.is_sure


@dataclass(frozen=True, slots=True)
class ReviewView:
    rows: tuple[DraftRow, ...]
    checking: bool
    threshold: float
    note: str
    scores: tuple[float, ...] = ()

    @property
    def settled(self) -> int:
        return sum(row.is_settled for row in self.rows)

    @property
    def summary(self) -> str:
        if not self.rows:
            return ""
        if self.checking:
            return "checking …"
        writes = sum(row.is_settled and row.action != "skip" for row in self.rows)
        undecided = len(self.rows) - self.settled
        to_decide = f" · {undecided} to decide" if undecided else ""
        return format_count(writes, "write") + to_decide


def draft_row(draft: Draft, check: DraftCheck | None, verdict: Verdict | None) -> DraftRow:
    """Return the row of a draft; without a check and verdict it is shown as being checked."""
    entity = check.entity if check is not None else None
    owner = safe_line(draft.entity_name or draft.entity_id)
    owner += " (unknown)" if owner and check is not None else ""
    if check is not None and entity is not None:
        owner = safe_line(entity.name)
        owner += " (guessed)" if check.draft.is_guessed and not draft.entity_name else ""
        owner += "" if entity.path else ", no page yet"
    sign, state = CHECKING if verdict is None else (STATE_SIGNS[verdict.state], verdict.state)
    choice = draft.choice or (verdict.proposal if verdict is not None else None)
    action = choice.action if choice is not None else ""
    other = check.of_another if check is not None and sign == STATE_SIGNS["new"] else None
    return DraftRow(
        id=draft.id,
        sign=sign,
        state=state,
        text=safe_line(draft.text),
        about=f"{owner or 'unassigned'} · {KINDS[draft.kind]}",
        action=action,
        action_words="keep both" if action == "skip" and draft.stands_for is not None else action,
        is_decided=draft.choice is not None,
        is_sure=verdict is not None and verdict.is_sure,
        has_page=entity is not None and bool(entity.path),
        reason=safe_line(verdict.reason) if verdict is not None else "",
        is_found=draft.stands_for is not None,
        hint=f"said of {safe_line(other.known.entity_name)} too" if other is not None else "",
    )


def describe_applied(applied: Applied, problems: Sequence[DraftProblem]) -> str:
    """Return what was written, and why the rest was not, in one sentence."""
    verbs = ("created", "merged", "superseded", "skipped")
    counts = (applied.created, applied.merged, applied.superseded, applied.skipped)
    parts = [f"{count} {verb}" for count, verb in zip(counts, verbs, strict=True) if count]
    text = ", ".join(parts) or "nothing written"
    if problems:
        first = safe_line(problems[0].reason)
        text += f"; {format_count(len(problems), 'draft')} could not be written: {first}"
    return text


def plan_lines(plan: Plan) -> tuple[str, ...]:
    """Return why parts of a plan cannot be carried out, then its exact diff."""
    problems = [f"✗ {safe_line(problem.reason)}" for problem in plan.problems]
    diff = plan.diff.splitlines()
    return (*problems, *map(safe_line, diff)) or ("nothing would be written",)


@dataclass(frozen=True, slots=True)
class KnownRow:
    text: str
    score: float
    relation: str
    decides: bool
    place: str
    """`people/alice-chen.md:14`, or `draft 3 of this batch`."""
    details: str
    """The components of the score: `raw .75  words .41`."""
    conflicts: str
    """The words that contradict each other: `5 → 3`."""
    difference: Difference
    date: str = ""
    owner: str = ""
    path: str = ""
    line: int = 0
    fact_id: int | None = None
    is_redacted: bool = False
    """Whether its page redacts it, and programs do not get to see it."""
    is_of_another: bool = False
    """Whether it says of another entity what the draft says of its own."""


def known_rows(check: DraftCheck, numbers: Mapping[str, int]) -> tuple[KnownRow, ...]:
    """Return the rows that decide, best first, then those of others, a hint before the rest.

    `numbers` maps draft ids to their numbers in the batch.
    """
    from kbx_tui.drafting.texts import difference  # loaded by the check

    def row(
        text: str, pair: PairSimilarity | SimilarityMatch, place: str, *, decides: bool = True
    ) -> KnownRow:
        return KnownRow(
            text=safe_line(text),
            score=pair.score,
            relation=pair.relation,
            decides=decides,
            place=place,
            details=f"raw {format_score(pair.cosine)}  words {format_score(pair.signals.tokens)}",
            conflicts=format_conflicts(pair.conflicts),
            difference=difference(safe_line(check.text), safe_line(text), pair.conflicts),
        )

    rows = []
    for repeat in check.repeats:
        number = numbers.get(repeat.draft_id)
        place = f"draft {number} of this batch" if number else "an earlier draft"
        rows.append(row(repeat.text, repeat.pair, place))
    for match in check.matches:
        known = match.known
        place = format_place(known.source_path, known.line)
        is_found = check.draft.stands_for is not None  # by a scan, which looks at all entities
        fact = row(known.text, known, place, decides=match.is_own or is_found)
        rows.append(
            replace(
                fact,
                date=safe_line(known.date),
                owner=safe_line(known.entity_name),
                path=known.source_path,
                line=known.line,
                fact_id=known.fact_id,
                is_redacted=match.is_redacted,
                is_of_another=match.is_of_another,
            )
        )
    return tuple(sorted(rows, key=lambda row: (not row.decides, not row.is_of_another, -row.score)))


def format_conflicts(conflicts: Sequence[Conflict]) -> str:
    return ", ".join(
        f"{safe_line(conflict.right) or 'nothing'} → {safe_line(conflict.left)}"
        for conflict in conflicts
    )


@dataclass
class TypedTextChecked(Message):
    known: tuple[KnownRow, ...]


@dataclass
class ScanEnded(Message):
    found: int
    """Number of facts found that are stated more than once, or that contradict another."""
    added: tuple[str, ...]
    """Ids of the drafts that were added for them; the others were in the list."""
    kept: bool
    has_kept: bool


class DraftsLoaded(Message):
    pass


@dataclass
class DraftPlanned(Message):
    lines: tuple[str, ...]


@dataclass
class ReviewProgress(Message):
    text: str

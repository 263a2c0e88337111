"""Records of a draft on its way to a page: check, verdict, plan, and what was written. Values only.

A check keeps matches down to a floor far below any threshold, so that `decide` can apply another
threshold without a search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kbx_tui.drafting.drafts import Action, Choice, Draft
from kbx_tui.editing.page_edits import PageEdit
from kbx_tui.similarity.matches import SimilarityMatch
from kbx_tui.similarity.pair_score import PairSimilarity

State = Literal["new", "exact", "near", "conflict", "repeated"]


@dataclass(frozen=True, slots=True)
class EntityGuess:
    id: str
    name: str
    type: str
    path: str
    """Its page; empty when it has none yet."""
    score: float
    """0..1, from the entity pass."""
    reason: str
    """Why, for display: `name Alice`, `its fact is the nearest`."""
    is_named: bool = True
    """False when the text only hints at it, by a role or part of one."""
    is_ambiguous: bool = False
    """True when the same words name other entities too."""


@dataclass(frozen=True, slots=True)
class DraftMatch:
    """A fact, open item or field of the base that is similar to a draft."""

    known: SimilarityMatch
    """Its `threshold` is that of its type; in `known.conflicts` the draft is on the left."""
    is_own: bool
    """True when it belongs to the draft's entity, or the draft has none. Only these decide."""
    written: str = ""
    """The text as written in its file, with markup, without notes; empty when not looked up."""
    is_redacted: bool = False
    """Whether its page redacts it: for display to the owner only."""
    is_of_another: bool = False
    """Whether it says of another entity what the draft says of its own: a hint, without effect."""


@dataclass(frozen=True, slots=True)
class BatchMatch:
    draft_id: str
    text: str
    pair: PairSimilarity
    threshold: float
    """The threshold of its type."""


@dataclass(frozen=True, slots=True)
class DraftCheck:
    draft: Draft
    """The draft as given, with the guessed entity unless the user chose one."""
    text: str
    """The compared text: the draft without notes, markup and the name it begins with."""
    entity: EntityGuess | None
    candidates: tuple[EntityGuess, ...]
    """Entities it may belong to, best first, including the chosen one."""
    matches: tuple[DraftMatch, ...]
    """Best first; on ties those of the draft's own entity first."""
    repeats: tuple[BatchMatch, ...]
    """Best first."""
    model: str
    is_calibrated: bool
    notes: tuple[str, ...] = ()
    written: str = ""
    """The draft as written, without the name it begins with; empty means its text."""

    @property
    def of_another(self) -> DraftMatch | None:
        """The fact that says the same of another entity: perhaps only one of them can be true."""
        return next((match for match in self.matches if match.is_of_another), None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `decide` concludes from a check under a threshold."""

    state: State
    proposal: Choice
    is_sure: bool
    """True when the proposal needs no review; unattended `apply` carries out only these."""
    reason: str
    """One sentence without a full stop."""
    match: DraftMatch | None = None
    """The deciding match for exact, near and conflict; None when an earlier draft decided."""
    repeat: BatchMatch | None = None
    """The earlier draft, for repeated and for a conflict within the batch."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    path: str
    before: bytes
    after: bytes
    edits: tuple[PageEdit, ...] = ()
    """The edits themselves, so that they can be rebased if the file changes before `apply`."""
    draft_ids: tuple[str, ...] = ()
    diff: str = ""


@dataclass(frozen=True, slots=True)
class DraftProblem:
    draft_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    files: tuple[PlannedFile, ...]
    """Sorted by path."""
    actions: tuple[tuple[str, Action], ...]
    """Id and action of each draft that can be carried out, in order."""
    problems: tuple[DraftProblem, ...]

    @property
    def diff(self) -> str:
        return "".join(file.diff for file in self.files)


@dataclass(frozen=True, slots=True)
class Applied:
    created: int
    merged: int
    superseded: int
    skipped: int
    failed: tuple[DraftProblem, ...]
    done: tuple[str, ...]
    """Ids of the settled drafts, skipped ones included; they can be dropped."""
    paths: tuple[str, ...]
    entry: int | None
    """Journal number that `undo` takes to revert everything; None when nothing changed."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was or would be written to one file, or why nothing was."""

    written: bool
    """False for a dry run, for a known fact, and when nothing would change."""
    path: str
    diff: str
    """Unified diff of the file."""
    fact_id: int | None = None
    """Id of the fact that was added or reworded; a new text gives a new id."""
    line: int = 0
    """1-based line of that fact; 0 when there is none."""
    matches: tuple[SimilarityMatch, ...] = ()
    """For an added fact: what says the same or contradicts it, best first."""
    hints: tuple[str, ...] = ()
    entry: int | None = None
    """Journal number that `undo` takes to revert the write."""

"""Plans and results of writes: exactly what would be written, and what was. Values only."""

from __future__ import annotations

from dataclasses import dataclass

from kbx_tui.editing.pages.page_edits import PageEdit
from kbx_tui.editing.state.drafts import Action
from kbx_tui.similarity.matches import SimilarityMatch


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file as it is and as it would be."""

    path: str
    before: bytes
    after: bytes
    edits: tuple[PageEdit, ...]
    """The edits themselves, so that they can be rebased if the file changes before `apply`."""
    draft_ids: tuple[str, ...]
    diff: str
    """Unified diff, empty when nothing changes."""


@dataclass(frozen=True, slots=True)
class DraftProblem:
    """Why a draft cannot be, or was not, written."""

    draft_id: str
    reason: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What applying some drafts would write."""

    files: tuple[PlannedFile, ...]
    """Sorted by path."""
    actions: tuple[tuple[str, Action], ...]
    """Id and action of each draft that can be carried out, in order."""
    problems: tuple[DraftProblem, ...]
    """Drafts that cannot be carried out; the others can."""

    @property
    def diff(self) -> str:
        """The diffs of all files."""
        return "".join(file.diff for file in self.files)


@dataclass(frozen=True, slots=True)
class Applied:
    """What `apply` did."""

    created: int
    merged: int
    superseded: int
    """Drafts written in place of facts that are now struck out."""
    skipped: int
    failed: tuple[DraftProblem, ...]
    done: tuple[str, ...]
    """Ids of the settled drafts, skipped ones included; they can be dropped."""
    paths: tuple[str, ...]
    """Files that were written."""
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
    """Messages for display, such as that a field already had a similar value."""
    entry: int | None = None
    """Journal number that `undo` takes to revert the write."""

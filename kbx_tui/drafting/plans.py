"""What would be written, exactly, and what has been. Values only."""

from __future__ import annotations

from dataclasses import dataclass

from kbx_tui.editing.page_edits import PageEdit
from kbx_tui.editing.state.drafts import Action


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file as it is and as it would be."""

    path: str
    before: bytes
    after: bytes
    edits: tuple[PageEdit, ...]
    """What is asked for, so that it can be made again when the file changed meanwhile."""
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
    """What applying some drafts would do, before anything is written."""

    files: tuple[PlannedFile, ...]
    """By path."""
    actions: tuple[tuple[str, Action], ...]
    """Id of every draft that can be carried out, in order, and what becomes of it."""
    problems: tuple[DraftProblem, ...]
    """Drafts that cannot be carried out as they are; the others can."""
    fact_ids: tuple[tuple[str, int], ...] = ()
    """Draft id and the id of the fact it would become."""

    def count(self, action: Action) -> int:
        """Return how many drafts are to be created, merged, superseded or skipped."""
        return sum(one == action for _, one in self.actions)

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
    """Drafts written in place of facts that are struck out now."""
    skipped: int
    failed: tuple[DraftProblem, ...]
    done: tuple[str, ...]
    """Ids of the drafts that are settled, skipped ones included: they may go."""
    paths: tuple[str, ...]
    """Files that were written."""
    entry: int | None
    """Number in the journal, by which `undo` takes all of it back; None when nothing changed."""
    fact_ids: tuple[tuple[str, int], ...] = ()
    """Draft id and the id of the fact it became."""

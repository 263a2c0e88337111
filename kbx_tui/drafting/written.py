"""What a single write answers. Values only."""

from __future__ import annotations

from dataclasses import dataclass

from kbx_tui.similarity.matches import SimilarityMatch


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, would be, or was not and why."""

    written: bool
    """False for a dry run, for what is there already, and when nothing would change."""
    path: str
    diff: str
    """Unified diff of the file, as written or as it would be."""
    fact_id: int | None = None
    """Of the fact that was added or worded anew; the id follows the text."""
    line: int = 0
    """Line of that fact, 1-based; 0 when there is none."""
    matches: tuple[SimilarityMatch, ...] = ()
    """For an added fact: what says the same or the contrary, best first."""
    hints: tuple[str, ...] = ()
    """Sentences for people: that a field said much the same already."""
    entry: int | None = None
    """Number in the journal, by which `undo` takes it back."""

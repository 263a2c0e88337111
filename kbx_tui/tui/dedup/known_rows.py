"""Rows for what is similar to a draft: known facts and earlier drafts of the batch. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_score
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import format_place

if TYPE_CHECKING:
    from kbx_tui.drafting.checks import DraftCheck
    from kbx_tui.drafting.differences import Difference
    from kbx_tui.similarity.conflicts.conflict_guard import Conflict
    from kbx_tui.similarity.matches import SimilarityMatch
    from kbx_tui.similarity.scoring.pair_score import PairSimilarity

Compare = Callable[[str, str, "Sequence[Conflict]"], "Difference"]


@dataclass(frozen=True, slots=True)
class KnownRow:
    """A known fact or an earlier draft that is similar to the current draft."""

    text: str
    score: float
    relation: str
    decides: bool
    """Whether it determines the state of the draft."""
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


def known_rows(
    check: DraftCheck, numbers: Mapping[str, int], compare: Compare
) -> tuple[KnownRow, ...]:
    """Return the rows that decide, best first, then those of others, a hint before the rest.

    `numbers` maps draft ids to their numbers in the batch.
    """

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
            difference=compare(safe_line(check.text), safe_line(text), pair.conflicts),
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
    """Return the contradicting words, known first: `5 → 3`."""
    return ", ".join(
        f"{safe_line(conflict.right) or 'nothing'} → {safe_line(conflict.left)}"
        for conflict in conflicts
    )

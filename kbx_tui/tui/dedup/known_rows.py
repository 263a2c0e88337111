"""What is like a draft, as rows: facts of the base, and earlier drafts of the batch. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from kbx_tui.formatting import score_text
from kbx_tui.safe_text import visible

if TYPE_CHECKING:
    from kbx_tui.drafting.checks import BatchMatch, DraftCheck, DraftMatch
    from kbx_tui.drafting.differences import Difference
    from kbx_tui.similarity.conflicts.conflict_guard import Conflict

Compare = Callable[[str, str, "Sequence[Conflict]"], "Difference"]


@dataclass(frozen=True, slots=True)
class KnownRow:
    """A fact, or an earlier draft, that is like the draft a person is at."""

    text: str
    score: float
    relation: str
    decides: bool
    """Whether it counts for the state of the draft."""
    date: str
    owner: str
    place: str
    """`people/alice-chen.md:14`, or `draft 3 of this batch`."""
    details: str
    """What the score came from, `raw .75  words .41`."""
    conflicts: str
    """The words that contradict each other, `5 → 3`."""
    path: str
    line: int
    fact_id: int | None
    difference: Difference


def known_rows(
    check: DraftCheck, numbers: Mapping[str, int], compare: Compare
) -> tuple[KnownRow, ...]:
    """Return earlier drafts and facts, best first; `numbers` counts the drafts of the batch."""
    rows = [_of_batch(check, repeat, numbers, compare) for repeat in check.repeats]
    rows += [_of_base(check, match, compare) for match in check.matches]
    return tuple(sorted(rows, key=lambda row: (not row.decides, -row.score)))


def _of_base(check: DraftCheck, match: DraftMatch, compare: Compare) -> KnownRow:
    known = match.known
    return KnownRow(
        text=visible(known.text),
        score=known.score,
        relation=known.relation,
        decides=match.is_own,
        date=visible(known.date),
        owner=visible(known.entity_name),
        place=place_words(known.source_path, known.line),
        details=score_words(known.cosine, known.signals.tokens),
        conflicts=conflict_words(known.conflicts),
        path=known.source_path,
        line=known.line,
        fact_id=known.fact_id,
        difference=compare(visible(check.text), visible(known.text), known.conflicts),
    )


def _of_batch(
    check: DraftCheck, repeat: BatchMatch, numbers: Mapping[str, int], compare: Compare
) -> KnownRow:
    pair = repeat.pair
    number = numbers.get(repeat.draft_id)
    return KnownRow(
        text=visible(repeat.text),
        score=pair.score,
        relation=pair.relation,
        decides=True,
        date="",
        owner="",
        place=f"draft {number} of this batch" if number else "an earlier draft",
        details=score_words(pair.cosine, pair.signals.tokens),
        conflicts=conflict_words(pair.conflicts),
        path="",
        line=0,
        fact_id=None,
        difference=compare(visible(check.text), visible(repeat.text), pair.conflicts),
    )


def conflict_words(conflicts: Sequence[Conflict]) -> str:
    """Return what contradicts what, `5 → 3`."""
    pairs = [f"{visible(one.right) or 'nothing'} → {visible(one.left)}" for one in conflicts]
    return ", ".join(pairs)


def place_words(path: str, line: int) -> str:
    """Return where a fact stands, without the folder all pages are in."""
    shown = PurePosixPath(path)
    inner = shown.relative_to("memory") if shown.parts[:1] == ("memory",) else shown
    return visible(f"{inner}:{line}" if line else str(inner))


def score_words(cosine: float, words: float) -> str:
    """Return what a calibrated score came from."""
    return f"raw {score_text(cosine)}  words {score_text(words)}"

"""Pairs of similar facts that the user decided to keep: `.kbx/kept-pairs.jsonl`.

A scan for duplicates leaves them out. A fact whose text changes gets another id, so that its pairs
are found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from kbx_tui.drafting.checks import DraftCheck
from kbx_tui.editing.state.drafts import Choice
from kbx_tui.editing.state.state_folder import read_records, write_records
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.state_file import Notice, ignore

KEPT_PAIRS = Path(".kbx", "kept-pairs.jsonl")
"""Relative to the root."""

FactPair = frozenset[int]
"""The ids of two facts."""


@dataclass(frozen=True, slots=True)
class KeptPair:
    """Two facts that stay as they are; the texts are for people who read the file."""

    first_id: int
    second_id: int
    first: str
    second: str

    @property
    def ids(self) -> FactPair:
        """The facts, in either order."""
        return frozenset((self.first_id, self.second_id))


def pairs_of(check: DraftCheck) -> tuple[KeptPair, ...]:
    """Return all pairs of the facts that a check of a scan compares; none for other drafts."""
    draft = check.draft
    if draft.stands_for is None:
        return ()
    texts = {draft.stands_for: draft.text}
    for match in check.matches:
        if match.known.fact_id is not None:
            texts.setdefault(match.known.fact_id, match.known.text)
    return tuple(
        KeptPair(left, right, replace_surrogates(texts[left]), replace_surrogates(texts[right]))
        for left, right in combinations(texts, 2)
    )


def with_choice_to_keep(check: DraftCheck) -> DraftCheck:
    """Return a check of facts that are kept, with that choice."""
    return replace(check, draft=replace(check.draft, choice=Choice("skip")))


def read_kept(root: Path, notice: Notice = ignore) -> frozenset[FactPair]:
    """Return the pairs that the user keeps, skipping unreadable lines."""
    records = read_records(root / KEPT_PAIRS, KeptPair, notice)
    return frozenset(pair.ids for _, pair in records if pair)


def write_kept(root: Path, pairs: Sequence[KeptPair], *, kept: bool) -> None:
    """Add pairs to those that are kept, or remove them; unreadable lines stay.

    The caller holds the edit lock. Raises WriteFault, changing nothing.
    """
    stored = read_records(root / KEPT_PAIRS, KeptPair, ignore)
    changed = {pair.ids for pair in pairs}
    present = {pair.ids for _, pair in stored if pair}
    if changed <= present if kept else not changed & present:
        return
    wanted: Iterable[KeptPair] = (pair for _, pair in stored if pair)
    if kept:
        wanted = (*wanted, *(pair for pair in pairs if pair.ids not in present))
    else:
        wanted = (pair for pair in wanted if pair.ids not in changed)
    others = [line for line, pair in stored if not pair]
    write_records(root, KEPT_PAIRS, wanted, others, {pair: line for line, pair in stored if pair})

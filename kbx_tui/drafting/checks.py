"""What is known about a draft: whose it may be, what is like it, in the base and in the batch.

Values only. A check holds matches down to a floor far below any threshold, so that `decide` can
judge it again under another threshold without a search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kbx_tui.editing.state.drafts import Choice, Draft
from kbx_tui.similarity.matches import SimilarityMatch
from kbx_tui.similarity.scoring.pair_score import PairSimilarity

State = Literal["new", "exact", "near", "conflict", "repeated"]

FLOOR = 0.5
"""Score below which a check keeps no match: thresholds below it change nothing."""


@dataclass(frozen=True, slots=True)
class EntityGuess:
    """An entity a draft may be about."""

    id: str
    name: str
    type: str
    path: str
    """Its page, or empty: then one has to be made first."""
    score: float
    """0..1, as pass 1 scores it."""
    reason: str
    """Why, for people: `name Alice`, `its fact is the nearest`."""
    is_named: bool = True
    """False when the text only hints at it, by a role or some words of one."""
    is_ambiguous: bool = False
    """True when the same words name others too."""


@dataclass(frozen=True, slots=True)
class DraftMatch:
    """A fact, or open item, of the base that is like a draft."""

    known: SimilarityMatch
    """Its `threshold` is that of its type; `known.conflicts` has the draft's words on the left."""
    is_own: bool
    """True when it is of the draft's kind and entity, or the draft has none. Only these decide."""
    written: str = ""
    """The text as it stands in the file, markup included, notes not; empty where nobody looked."""


@dataclass(frozen=True, slots=True)
class BatchMatch:
    """An earlier draft of the batch that is like this one, of the same entity and kind."""

    draft_id: str
    text: str
    pair: PairSimilarity
    threshold: float
    """That of its type."""


@dataclass(frozen=True, slots=True)
class DraftCheck:
    """All that is known about one draft."""

    draft: Draft
    """As given, with the guessed entity filled in when nobody chose one."""
    text: str
    """What was compared: the draft without notes, markup and the name it begins with."""
    entity: EntityGuess | None
    """The entity of the draft; None while nobody knows."""
    candidates: tuple[EntityGuess, ...]
    """Whom the text may be about, best first, the chosen one included."""
    matches: tuple[DraftMatch, ...]
    """Best first, those of the draft's own entity before others of the same score."""
    repeats: tuple[BatchMatch, ...]
    """Best first."""
    model: str
    is_calibrated: bool
    notes: tuple[str, ...] = ()
    """Sentences for people: what could not be compared, or that no entity has this name."""
    written: str = ""
    """The draft as written, without the name it begins with; empty: its text."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `decide` makes of a check under a threshold."""

    state: State
    match: DraftMatch | None
    """What decided, for exact, near and conflict; None when that was an earlier draft."""
    repeat: BatchMatch | None
    """The earlier draft, for repeated and for a conflict within the batch."""
    proposal: Choice
    is_sure: bool
    """True when the proposal needs nobody's eyes: `apply` without a person follows only these."""
    reason: str
    """One sentence without a full stop."""

"""The command record: what a key, the key bar and the palette can run."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

ExploreScope = Literal["query", "path", "results", "entities", "preview", "card", "screen"]
DedupScope = Literal["draft_line", "drafts", "known", "review"]
ExpertsScope = Literal["topic", "expert_list", "experts"]
WhyNotScope = Literal["why_not"]
RecallScope = Literal["recall"]
FacetScope = Literal["facets", "facet_box"]
LinksScope = Literal["links"]
CompareScope = Literal["side_by_side", "compare"]
BlindScope = Literal["blind"]
TogetherScope = Literal["together_line", "together_results", "together_bases", "together"]
TuneScope = Literal["judged_queries", "snapshots", "decision", "tune"]
IndexScope = Literal["files", "folders", "picker", "indexing"]
SharedScope = Literal[
    "list",
    "text",
    "slider",
    "judging",
    "saving",
    "mode",
    "welcome",
    "question",
    "bases",
    "app",
    "overlay",
]
Scope = Literal[
    ExploreScope,
    DedupScope,
    ExpertsScope,
    WhyNotScope,
    RecallScope,
    FacetScope,
    LinksScope,
    CompareScope,
    BlindScope,
    TogetherScope,
    TuneScope,
    IndexScope,
    SharedScope,
]
"""The part of the app in which the keys of a command work."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something the user can do with a key."""

    id: str
    keys: str
    """In Textual's spelling, separated by commas."""
    action: str
    label: str
    """One or two words for the key bar."""
    help: str
    """A sentence without a full stop, for the help screen and the palette."""
    _: KW_ONLY
    scope: Scope
    bar: bool = False
    """Whether the key bar shows it."""
    pair: str = ""
    """Id of the command for the opposite direction; the key bar shows both keys together."""
    palette: bool = False
    in_turn: bool = False
    """Whether it waits for the keys typed before it, because it acts on what they typed."""

"""The arguments of each tool. Every number has a range and every text a maximum length."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from kbx_tui.search.request import MAX_QUERY

Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Name = Annotated[
    str,
    Field(min_length=1, max_length=500, json_schema_extra=lambda schema: schema.pop("minLength")),
]
"""A name; that none is empty goes without saying in the list of tools, which has 20 of them."""
Query = Annotated[str, Field(json_schema_extra={"maxLength": MAX_QUERY})]
"""A query; a longer one than `maxLength` is cut with a note, not refused."""
Phrase = Annotated[str, Field(min_length=3, max_length=500)]
PathFilter = Annotated[str, Field(max_length=1000)]
Names = Annotated[list[Name], Field(max_length=50)]
TYPED_FILTERS = (
    "May hold filters: type:meeting,note tag:ops from:2026-03 to:2026-05 in:memory/notes "
    'title:budget @"Alice Chen" said:@alice status:active due<2026-12 -tag:x -word "exact words"'
)
"""The sentence about typed filters in the descriptions of query arguments."""
FactId = Annotated[int, Field(ge=1, le=2**53 - 1)]
PageOrFact = Annotated[
    Phrase | FactId,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer"}]}),  # shorter, with no limits
]
Text = Annotated[str, Field(min_length=1, max_length=10_000)]
Since = Annotated[Name | None, Field(alias="from", description="2026-03-17, 2026-03 or 2026")]
Until = Annotated[
    Name | None,
    Field(alias="to", description="As from, inclusive"),
]

Dates = Annotated[
    Literal["prefer", "filter", "off"] | None,
    Field(description="Whether date words (last week) prefer documents of that time or filter"),
]


Kind = Annotated[
    Literal["fact", "open_item"],
    BeforeValidator(lambda kind: "open_item" if kind == "open-item" else kind),
]
Day = Name | None
Source = Annotated[Name | None, Field(description="Path, link or title")]
DryRun = Annotated[bool, Field(description="Only return the diff")]
Force = Annotated[bool, Field(description="Write known text too")]


class Arguments(BaseModel):
    """Arguments of a tool: unknown names and other types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Capabilities(BaseModel):
    """How the answer will be used. Unknown names are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    voice: bool = Field(False, description="To be read aloud: at most 3")


class SearchFilters(Arguments):
    """Filters of `kb_search`; a result matches all of them."""

    type: Name | None = Field(None, description="person, project, team, meeting, note ...")
    path: PathFilter | None = Field(None, description="Folder, file or glob")
    since: Since = None
    until: Until = None
    tag: Name | None = Field(None, description="A tag")
    entity: Name | None = Field(None, description="Id of an entity with links to it")


class KbSearch(Arguments):
    query: Query = Field(
        min_length=3,
        description=f"A question or words. {TYPED_FILTERS}",
    )
    limit: int = Field(
        5,
        ge=1,
        le=10,
        validation_alias=AliasChoices("limit", "top_k"),
        description="Most results",
    )
    filters: SearchFilters | None = Field(None, description="All have to match")
    dates: Dates = None
    include_snippets: bool = Field(True, description="With snippets")
    capabilities: Capabilities | None = Field(None, description="Of the caller")


class KbxLinks(Arguments):
    id: Name = Field(description="Id or path of a document or entity")


class KbxList(Arguments):
    path: PathFilter | None = Field(None, description="Folder, file or glob")
    text: Name | None = Field(None, description="In any letter case")
    limit: int = Field(50, ge=1, le=500, description="Most pages")


class KbxRelated(Arguments):
    id: Name = Field(description="Id or path")
    limit: int = Field(10, ge=1, le=100, description="Most results")


class KbGet(Arguments):
    id: PageOrFact | None = Field(
        None, description="Id of a result, a path, a fact_id or a proposal"
    )
    ids: Annotated[list[PageOrFact], Field(min_length=1, max_length=20)] | None = Field(
        None, description="Several, instead of id"
    )
    lines: Name | None = Field(None, description="Only these lines: 10-40")
    offset: int = Field(0, ge=0, le=100_000_000, description="Characters to skip")
    max_chars: int = Field(50_000, ge=1, le=200_000, description="Most characters in all")


class KbExperts(Arguments):
    topic: Query = Field(min_length=1, description="What they should know about")
    limit: int = Field(10, ge=1, le=1000, description="Most experts")
    min_claims: int = Field(1, ge=1, le=1_000_000, description="Fewest claims")
    weight: Annotated[
        Any,
        WithJsonSchema(
            {"type": "string", "maxLength": 100}
        ),  # any value is accepted: unknown ones mean count
    ] = Field(
        "count",
        description="count, recency (newer weigh more), citation (distinct sources) or relevance "
        "(documents count too)",
    )
    people: bool = Field(False, description="No projects and teams")


class KbCapabilities(Arguments):
    """Arguments of `kb_capabilities`: none."""


class KbxMemorySimilar(Arguments):
    text: Text = Field(description="Candidate text to check for similarity")
    entity: Name | None = Field(None, description="Entity name to scope search (optional)")
    path: PathFilter | None = Field(None, description="Document path to scope search (optional)")
    threshold: Unit | None = Field(None, description="Minimum similarity; default: by type")
    limit: int = Field(5, ge=1, le=100, description="Max matches to return")
    chunks: bool = Field(False, description="Also passages of documents")


class KbxEntitySimilarField(Arguments):
    entity: Name = Field(description="Name, alias or id")
    field: Name = Field(description="role, team, facts, open_items or any frontmatter key")
    value: Text = Field(description="Proposed value")
    threshold: Unit | None = Field(None, description="Minimum similarity")


class KbxContext(Arguments):
    tokens: int = Field(2000, ge=100, le=100_000, description="Length of the answer")


class KbxSearch(Arguments):
    """Arguments of `kbx_search`: fields of `SearchRequest`, some under another name in JSON."""

    query: Query = Field(min_length=1, description=f"A question or words. {TYPED_FILTERS}")
    limit: int = Field(10, ge=1, le=200, description="Maximum number of results.")
    path: PathFilter | None = Field(
        None, description="Folder, file or glob (*, ?, **, [1-3], {a,b}) below the root."
    )
    doc_types: Names = Field(
        [], alias="types", description="Only these document types: meeting, note, person ..."
    )
    since: Since = None
    until: Until = None
    tags: Names = Field([], description="Only documents with one of these tags.")
    entities: Names = Field([], description="Only documents linked to one of these entity ids.")
    said: Names = Field([], description="Only meetings in which one of these people speaks.")
    dates: Dates = None
    fast: bool = Field(False, description="Search by words alone: no model, no entities.")
    hierarchy: bool = Field(True, description="False ranks by the documents alone.")
    preset: Literal["default", "seed"] | None = Field(
        None,
        description="seed ranks by the formula of the two-pass proposal, for comparison; other "
        "knobs given still count.",
    )
    alpha: Unit | None = Field(
        None,
        alias="hierarchy_alpha",
        description="Weight of the document: 1 = document alone, 0 = entity alone.",
    )
    threshold: Unit | None = Field(
        None,
        alias="hierarchy_threshold",
        description="Score an entity needs to be kept; if none is kept, the ranking is flat.",
    )
    max_entities: Annotated[int, Field(ge=1, le=20)] | None = Field(
        None, description="Maximum number of entities kept."
    )
    gate: Literal["soft", "hard"] | None = Field(
        None, description="soft keeps documents without a link to a kept entity, hard removes them."
    )
    parent: Literal["coverage", "max"] | None = Field(
        None, description="Entity part of a score: mean over the entities named, or the best one."
    )
    hotness: Unit | None = Field(
        None, description="Weight of how often and recently a document was opened, 0 by default."
    )
    rerank: bool = Field(True, description="False leaves out the reranker of kbx.toml, if any.")
    sort: Literal["score", "date"] | None = Field(
        None, description="date lists the best 50 results newest first."
    )
    pinned: Names = Field(
        [], alias="pin", description="Entities that count whatever their score: name, alias or id."
    )
    muted: Names = Field([], alias="mute", description="Entities to ignore: name, alias or id.")
    as_typed: bool = Field(False, description="Correct no misspelt word of the query.")
    exact: bool = Field(
        False, description="Compare every chunk in scope in meaning, even in a very wide scope."
    )
    explain: bool = Field(False, description="Return how each score was computed.")


class KbxMemoryAdd(Arguments):
    text: Text = Field(description="The fact, in one line")
    entity: Name = Field(description="Name, alias or id")
    kind: Kind = Field("fact", description="A fact or a task")
    date: Day = Field(None, description="2026-03-17; default for a fact: today")
    source: Source = None
    dry_run: DryRun = False
    force: Force = False


class KbxMemoryEditFact(Arguments):
    fact_id: FactId = Field(description="As in a match")
    text: Text = Field(description="The new text")
    date: Day = Field(None, description="New date")
    dry_run: DryRun = False
    force: Force = False


class KbxMemorySupersede(Arguments):
    fact_id: FactId = Field(description="As in a match")
    text: Text | None = Field(None, description="The fact that replaces it")
    date: Day = Field(None, description="Its date; default: today")
    source: Source = None
    dry_run: DryRun = False
    force: Force = False


class KbxMemoryDeleteFact(Arguments):
    fact_id: FactId = Field(description="As in a match")
    dry_run: DryRun = False

"""What each tool takes. Numbers have ranges and texts a longest length: nothing is unbounded."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
PathFilter = Annotated[str, Field(max_length=1000)]
Names = Annotated[list[Name], Field(max_length=50)]


class Arguments(BaseModel):
    """Only what is listed, of exactly its type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Capabilities(BaseModel):
    """How the answer will be used; what is not listed here is ignored."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    voice: bool = Field(False, description="Read aloud: at most 3 results.")


class SearchFilters(Arguments):
    """All that are given hold together."""

    type: Name | None = Field(
        None, description="Only this kind: person, project, team, meeting, note ..."
    )
    path: PathFilter | None = Field(None, description="Only below this folder, file or glob.")
    since: Name | None = Field(
        None, alias="from", description="Not older than 2026-03-17, 2026-03 or 2026."
    )
    until: Name | None = Field(None, alias="to", description="Not newer than this date.")
    tag: Name | None = Field(None, description="Only with this tag.")
    entity: Name | None = Field(None, description="Only linked to the entity with this id.")


class KbSearch(Arguments):
    """`kb_search`."""

    query: Annotated[str, Field(min_length=3, max_length=500)] = Field(
        description="What to look for, in plain language: 3 to 500 characters."
    )
    top_k: Annotated[int, Field(ge=1, le=10)] = Field(5, description="At most so many results.")
    filters: SearchFilters | None = Field(None, description="All that are given hold together.")
    include_snippets: bool = Field(True, description="False leaves the snippets out.")
    capabilities: Capabilities | None = Field(
        None, description="How the answer will be used; voice gets at most 3 results."
    )


class KbGet(Arguments):
    """`kb_get`."""

    id: Annotated[str, Field(min_length=3, max_length=500)] = Field(
        description="Id of an entity or document, as kb_search returns it, or a path."
    )
    offset: Annotated[int, Field(ge=0, le=100_000_000)] = Field(
        0, description="Characters to leave out at the start of the content."
    )
    max_chars: Annotated[int, Field(ge=1, le=200_000)] = Field(
        50_000, description="Characters of content to return at most."
    )


class KbExperts(Arguments):
    """`kb_experts`."""

    topic: Annotated[str, Field(min_length=1, max_length=500)] = Field(
        description="What the experts are to know about."
    )
    limit: Annotated[int, Field(ge=1, le=1000)] = Field(10, description="At most so many rows.")
    min_claims: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        1, description="Leave out who has fewer claims on the topic."
    )
    weight: Annotated[str, Field(max_length=100)] = Field(
        "count",
        description="count (claims), recency (newer ones more), citation (distinct sources x "
        "confidence) or relevance (documents on the topic speak too); any other counts.",
    )


class KbCapabilities(Arguments):
    """`kb_capabilities` takes nothing."""


class KbxMemorySimilar(Arguments):
    """`kbx_memory_similar`."""

    text: Annotated[str, Field(min_length=1, max_length=10_000)] = Field(
        description="Candidate text to check for similarity"
    )
    entity: Name | None = Field(None, description="Entity name to scope search (optional)")
    path: PathFilter | None = Field(None, description="Document path to scope search (optional)")
    threshold: Unit | None = Field(
        None, description="Minimum similarity (0.0-1.0); without it the thresholds of [dedup] hold"
    )
    limit: Annotated[int, Field(ge=1, le=100)] = Field(5, description="Max matches to return")
    chunks: bool = Field(False, description="Compare passages of all documents too.")


class KbxEntitySimilarField(Arguments):
    """`kbx_entity_similar_field`."""

    entity: Name = Field(description="Name, alias or id of the entity.")
    field: Name = Field(description="role, team, facts, open_items or any key of its page.")
    value: Annotated[str, Field(min_length=1, max_length=10_000)] = Field(
        description="What the field is to be."
    )
    threshold: Unit | None = Field(None, description="Minimum similarity (0.0-1.0)")


class KbxSearch(Arguments):
    """`kbx_search`: options and names of `kbx search`."""

    query: Annotated[str, Field(min_length=1, max_length=2000)] = Field(
        description="What to look for, in plain language."
    )
    limit: Annotated[int, Field(ge=1, le=200)] = Field(10, description="At most so many results.")
    path: PathFilter | None = Field(
        None, description="Folder, file or glob (*, ?, **, [1-3], {a,b}) below the root."
    )
    types: Names = Field([], description="Only these kinds: meeting, note, person ...")
    since: Name | None = Field(
        None, alias="from", description="Not older than 2026-03-17, 2026-03 or 2026."
    )
    until: Name | None = Field(None, alias="to", description="Not newer than this date.")
    tags: Names = Field([], description="Only with one of these tags.")
    entities: Names = Field([], description="Only linked to one of these entities, by id.")
    fast: bool = Field(False, description="Words only: flat, no model is loaded.")
    hierarchy: bool = Field(True, description="False: flat, by the documents alone.")
    hierarchy_alpha: Unit | None = Field(
        None, description="Weight of the document: 1 = document alone, 0 = entity alone."
    )
    hierarchy_threshold: Unit | None = Field(
        None, description="Score below which an entity is not kept; none kept means flat."
    )
    max_entities: Annotated[int, Field(ge=1, le=20)] | None = Field(
        None, description="Keep at most so many entities."
    )
    gate: Literal["soft", "hard"] | None = Field(
        None, description="soft keeps documents no entity is linked to, hard drops them."
    )
    parent: Literal["coverage", "max"] | None = Field(
        None, description="Entity part: mean over the entities named, or the best one."
    )
    hotness: Unit | None = Field(
        None, description="Weight of what was opened lately, 0 by default."
    )
    explain: bool = Field(False, description="How each score came about.")


class KbxMemoryAdd(Arguments):
    """`kbx_memory_add`."""

    text: Annotated[str, Field(min_length=1, max_length=10_000)] = Field(
        description="The fact, in one line."
    )
    entity: Name = Field(description="Name, alias or id of whom it is about.")
    kind: Literal["fact", "open_item"] = Field("fact", description="What it is.")
    date: Name | None = Field(None, description="Its day, 2026-03-17; a fact gets today's.")
    source: Name | None = Field(None, description="Where it comes from: a path, a link, a title.")
    dry_run: bool = Field(False, description="Only show what would be written, and what is alike.")
    force: bool = Field(False, description="Write although something says the same.")

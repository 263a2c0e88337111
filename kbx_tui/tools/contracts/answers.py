"""The answers of each tool. The output schemas are made from these models."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ErrorType = Literal["AUTH", "RATE_LIMIT", "TRANSIENT", "VALIDATION", "INTERNAL"]
ErrorCode = Literal[
    "invalid_json",
    "method_not_found",
    "missing_param",
    "invalid_request",
    "permission_denied",
    "internal_error",
]


class Answer(BaseModel):
    """A JSON object with exactly these fields."""

    model_config = ConfigDict(extra="forbid")


class ToolError(Answer):
    """Why a call failed."""

    type: ErrorType
    code: ErrorCode
    message: str = Field(description="One sentence: what, where, what to do.")
    retryable: bool


class Meta(Answer):
    """Metadata of a call."""

    tool: str
    duration_ms: float | None = None


class Failed(Answer):
    """The answer of any tool to a failed call."""

    ok: Literal[False]
    error: ToolError
    meta: Meta


class ResultMetadata(Answer):
    """Where a result comes from."""

    file_path: str | None = Field(description="Relative to the root of the knowledge base.")
    chunk_index: int
    total_chunks: int
    entity_id: str | None
    date: str | None
    line: int


class KbSearchResult(Answer):
    id: str = Field(description="Id of the entity or document, for kb_get.")
    type: str
    title: str
    snippet: str | None = Field(description="At most 200 characters.")
    score: float = Field(ge=0.0, le=1.0)
    source_type: Literal["kb_document"]
    last_updated: str | None
    metadata: ResultMetadata


class KbSearchData(Answer):
    results: list[KbSearchResult]
    total_found: int = Field(description="Number of results returned.")
    query: str
    filters_applied: dict[str, str] | None
    clamped: bool = Field(description="True when voice reduced top_k to 3.")
    total_matched: int = Field(description="Number of results without the limit of top_k.")
    total_below_floor: int = Field(
        description="Documents that are similar to the query, but not enough."
    )
    notes: list[str]


class KbSearchAnswer(Answer):
    ok: Literal[True]
    data: KbSearchData
    meta: Meta


class KbGetMetadata(Answer):
    file_path: str | None
    date: str | None
    entity_id: str | None
    aliases: list[str]
    role: str | None
    team: str | None
    members: list[str]


class KbGetData(Answer):
    id: str
    type: str
    title: str
    content: str = Field(description="Markdown of the file without redacted lines.")
    metadata: KbGetMetadata
    chunks_count: int
    total_chars: int
    next_offset: int | None = Field(description="Offset of the rest; null at the end.")


class KbGetAnswer(Answer):
    ok: Literal[True]
    data: KbGetData
    meta: Meta


class ExpertRow(Answer):
    entity_id: str
    name: str
    type: str
    claim_count: int
    citation_count: int
    score: float
    top_claim_ids: list[int | str]


class KbExpertsAnswer(Answer):
    experts: list[ExpertRow]
    topic: str
    weight: Literal["count", "recency", "citation", "relevance"]
    total_matched: int


class KbCapabilitiesAnswer(Answer):
    version: str
    methods: list[str]
    retrieval: list[Literal["fts", "vector", "two_pass"]]
    review_gated: Literal[False]
    writes: bool
    transports: list[Literal["mcp-stdio", "mcp-http", "jsonl"]]
    types: list[str] = Field(description="Document types in the base, for filters.")
    documents: int


class SimilarMatch(Answer):
    text: str
    score: float
    fact_id: int | None
    source_path: str
    date: str | None
    entity_name: str | None
    match_type: Literal["fact", "open_item", "chunk", "field"]
    threshold: float
    relation: str
    cosine: float
    signals: dict[str, Any]
    conflicts: list[dict[str, str]]
    line: int
    done: bool


class NearestText(Answer):
    text: str
    score: float
    threshold: float
    match_type: Literal["fact", "open_item", "chunk", "field"]
    source_path: str
    line: int


class KbxMemorySimilarAnswer(Answer):
    query: str
    scope: dict[str, str]
    threshold: float
    matches: list[SimilarMatch]
    has_similar: bool
    best_score: float
    nearest: list[NearestText]
    model: str
    is_calibrated: bool
    notes: list[str]


class KbxEntitySimilarFieldAnswer(Answer):
    entity: str
    field: str
    current_value: str | None
    proposed_value: str
    similarity: float
    is_similar: bool
    threshold: float
    match_type: str
    relation: str | None
    cosine: float | None
    signals: dict[str, Any] | None
    conflicts: list[dict[str, str]]
    model: str


class KbxMemoryAddAnswer(Answer):
    written: bool = Field(description="False for a dry run, and for a known fact: see matches.")
    matches: list[SimilarMatch] = Field(description="Facts that state or contradict it.")
    path: str
    fact_id: int | None
    line: int | None
    diff: str = Field(description="Unified diff of the page, as written or as it would be.")
    hints: list[str]
    entry: int | None = Field(description="Number in the journal, for kbx undo.")


class PassOneEntity(Answer):
    id: str
    name: str
    type: str
    score: float
    path: str


class KbxSearchMeta(Answer):
    search_mode: Literal["two_pass", "flat"]
    search_mode_reason: str
    pass1_entities: list[PassOneEntity]
    path_filter: str | None
    timings: dict[str, float]
    total_matched: int
    total_below_floor: int
    in_scope: int
    vector_share: float
    notes: list[str]
    explain: dict[str, Any] | None


class KbxSearchResult(Answer):
    path: str
    title: str
    date: str | None
    doc_type: str
    score: float
    snippet: str
    explain: dict[str, Any] | None
    line: int
    matches: list[tuple[int, int]]


class KbxSearchAnswer(Answer):
    query: str
    results: list[KbxSearchResult]
    meta: KbxSearchMeta

"""The answers of each tool. The output schemas are made from these models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

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


Complete = Annotated[
    bool,
    Field(
        description="Given as false where the scope is too wide to compare every chunk in meaning."
    ),
]
Candidates = Annotated[
    int | None,
    Field(description="Then, the documents scored: found by words, links or a vector index."),
]
Recall = Annotated[
    float | None,
    Field(
        description="Then, the share of the ten nearest chunks that the vector index finds, "
        "measured when it was built."
    ),
]
"""`Complete`, `Candidates` and `Recall` are given if a search did not compare everything."""


class ToolError(Answer):
    type: ErrorType
    code: ErrorCode
    message: str = Field(description="One sentence: what, where, what to do.")
    retryable: bool
    retry_after_seconds: float | None = Field(
        description="Seconds to wait before another try; null if unknown, or if it does not help."
    )


class Meta(Answer):
    tool: str
    duration_ms: float | None = None


class Failed(Answer):
    """The answer of any tool to a failed call."""

    ok: Literal[False]
    error: ToolError
    meta: Meta


class ResultMetadata(Answer):
    file_path: str | None = Field(description="Relative to the root of the knowledge base.")
    chunk_index: int
    total_chunks: int
    entity_id: str | None
    date: str | None
    line: int


class DatesRead(Answer):
    text: str
    first: str | None = Field(alias="from", description="First day; null if open.")
    last: str | None = Field(alias="to", description="Last day, inclusive; null if open.")


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
    typed_filters: list[str] = Field(description="Filters found in the text of the query.")
    clamped: bool = Field(description="True when voice reduced the limit to 3.")
    total_matched: int = Field(description="Number of results without the limit.")
    total_below_floor: int = Field(
        description="Documents that are similar to the query, but not enough."
    )
    in_scope: int = Field(description="Number of documents that match the filters.")
    complete: Complete = True
    candidates: Candidates = None
    recall: Recall = None
    dates: list[DatesRead] = Field(
        description="Date words that were read, and the days they mean; see the argument dates."
    )
    notes: list[str]


class KbSearchAnswer(Answer):
    ok: Literal[True]
    data: KbSearchData
    meta: Meta


class LinkingLine(Answer):
    path: str
    title: str
    date: str | None
    line: int = Field(description="1-based line of the file; 0 for a link in a property.")
    text: str = Field(description="The line, at most 200 characters.")


class MentioningLine(LinkingLine):
    name: str = Field(description="The name as written there.")


class LinkedPage(Answer):
    id: str = Field(description="Of the entity; without one, the path.")
    path: str | None = Field(description="Null for an entity without a page.")
    title: str
    line: int


class BrokenTarget(Answer):
    target: str = Field(description="As written in the link.")
    line: int
    suggestions: list[str] = Field(description="Documents that may be meant, likeliest first.")


class KbxContextAnswer(Answer):
    text: str = Field(description="Markdown: a heading for each section, a line for each thing.")
    tokens: int = Field(description="Length of the text in units of four bytes, by line.")
    budget: int
    left_out: dict[str, int] = Field(description="Lines that did not fit, by heading.")


class KbxLinksAnswer(Answer):
    path: str
    title: str
    backlinks: list[LinkingLine] = Field(description="Links in other documents to this one.")
    mentions: list[MentioningLine] = Field(
        description="Names of this document in others that do not link to it; at most 200."
    )
    outgoing: list[LinkedPage] = Field(description="Where this document links, each once.")
    broken: list[BrokenTarget] = Field(description="Links of this document that lead to nothing.")
    notes: list[str]


class PageLine(Answer):
    line: int
    text: str = Field(description="At most 300 characters, around the text.")


class ListedPage(Answer):
    id: str
    path: str
    title: str
    type: str
    date: str | None
    lines: list[PageLine] = Field(description="The first 5 that contain the text.")
    more_lines: int


class KbxListAnswer(Answer):
    pages: list[ListedPage] = Field(description="By path.")
    total: int = Field(description="Pages there are, also beyond limit.")
    notes: list[str]


class RelatedPage(Answer):
    path: str
    title: str
    date: str | None
    type: str
    score: float = Field(ge=0.0, le=1.0)
    reason: str = Field(description="What they share, what weighs most first.")


class KbxRelatedAnswer(Answer):
    path: str
    title: str
    related: list[RelatedPage] = Field(description="Best first.")
    notes: list[str]


class KbGetMetadata(Answer):
    file_path: str | None
    date: str | None
    entity_id: str | None
    aliases: list[str]
    role: str | None
    team: str | None
    members: list[str]


class FactPlace(Answer):
    fact_id: int
    line: int = Field(description="1-based line of the file.")
    status: Literal["active", "superseded", "archived"]
    done: bool
    sources: list[str]
    confidence: float


class ProposalState(Answer):
    outcome: Literal["waiting", "accepted", "changed", "refused"] = Field(
        description="Changed: the user wrote something else."
    )
    proposed_at: str
    decided_at: str | None


class KbGetData(Answer):
    id: str
    type: Literal["fact", "open_item", "proposal"] | str
    title: str = Field(description="Of the page; for a fact, the name of its entity.")
    content: str = Field(
        description="Markdown of the file without redacted lines, or the text of the fact."
    )
    metadata: KbGetMetadata
    chunks_count: int
    total_chars: int
    next_offset: int | None = Field(description="Offset of the rest; null at the end.")
    fact: FactPlace | None = Field(description="Only for the id of a fact or open item.")
    proposal: ProposalState | None = Field(description="Only for the id of a proposal.")
    notes: list[str]


class KbGetSeveral(Answer):
    pages: list[KbGetData] = Field(description="In the order of the ids.")
    notes: list[str]


class KbGetAnswer(Answer):
    ok: Literal[True]
    data: KbGetData | KbGetSeveral = Field(description="With ids, several.")
    meta: Meta


class ExpertRow(Answer):
    entity_id: str
    name: str
    type: str
    claim_count: int
    full_claim_count: int = Field(
        description="Claims that hold every word of the topic; the others count by their share."
    )
    citation_count: int
    score: float
    top_claim_ids: list[int | str]
    top_claims: list[str] = Field(description="Their texts.")


class KbExpertsAnswer(Answer):
    experts: list[ExpertRow]
    topic: str
    weight: Literal["count", "recency", "citation", "relevance"]
    total_matched: int
    in_scope: int = Field(description="Number of claims that were looked through.")
    notes: list[str]


class KbCapabilitiesAnswer(Answer):
    version: str
    methods: list[str]
    retrieval: list[Literal["fts", "vector", "two_pass"]]
    review_gated: bool = Field(description="Whether writes wait for the user's review.")
    writes: bool
    transports: list[Literal["mcp-stdio", "mcp-http", "jsonl"]]
    types: list[str] = Field(description="Document types in the base, for filters.")
    documents: int
    notes: list[str]


class TextConflict(Answer):
    kind: str
    left: str
    right: str


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
    signals: dict[str, float | bool]
    conflicts: list[TextConflict]
    reason: str = Field(description="Why that relation, in one line.")
    line: int
    done: bool
    field: str | None = Field(description="Name of the field; only for the match type `field`.")
    is_similar: bool = Field(description="Whether it says the same; false below its threshold.")


class NearestText(Answer):
    text: str
    score: float
    fact_id: int | None
    threshold: float
    match_type: Literal["fact", "open_item", "chunk", "field"]
    source_path: str
    line: int


class SimilarityScope(Answer):
    entity: str | None = Field(None, description="Full name; missing without an entity.")
    path: str | None = Field(None, description="Missing without a path.")


class KbxMemorySimilarAnswer(Answer):
    query: str
    scope: SimilarityScope
    threshold: float
    matches: list[SimilarMatch]
    has_similar: bool
    best_score: float
    nearest: list[NearestText]
    model: str
    is_calibrated: bool
    in_scope: int = Field(description="Number of facts and documents that were compared.")
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
    signals: dict[str, float | bool] | None
    conflicts: list[TextConflict]
    model: str
    notes: list[str]


class WrittenAnswer(Answer):
    """The answer of every tool that writes."""

    written: bool = Field(description="False for a dry run, and for a known fact: see matches.")
    matches: list[SimilarMatch] = Field(description="Facts that state or contradict it.")
    path: str
    fact_id: int | None
    line: int | None
    diff: str = Field(description="Unified diff of the page, as written or as it would be.")
    hints: list[str]
    entry: int | None = Field(description="Number in the journal, for kbx undo.")
    proposal: str | None = Field(
        description="Where writes wait for the user's review: its id, for kb_get."
    )


class PassOneEntity(Answer):
    id: str
    name: str
    type: str
    score: float
    path: str


class FeedbackPage(Answer):
    path: str
    title: str


class AppliedFilters(Answer):
    types: list[str]
    since: str | None = Field(alias="from")
    until: str | None = Field(alias="to")
    tags: list[str]
    entities: list[str]


class Pipeline(Answer):
    in_scope: int
    status: str


class SearchExplanation(Answer):
    document_query: str
    path: str | None
    filters: AppliedFilters
    dates: Literal["prefer", "filter"] | None
    hierarchy_alpha: float
    hierarchy_threshold: float
    max_entities: int
    preset: str
    gate: str
    parent: str
    pinned: list[str]
    muted: list[str]
    sort: str
    kept_entities: list[str]
    drawn_to: list[FeedbackPage]
    documents: int
    evaluated: int
    stopped_by: str | None
    reranker: str | None
    reranked: int = Field(description="Number of results that the reranker scored, at most 20.")
    lexical: Pipeline
    vector: Pipeline | None


class EntityShare(Answer):
    id: str
    name: str
    score: float
    link_strength: float
    answered: float
    weight: float
    reason: str
    share: float


class MatchedTerm(Answer):
    term: str
    body_count: int


class ResultExplanation(Answer):
    final_score: float
    doc_relevance: float
    answered: float
    full_relevance: float | None
    parent_entity_score: float
    document_part: float
    entity_part: float
    hotness_part: float
    reranker_part: float
    reranker_score: float | None
    fts_score: float
    lexical_score: float
    lexical_weight: float
    cosine: float | None
    vector_score: float
    vector_weight: float
    date_part: float
    date_reason: str | None
    lowered_reason: str | None
    lent: float
    lent_by: str | None
    exact: str | None
    entities: list[EntityShare]
    matched_terms: list[MatchedTerm]


class KbxSearchMeta(Answer):
    search_mode: Literal["two_pass", "flat"]
    search_mode_reason: str
    pass1_entities: list[PassOneEntity]
    path_filter: str | None
    typed_filters: list[str]
    dates: list[DatesRead]
    timings: dict[str, float]
    total_matched: int
    total_below_floor: int
    in_scope: int
    vector_share: float
    complete: Complete = True
    candidates: Candidates = None
    recall: Recall = None
    notes: list[str]
    explain: SearchExplanation | None


class KbxSearchResult(Answer):
    path: str
    title: str
    date: str | None
    doc_type: str
    score: float
    snippet: str
    explain: ResultExplanation | None
    line: int
    matches: list[tuple[int, int]]


class KbxSearchAnswer(Answer):
    query: str
    results: list[KbxSearchResult]
    meta: KbxSearchMeta


def notes_of(answer: dict[str, Any]) -> list[list[str]]:
    """Return the lists of sentences in an answer, which may name pages."""
    places = [part for part in (answer, answer.get("data"), answer.get("meta")) if part]
    return [part[key] for key in ("notes", "hints") for part in places if key in part]

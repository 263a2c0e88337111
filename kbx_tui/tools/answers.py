"""The answers of each tool. The output schemas are made from these models.

The type of each text field of an answer gives the source of the text, which decides how the
redaction filter (`redaction_filter`) checks it before it is passed on. A field of plain `str` fails
a test, and is withheld.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field


class Provenance(Enum):
    """The source of a text, which decides the check that it needs."""

    PROGRAM = auto()  # a word of this program: a mode, a version, the name of a model
    CALL = auto()  # repeated from the arguments of the call
    SENTENCE = auto()  # by this program; withheld if a page that it names is redacted
    PATH = auto()  # the path of a document, or empty
    ID = auto()  # the id of a document or entity
    TITLE = auto()  # the title of the page that the object is about, or the name of its entity
    KIND = auto()  # the type of the page that the object is about; if about none, of any page
    DATE = auto()  # a date from the page
    PASSAGE = auto()  # words from the page, or the whole text of a fact on it
    CONTENT = auto()  # a verbatim part of the public text of the page
    FIELD = auto()  # the value of a field of the page: role, team, an alias, an item of a list
    DIFF = auto()  # a unified diff of the page
    DERIVED = auto()  # made from other texts of the same object, and withheld with it


UNCHECKED = frozenset({Provenance.PROGRAM, Provenance.DERIVED})
"""Texts that come from no page, or are withheld together with the texts they are made from."""
OF_THE_PAGE = frozenset(
    {Provenance.TITLE, Provenance.KIND, Provenance.DATE, Provenance.PASSAGE, Provenance.FIELD}
)
"""Texts that the index took from the page; public if all that it has of the page is."""

Ours = Annotated[str, Provenance.PROGRAM]
Sent = Annotated[str, Provenance.CALL]
Sentence = Annotated[str, Provenance.SENTENCE]
PagePath = Annotated[str, Provenance.PATH]
PageId = Annotated[str, Provenance.ID]
Title = Annotated[str, Provenance.TITLE]
PageKind = Annotated[str, Provenance.KIND]
PageDate = Annotated[str, Provenance.DATE]
Passage = Annotated[str, Provenance.PASSAGE]
Content = Annotated[str, Provenance.CONTENT]
FieldValue = Annotated[str, Provenance.FIELD]
PageDiff = Annotated[str, Provenance.DIFF]
Derived = Annotated[str, Provenance.DERIVED]


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
    """A JSON object with exactly these fields, each text with its provenance."""

    model_config = ConfigDict(extra="forbid")

    about: ClassVar[str] = ""
    """Key of the path or id of the page that the object is about, such as `metadata.file_path`; if
    empty, it is about the page of the enclosing object. If the page is redacted, the object is
    withheld. The key need not be a field: it is read in the handler's result, before the filter."""
    stays_unnamed: ClassVar[bool] = False
    """Whether the object is not withheld but gets `[redacted]` as id and name, so that totals stay
    right."""


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
    message: Sentence = Field(description="One sentence: what, where, what to do.")
    retryable: bool
    retry_after_seconds: float | None = Field(
        description="Seconds to wait before another try; null if unknown, or if it does not help."
    )


class Meta(Answer):
    tool: Ours
    duration_ms: float | None = None


class Failed(Answer):
    """The answer of any tool to a failed call."""

    ok: Literal[False]
    error: ToolError
    meta: Meta


class ResultMetadata(Answer):
    file_path: PagePath | None = Field(description="Relative to the root of the knowledge base.")
    chunk_index: int
    total_chunks: int
    entity_id: PageId | None
    date: PageDate | None
    line: int


class DatesRead(Answer):
    text: Sent
    first: Ours | None = Field(alias="from", description="First day; null if open.")
    last: Ours | None = Field(alias="to", description="Last day, inclusive; null if open.")


class KbSearchResult(Answer):
    about = "metadata.file_path"

    id: PageId = Field(description="Id of the entity or document, for kb_get.")
    type: PageKind
    title: Title
    snippet: Passage | None = Field(description="At most 200 characters.")
    score: float = Field(ge=0.0, le=1.0)
    source_type: Literal["kb_document"]
    last_updated: PageDate | None
    metadata: ResultMetadata


class KbSearchData(Answer):
    results: list[KbSearchResult]
    total_found: int = Field(description="Number of results returned.")
    query: Sent
    filters_applied: dict[Ours, Sent] | None
    typed_filters: list[Sent] = Field(description="Filters found in the text of the query.")
    clamped: bool = Field(description="True when voice reduced top_k to 3.")
    total_matched: int = Field(description="Number of results without the limit of top_k.")
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
    notes: list[Sentence]


class KbSearchAnswer(Answer):
    ok: Literal[True]
    data: KbSearchData
    meta: Meta


class LinkingLine(Answer):
    about = "path"

    path: PagePath
    title: Title
    date: PageDate | None
    line: int = Field(description="1-based line of the file; 0 for a link in a property.")
    text: Passage = Field(description="The line, at most 200 characters.")


class MentioningLine(LinkingLine):
    name: Passage = Field(description="The name as written there.")


class LinkedPage(Answer):
    about = "id"

    id: PageId | PagePath = Field(description="Of the entity; without one, the path.")
    path: PagePath | None = Field(description="Null for an entity without a page.")
    title: Title
    line: int


class BrokenTarget(Answer):
    target: Passage = Field(description="As written in the link.")
    line: int
    suggestions: list[PagePath] = Field(description="Documents that may be meant, likeliest first.")


class KbxLinksAnswer(Answer):
    about = "path"

    path: PagePath
    title: Title
    backlinks: list[LinkingLine] = Field(description="Links in other documents to this one.")
    mentions: list[MentioningLine] = Field(
        description="Names of this document in others that do not link to it; at most 200."
    )
    outgoing: list[LinkedPage] = Field(description="Where this document links, each once.")
    broken: list[BrokenTarget] = Field(description="Links of this document that lead to nothing.")
    notes: list[Sentence]


class KbGetMetadata(Answer):
    file_path: PagePath | None
    date: PageDate | None
    entity_id: PageId | None
    aliases: list[FieldValue]
    role: FieldValue | None
    team: FieldValue | None
    members: list[PageId]


class FactPlace(Answer):
    fact_id: int
    line: int = Field(description="1-based line of the file.")
    status: Literal["active", "superseded", "archived"]
    done: bool
    sources: list[Passage | PagePath]
    confidence: float


class KbGetData(Answer):
    about = "page"

    id: PageId
    type: Literal["fact", "open_item"] | PageKind
    title: Title = Field(description="Of the page; for a fact, the name of its entity.")
    content: Content = Field(
        description="Markdown of the file without redacted lines, or the text of the fact."
    )
    metadata: KbGetMetadata
    chunks_count: int
    total_chars: int
    next_offset: int | None = Field(description="Offset of the rest; null at the end.")
    fact: FactPlace | None = Field(description="Only for the id of a fact or open item.")
    notes: list[Sentence]


class KbGetAnswer(Answer):
    ok: Literal[True]
    data: KbGetData
    meta: Meta


class ExpertRow(Answer):
    about = "entity_id"

    entity_id: PageId
    name: Title
    type: PageKind
    claim_count: int
    full_claim_count: int = Field(
        description="Claims that hold every word of the topic; the others count by their share."
    )
    citation_count: int
    score: float
    top_claim_ids: list[int | PageId]


class KbExpertsAnswer(Answer):
    experts: list[ExpertRow]
    topic: Sent
    weight: Literal["count", "recency", "citation", "relevance"]
    total_matched: int
    in_scope: int = Field(description="Number of claims that were looked through.")
    notes: list[Sentence]


class KbCapabilitiesAnswer(Answer):
    version: Ours
    methods: list[Ours]
    retrieval: list[Literal["fts", "vector", "two_pass"]]
    review_gated: Literal[False]
    writes: bool
    transports: list[Literal["mcp-stdio", "mcp-http", "jsonl"]]
    types: list[PageKind] = Field(description="Document types in the base, for filters.")
    documents: int
    notes: list[Sentence]


class TextConflict(Answer):
    kind: Ours
    left: Derived
    right: Derived


class SimilarMatch(Answer):
    about = "source_path"

    text: Passage
    score: float
    fact_id: int | None
    source_path: PagePath
    date: PageDate | None
    entity_name: Title | None
    match_type: Literal["fact", "open_item", "chunk", "field"]
    threshold: float
    relation: Ours
    cosine: float
    signals: dict[Ours, float | bool]
    conflicts: list[TextConflict]
    reason: Derived = Field(description="Why that relation, in one line.")
    line: int
    done: bool
    field: Derived | None = Field(description="Name of the field; only for the match type `field`.")
    is_similar: bool = Field(description="Whether it says the same; false below its threshold.")


class NearestText(Answer):
    about = "source_path"

    text: Passage
    score: float
    threshold: float
    match_type: Literal["fact", "open_item", "chunk", "field"]
    source_path: PagePath
    line: int


class SimilarityScope(Answer):
    about = "entity_id"

    entity: Title | None = Field(None, description="Full name; missing without an entity.")
    path: Sent | None = Field(None, description="Missing without a path.")


class KbxMemorySimilarAnswer(Answer):
    query: Sent
    scope: SimilarityScope
    threshold: float
    matches: list[SimilarMatch]
    has_similar: bool
    best_score: float
    nearest: list[NearestText]
    model: Ours
    is_calibrated: bool
    in_scope: int = Field(description="Number of facts and documents that were compared.")
    notes: list[Sentence]


class KbxEntitySimilarFieldAnswer(Answer):
    about = "entity_id"

    entity: Title
    field: Sent
    current_value: FieldValue | None
    proposed_value: Sent
    similarity: float
    is_similar: bool
    threshold: float
    match_type: Ours
    relation: Ours | None
    cosine: float | None
    signals: dict[Ours, float | bool] | None
    conflicts: list[TextConflict]
    model: Ours
    notes: list[Sentence]


class WrittenAnswer(Answer):
    """The answer of every tool that writes."""

    about = "path"

    written: bool = Field(description="False for a dry run, and for a known fact: see matches.")
    matches: list[SimilarMatch] = Field(description="Facts that state or contradict it.")
    path: PagePath
    fact_id: int | None
    line: int | None
    diff: PageDiff = Field(description="Unified diff of the page, as written or as it would be.")
    hints: list[Sentence]
    entry: int | None = Field(description="Number in the journal, for kbx undo.")


class ListedResource(Answer):
    about = "path"

    uri: Derived
    title: Title
    path: PagePath


class ResourceList(Answer):
    """A page of the list of resources."""

    resources: list[ListedResource]


class ResourceText(Answer):
    """The text of a resource."""

    about = "id"

    text: Content


class PassOneEntity(Answer):
    about = "id"

    id: PageId
    name: Title
    type: PageKind
    score: float
    path: PagePath


class FeedbackPage(Answer):
    about = "path"

    path: PagePath
    title: Title


class AppliedFilters(Answer):
    types: list[Sent]
    since: Sent | None = Field(alias="from")
    until: Sent | None = Field(alias="to")
    tags: list[Sent]
    entities: list[Sent]


class Pipeline(Answer):
    in_scope: int
    status: Ours


class SearchExplanation(Answer):
    document_query: Sent
    path: Sent | None
    filters: AppliedFilters
    dates: Literal["prefer", "filter"] | None
    hierarchy_alpha: float
    hierarchy_threshold: float
    max_entities: int
    preset: Ours
    gate: Ours
    parent: Ours
    pinned: list[PageId]
    muted: list[PageId]
    sort: Ours
    kept_entities: list[PageId]
    drawn_to: list[FeedbackPage]
    documents: int
    evaluated: int
    stopped_by: Ours | None
    reranker: Ours | None
    reranked: int = Field(description="Number of results that the reranker scored, at most 20.")
    lexical: Pipeline
    vector: Pipeline | None


class EntityShare(Answer):
    about = "id"
    stays_unnamed = True

    id: PageId
    name: Title
    score: float
    link_strength: float
    answered: float
    weight: float
    reason: Ours
    share: float


class MatchedTerm(Answer):
    term: Sent
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
    date_reason: Ours | None
    lent: float
    lent_by: Ours | None
    exact: Ours | None
    entities: list[EntityShare]
    matched_terms: list[MatchedTerm]


class KbxSearchMeta(Answer):
    search_mode: Literal["two_pass", "flat"]
    search_mode_reason: Ours
    pass1_entities: list[PassOneEntity]
    path_filter: Sent | None
    typed_filters: list[Sent]
    dates: list[DatesRead]
    timings: dict[Ours, float]
    total_matched: int
    total_below_floor: int
    in_scope: int
    vector_share: float
    complete: Complete = True
    candidates: Candidates = None
    recall: Recall = None
    notes: list[Sentence]
    explain: SearchExplanation | None


class KbxSearchResult(Answer):
    about = "path"

    path: PagePath
    title: Title
    date: PageDate | None
    doc_type: PageKind
    score: float
    snippet: Passage
    explain: ResultExplanation | None
    line: int
    matches: list[tuple[int, int]]


class KbxSearchAnswer(Answer):
    query: Sent
    results: list[KbxSearchResult]
    meta: KbxSearchMeta

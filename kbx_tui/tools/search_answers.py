"""The answer of `kbx_search`, with the explanation of its scores (docs/cli.md)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kbx_tui.tools.answers import (
    Answer,
    Candidates,
    Complete,
    DatesRead,
    Ours,
    PageDate,
    PageId,
    PageKind,
    PagePath,
    Passage,
    Recall,
    Sent,
    Sentence,
    Title,
)


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

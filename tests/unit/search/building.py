"""Evidence made from plain numbers, and hypothesis strategies for it."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from kbx_tui.search.evidence.evidence import (
    DateMatch,
    DatePreference,
    EntityCandidate,
    Evidence,
    PreferredDates,
    Scope,
    Signal,
    Topic,
)
from kbx_tui.search.evidence.scores import (
    DATE_WEIGHT,
    PROPAGATION_SHARE,
    ComponentScores,
    Continuations,
    LinkedDocuments,
    QueryVariant,
    ScoredDocuments,
    Scoring,
)
from kbx_tui.search.request import Filters, Tuning


def whole_documents(size: int) -> ScoredDocuments:
    """Return documents none of which continues another."""
    return ScoredDocuments.without_continuations(np.ones(size, np.bool_), np.arange(size))


def consecutive_parts(size: int) -> ScoredDocuments:
    """Return documents each of which continues the one before."""
    pairs = [(row, row + 1) for row in range(size - 1)]
    continuations = Continuations.of(pairs)
    return ScoredDocuments.of(continuations, np.ones(size, np.bool_), np.arange(size))


def components(
    bm25: Sequence[float],
    cosine: Sequence[float],
    query: str = "q",
    documents: ScoredDocuments | None = None,
) -> ComponentScores:
    """Return the scores of documents with the given BM25 and cosines, as a search computes them."""
    raw, cosines = np.array(bm25, dtype=float), np.array(cosine, dtype=float)
    variants = {query: QueryVariant(raw, 0.7)}
    scoring = Scoring(documents or whole_documents(len(raw)), variants, PROPAGATION_SHARE)
    return scoring.components(query, cosines)


def entity(number: int, score: float, *, named: bool = False) -> EntityCandidate:
    signal = Signal("name" if named else "fact", score, f"entity {number}")
    return EntityCandidate(
        id=f"person:e{number}",
        name=f"Entity {number}",
        type="person",
        path=f"memory/people/e{number}.md",
        score=score,
        named=named,
        signals=(signal,),
    )


def only_pinned(number: int) -> EntityCandidate:
    """Return an entity that pass 1 did not find: it is a candidate only because it is pinned."""
    return replace(entity(number, 0.0), signals=())


def linked(strengths: dict[int, float], propagated: Collection[int] = ()) -> LinkedDocuments:
    """Return links by row; those of `propagated` come from an adjacent part only."""
    rows = sorted(strengths)
    flags = np.array([row in propagated for row in rows], np.bool_) if propagated else None
    return LinkedDocuments(
        np.array(rows, dtype=np.int64),
        np.array([strengths[row] for row in rows], dtype=float),
        tuple("attendee" for _ in rows),
        flags,
    )


def evidence(
    typed: ComponentScores,
    searched: ComponentScores | None = None,
    entities: Sequence[tuple[EntityCandidate, dict[int, float]]] = (),
    *,
    known_items: dict[int, str] | None = None,
    dates: Sequence[str] = (),
    frecency: Sequence[float] = (),
    fast: bool = False,
    propagated: Collection[int] = (),
    topic: Topic | None = None,
    date_preference: DatePreference | None = None,
) -> Evidence:
    """Return Evidence with these scores, entities and the links of each."""
    size = len(typed.doc_relevance)
    names = tuple(f"memory/notes/{row:04}.md" for row in range(size))
    return Evidence(
        query=typed.query,
        document_query=(searched or typed).query,
        generation=1,
        scope=Scope("", Filters(), size, size),
        entities=tuple(candidate for candidate, _ in entities),
        links=tuple(linked(strengths, propagated) for _, strengths in entities),
        paths=names,
        titles=names,
        dates=tuple(dates) or ("",) * size,
        kinds=("note",) * size,
        as_typed=typed,
        as_searched=searched or typed,
        topic=topic,
        known_items=known_items or {},
        frecency=np.array(frecency) if len(frecency) else np.zeros(size),
        fast=fast,
        vector_share=1.0,
        timings={},
        date_preference=date_preference,
    )


def preference(
    matches: Sequence[int], full_relevance: float | None = 0.5, weight: float = DATE_WEIGHT
) -> DatePreference:
    """Return a preference for March 2026, with the `DateMatch` of each document."""
    march = PreferredDates("in March", "2026-03-01", "2026-03-31", "March 2026")
    return DatePreference((march,), np.array(matches, np.int8), full_relevance, weight)


unit = st.floats(min_value=0.0, max_value=1.0)
PINNED = ["person:e0", "person:e2", "person:e7", "person:e8", "person:e99"]


@st.composite
def some_topic(draw: st.DrawFn) -> Topic:
    full, share, documents = draw(st.floats(0.05, 0.9)), draw(unit), draw(st.integers(0, 9))
    return Topic(full, share, documents, is_common=draw(st.booleans()))


@st.composite
def some_preference(draw: st.DrawFn, size: int, topic: Topic | None) -> DatePreference:
    """Draw a preference, with the full relevance of the topic, if any, as in a search."""
    matches = draw(st.lists(st.sampled_from(list(DateMatch)), min_size=size, max_size=size))
    alone_or_flat = st.none() | st.floats(0.05, 0.9)
    full = topic.full_relevance if topic is not None else draw(alone_or_flat)
    return preference(matches, full, draw(st.floats(0.0, 0.49)))


@st.composite
def some_evidence(draw: st.DrawFn) -> Evidence:
    """Draw any evidence: up to 12 documents, perhaps consecutive parts, and up to 7 entities by
    score, some of them only pinned."""
    size = draw(st.integers(0, 12))
    # No word of ten million documents scores less; subnormal scores become 0 when they are scaled.
    bm25 = st.just(0.0) | st.floats(1e-9, 60.0)
    scores = st.lists(bm25, min_size=size, max_size=size)
    # Rounded, as sums of float32 products are: beside 1e-55 the error of quantized vectors is all.
    cosine = st.floats(-1.0, 1.0).map(lambda number: round(number, 9))
    cosines = st.lists(cosine, min_size=size, max_size=size)
    documents = consecutive_parts(size) if draw(st.booleans()) else whole_documents(size)
    typed = components(draw(scores), draw(cosines), documents=documents)
    searched = components(draw(scores), draw(cosines), "r", documents)
    found = []
    rows = st.integers(0, size - 1) if size else st.nothing()
    for number in range(draw(st.integers(0, 7))):
        named = draw(st.booleans())
        score = 1.0 if named else draw(unit)
        found.append((entity(number, score, named=named), draw(st.dictionaries(rows, unit))))
    found.sort(key=lambda pair: -pair[0].score)
    found += [
        (only_pinned(number), draw(st.dictionaries(rows, unit)))
        for number in draw(st.sets(st.integers(7, 8)))
    ]
    known_items = {0: "title"} if size and draw(st.booleans()) else {}
    frecency = draw(st.lists(unit, min_size=size, max_size=size))
    dates = draw(st.lists(st.sampled_from(["", "2026-01-02", "2026-03-04"]), min_size=size,
                          max_size=size))  # fmt: skip
    topic = draw(st.none() | some_topic())
    return evidence(
        typed,
        searched,
        found,
        known_items=known_items,
        frecency=frecency,
        dates=dates,
        propagated=draw(st.sets(rows)) if size else (),
        topic=topic,
        date_preference=draw(st.none() | some_preference(size, topic)),
    )


@st.composite
def some_tuning(draw: st.DrawFn) -> Tuning:
    return Tuning(
        hierarchy=draw(st.booleans()),
        alpha=draw(st.just(0.0) | st.floats(1e-9, 1.0)),  # less times a low score is 0: no result
        entity_threshold=draw(unit),
        max_entities=draw(st.integers(1, 20)),
        gate=draw(st.sampled_from(["soft", "hard"])),
        parent=draw(st.sampled_from(["coverage", "max"])),
        uniform_links=draw(st.booleans()),
        keep_names=draw(st.booleans()),
        scale_by_topic=draw(st.booleans()),
        hotness_weight=draw(unit),
        muted=frozenset(draw(st.lists(st.sampled_from(["person:e0", "person:e3", "person:e7"])))),
        pinned=frozenset(draw(st.lists(st.sampled_from(PINNED)))),
    )

"""Builds Evidence from plain numbers, and hypothesis strategies for it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from kbx_tui.search.evidence.continuations import Parts, Reach
from kbx_tui.search.evidence.evidence import (
    ComponentScores,
    EntityCandidate,
    Evidence,
    LinkedDocuments,
    Scope,
    Signal,
)
from kbx_tui.search.evidence.score_normalization import PART_SHARE
from kbx_tui.search.evidence.scoring import Scoring, Wording
from kbx_tui.search.evidence.tuning import Tuning


def alone(size: int) -> Reach:
    """Documents without parts."""
    return Reach.alone(np.ones(size, np.bool_), np.arange(size))


def in_parts(size: int) -> Reach:
    """Documents of which each goes on in the next."""
    pairs = [(row, row + 1) for row in range(size - 1)]
    return Reach.of(Parts.of(pairs), np.ones(size, np.bool_), np.arange(size))


def components(
    bm25: Sequence[float], cosine: Sequence[float], query: str = "q", reach: Reach | None = None
) -> ComponentScores:
    """Scores as the search makes them; those of parts beside documents follow in `reach`."""
    raw, cosines = np.array(bm25, dtype=float), np.array(cosine, dtype=float)
    scoring = Scoring(reach or alone(len(raw)), {query: Wording(raw, 0.7)}, PART_SHARE)
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


def asked_for(number: int) -> EntityCandidate:
    """An entity that pass 1 did not find: it is there because somebody pinned it."""
    return replace(entity(number, 0.0), signals=())


def linked(pairs: dict[int, float], lent: Collection[int] = ()) -> LinkedDocuments:
    """Documents of an entity with their strengths, and which of them only a part beside lends."""
    rows = sorted(pairs)
    flags = np.array([row in lent for row in rows], np.bool_) if lent else None
    return LinkedDocuments(
        np.array(rows, dtype=np.int64),
        np.array([pairs[row] for row in rows], dtype=float),
        tuple("attendee" for _ in rows),
        flags,
    )


def evidence(
    typed: ComponentScores,
    searched: ComponentScores | None = None,
    entities: Sequence[tuple[EntityCandidate, dict[int, float]]] = (),
    *,
    exact: dict[int, str] | None = None,
    dates: Sequence[str] = (),
    hotness: Sequence[float] = (),
    fast: bool = False,
    lent: Collection[int] = (),
) -> Evidence:
    size = len(typed.doc_relevance)
    names = tuple(f"memory/notes/{row:04}.md" for row in range(size))
    return Evidence(
        query=typed.query,
        document_query=(searched or typed).query,
        generation=1,
        scope=Scope("", (), size, size, ""),
        entities=tuple(one for one, _ in entities),
        links=tuple(linked(pairs, lent) for _, pairs in entities),
        paths=names,
        titles=names,
        dates=tuple(dates) or ("",) * size,
        kinds=("note",) * size,
        as_typed=typed,
        as_searched=searched or typed,
        exact=exact or {},
        hotness=np.array(hotness) if len(hotness) else np.zeros(size),
        fast=fast,
        vector_share=1.0,
        timings={},
    )


unit = st.floats(min_value=0.0, max_value=1.0)
PINNED = ["person:e0", "person:e2", "person:e7", "person:e8", "person:e99"]


@st.composite
def some_evidence(draw: st.DrawFn) -> Evidence:
    """Any evidence: up to 12 documents, in parts or not, up to 7 entities in order of score, some
    asked for."""
    size = draw(st.integers(0, 12))
    scores = st.lists(st.floats(0.0, 60.0), min_size=size, max_size=size)
    cosines = st.lists(st.floats(-1.0, 1.0), min_size=size, max_size=size)
    reach = in_parts(size) if draw(st.booleans()) else alone(size)
    typed = components(draw(scores), draw(cosines), reach=reach)
    searched = components(draw(scores), draw(cosines), "r", reach)
    found = []
    rows = st.integers(0, size - 1) if size else st.nothing()
    for number in range(draw(st.integers(0, 7))):
        named = draw(st.booleans())
        score = 1.0 if named else draw(unit)
        found.append((entity(number, score, named=named), draw(st.dictionaries(rows, unit))))
    found.sort(key=lambda pair: -pair[0].score)
    found += [
        (asked_for(number), draw(st.dictionaries(rows, unit)))
        for number in draw(st.sets(st.integers(7, 8)))
    ]
    exact = {0: "title"} if size and draw(st.booleans()) else {}
    hotness = draw(st.lists(unit, min_size=size, max_size=size))
    dates = draw(st.lists(st.sampled_from(["", "2026-01-02", "2026-03-04"]), min_size=size,
                          max_size=size))  # fmt: skip
    lent = draw(st.sets(rows)) if size else ()
    return evidence(typed, searched, found, exact=exact, hotness=hotness, dates=dates, lent=lent)


@st.composite
def some_tuning(draw: st.DrawFn) -> Tuning:
    return Tuning(
        hierarchy=draw(st.booleans()),
        alpha=draw(unit),
        entity_threshold=draw(unit),
        max_entities=draw(st.integers(1, 20)),
        gate=draw(st.sampled_from(["soft", "hard"])),
        parent=draw(st.sampled_from(["coverage", "max"])),
        uniform_links=draw(st.booleans()),
        keep_names=draw(st.booleans()),
        hotness_weight=draw(unit),
        muted=frozenset(draw(st.lists(st.sampled_from(["person:e0", "person:e3", "person:e7"])))),
        pinned=frozenset(draw(st.lists(st.sampled_from(PINNED)))),
    )

"""Turns engine results into the plain values the explore screen shows.

Pure. Imports numpy, so modules needed for the first paint import it late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from kbx_tui.formatting import format_score, format_size, join_limited, kept_words, mode_name
from kbx_tui.knowledge.records import Fact
from kbx_tui.safe_text import safe_line, safe_lines
from kbx_tui.search.browse import EntityCard
from kbx_tui.search.evidence.evidence import EntityCandidate, Evidence, Signal
from kbx_tui.search.evidence.reranking import RERANK_MS
from kbx_tui.search.ranking.rank import Ranked, Ranking
from kbx_tui.search.request import MAX_QUERY
from kbx_tui.search.results.answer import (
    asks_for_experts,
    few_answers_note,
    find_few_answers,
    in_order,
    not_dates_notes,
    reranker_failure,
    unknown_names_notes,
)
from kbx_tui.search.results.response import Snippet
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.explore.view import (
    EXPERTS_KEY,
    DatesView,
    EntityRow,
    ExploreView,
    Mode,
    ResultRow,
    ScopeView,
)
from kbx_tui.tui.reading.embeds import MOST_EMBEDS, Passage, front_summary, with_passages
from kbx_tui.tui.reading.markdown_lines import InlineText, Place, Preview, render_inline

if TYPE_CHECKING:
    from kbx_tui.api.documents import DocumentView

MAX_RESULTS = 200
"""Results shown; nobody scrolls further, and every slider move presents them again."""
TOP_RESULTS = 10
"""Results whose order decides where the next change of alpha is."""
EXPERTS_NOTE = f"these are documents; {EXPERTS_KEY} ranks people by what they know about a topic"


LEFT_OUT: Mapping[str, str] = {
    "disabled": "not used by a flat search",
    "too_broad": "as similar as many others",
    "nothing_linked": "no document is linked to it",
}
"""Why entities above the threshold do not count in a flat search."""

SIGNAL_WORDS: Mapping[str, str] = {
    "name": "name",
    "alias": "alias",
    "first_name": "first name",
    "surname": "surname",
    "fuzzy": "like",
    "role": "role",
    "team": "team",
    "fact": "fact",
    "meaning": "meaning",
}


def present(ranking: Ranking, state: SearchState, alpha_note: str = "") -> ExploreView:
    evidence = ranking.evidence
    kept = set(ranking.kept)
    matched = int(np.count_nonzero(ranking.included))
    no_vector = np.isnan(ranking.components.cosine)
    if no_vector.all():  # the query, or the index as a whole, has nothing to compare
        no_vector[:] = False
    results = [
        _result(ranking, ranked, has_vector=not no_vector[ranked.row])
        for ranked in in_order(ranking, state.sort, MAX_RESULTS)
    ]
    order = f"the best {len(results)}, newest first" if state.sort == "date" else ""
    return ExploreView(
        query=evidence.query,
        mode=mode_words(ranking),
        threshold=state.threshold,
        entities=tuple(
            EntityRow(
                id=entity.id,
                name=safe_line(entity.name),
                type=safe_line(entity.type),
                path=entity.path,
                score=entity.score,
                kept=index in kept,
                signals=signal_words(entity.signals),
                muted=entity.id in state.muted,
                pinned=entity.id in state.pinned,
                left_out="" if index in kept else left_out_words(ranking, entity),
            )
            for index, entity in enumerate(evidence.entities)
        ),
        results=tuple(results),
        matched=matched,
        scope=ScopeView(
            safe_line(evidence.scope.path),
            evidence.scope.in_scope,
            evidence.scope.total,
            evidence.scope.left_out,
        ),
        order=order,
        alpha_note=alpha_note,
        note=_note(ranking),
        filters=tuple(safe_line(str(typed)) for typed in evidence.scope.filters.typed),
        dates=_dates(evidence, state),
        gated=_gated(ranking),
    )


def mode_words(ranking: Ranking) -> Mode:
    evidence = ranking.evidence
    names = [safe_line(entity.name) for entity in ranking.kept_entities]
    timings = {name: took for name, took in evidence.timings.items() if name != RERANK_MS}
    return Mode(
        name=mode_name(ranking.search_mode, ranking.search_mode_reason),
        reason=kept_words(ranking.search_mode, ranking.search_mode_reason, names),
        preset=ranking.tuning.preset,
        milliseconds=timings.get("total", sum(timings.values())),
        vector_share=evidence.vector_share,
        is_cut=len(evidence.query) > MAX_QUERY,
        reranker_ms=evidence.timings.get(RERANK_MS) if ranking.is_reranked else None,
        candidates=evidence.scope.candidates,
    )


def left_out_words(ranking: Ranking, entity: EntityCandidate) -> str:
    tuning = ranking.tuning
    if entity.score < tuning.entity_threshold or not entity.found or entity.id in tuning.muted:
        return ""
    if ranking.search_mode == "two_pass":
        return f"only the best {tuning.max_entities} count"
    return LEFT_OUT.get(ranking.search_mode_reason, "")


def signal_words(signals: Sequence[Signal], most: int = 3) -> str:
    """Return why an entity matched: `name “alice”, 2 facts`; empty when only its meaning did."""
    if all(signal.kind == "meaning" for signal in signals):
        return ""
    words: list[str] = []
    facts = [signal for signal in signals if signal.kind == "fact"]
    for signal in signals:
        if signal.kind == "fact" and len(facts) > 1:
            if signal is facts[0]:
                words.append(f"{len(facts)} facts")
            continue
        word = SIGNAL_WORDS.get(signal.kind, signal.kind)
        detail = safe_line(signal.detail)
        word = f"{word} “{detail}”" if detail and signal.kind != "meaning" else word
        words.append(f"{word} ({signal.taught})" if signal.taught else word)
    return join_limited(words, ", ", limit=most)


def _gated(ranking: Ranking) -> int:
    if not (ranking.kept and ranking.tuning.gate == "hard"):
        return 0
    return int(np.count_nonzero((ranking.blended > 0.0) & ~ranking.included))


def _note(ranking: Ranking) -> str:
    evidence = ranking.evidence
    about_filters = (*unknown_names_notes(evidence.scope), *not_dates_notes(evidence.query))
    return (
        "; ".join(about_filters)
        or few_answers_note(find_few_answers(ranking))
        or reranker_failure(ranking)
        or (EXPERTS_NOTE if asks_for_experts(evidence.query) else "")
    )


def _dates(evidence: Evidence, state: SearchState) -> DatesView | None:
    preference = evidence.date_preference
    if preference is None and not evidence.undated and state.dates != "off":
        return None
    words = "" if preference is None else preference.words
    return DatesView(state.dates, words, join_limited(evidence.undated, " or "))


def next_change_note(below: float | None, above: float | None, alpha: float) -> str:
    """Return a note on the next alphas that reorder the top results, the ends included.

    `below` and `above` are where scores are equal; the note names the nearest alphas beyond them
    that the slider can take.
    """
    changes = []
    if below is not None:
        changes.append(min(floor(below * 100 + 1e-9), ceil(alpha * 100 - 1e-9) - 1))
    if above is not None:
        changes.append(max(ceil(above * 100 - 1e-9), floor(alpha * 100 + 1e-9) + 1))
    if not changes:
        return ""
    named = " and ".join(format_score(max(min(each, 100), 0) / 100) for each in changes)
    return f"next {'changes' if len(changes) > 1 else 'change'} at {named}"


def present_snippet(snippet: Snippet, redacted_lines: frozenset[int] = frozenset()) -> Snippet:
    """Return a snippet without control characters.

    `redacted_lines` are lines of its file: they are marked as redacted in the snippet.
    """
    spans = _redacted_spans(snippet, redacted_lines) if redacted_lines else []
    edges = {edge for span in (*snippet.matches, *spans) for edge in span}
    text, place, position = "", {}, 0
    for edge in sorted({*edges, len(snippet.text)}):  # piece by piece: cleaning shifts the spans
        text += safe_line(snippet.text[position:edge])
        place[edge] = len(text)
        position = edge
    return replace(
        snippet,
        text=text,
        matches=tuple((place[start], place[end]) for start, end in snippet.matches),
        heading=safe_line(snippet.heading),
        terms=tuple((safe_line(term), count) for term, count in snippet.terms),
        redacted=tuple((place[start], place[end]) for start, end in spans),
    )


def _redacted_spans(snippet: Snippet, lines: frozenset[int]) -> list[tuple[int, int]]:
    end = len(snippet.text)
    edges = [0, *(min(place, end) for place in snippet.line_breaks), end]
    shown = enumerate(pairwise(edges), snippet.line_start)
    return [span for line, span in shown if line in lines]


def present_document(
    document: DocumentView,
    snippet: Snippet | None,
    find_matches: Callable[[str], Sequence[tuple[int, int]]],
    read_passage: Callable[[str], Passage | None] = lambda target: None,
) -> Preview:
    """Return a document without control characters.

    `snippet` is its best passage; `find_matches` returns the spans of query words in a text,
    `read_passage` what to show of an embedded note, given its link.
    """
    text = document.text
    if document.left_out:
        text += f"\n*{format_size(document.left_out)} more appear when the page is read.*\n"
    inline = render_inline(safe_lines(text))
    preview = Preview(
        path=document.path,
        title=safe_line(document.title),
        date=safe_line(document.date),
        lines=inline.lines,
        links=inline.links,
        kinds=inline.kinds,
        emphasis=inline.emphasis,
        front_summary=front_summary(document.text, inline.kinds),
    )
    preview = with_passages(preview, _passages(inline, read_passage))
    places = _places(preview.lines, find_matches("\n".join(preview.lines)))
    start, end = (snippet.line_start, snippet.line_end) if snippet is not None else (0, 0)
    return replace(
        preview,
        line_start=preview.shown_line(start),
        line_end=preview.shown_line(end),
        matches=tuple(place for place in places if preview.is_own(place.line)),
        redacted=preview.redacted | set(map(preview.shown_line, document.redacted_lines)),
    )


def _passages(
    text: InlineText, read_passage: Callable[[str], Passage | None]
) -> dict[int, list[Passage]]:
    passages: dict[int, list[Passage]] = {}
    embeds = [link for link in text.links if link.is_embed]
    for link in embeds[:MOST_EMBEDS]:
        if (passage := read_passage(link.target)) is not None:
            passages.setdefault(link.place.line, []).append(passage)
    return passages


def present_card(card: EntityCard) -> EntityCard:
    """Return an entity card without control characters, except in paths.

    Sources of its facts are those other than its page.
    """

    def shown(fact: Fact) -> Fact:
        sources = tuple(safe_line(source) for source in fact.sources if source != card.path)
        return replace(fact, text=safe_line(fact.text), date=safe_line(fact.date), sources=sources)

    return replace(
        card,
        name=safe_line(card.name),
        type=safe_line(card.type),
        role=safe_line(card.role),
        team=safe_line(card.team),
        aliases=tuple(map(safe_line, card.aliases)),
        facts=tuple(map(shown, card.facts)),
        open_items=tuple(map(shown, card.open_items)),
        documents=tuple(
            replace(
                document,
                title=safe_line(document.title) or safe_line(document.path),
                date=safe_line(document.date),
                kind=safe_line(document.kind),
                reason=safe_line(document.reason),
            )
            for document in card.documents
        ),
    )


def _places(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> tuple[Place, ...]:
    """Return spans of the lines joined with line breaks as places within lines."""
    starts = np.cumsum([0, *(len(line) + 1 for line in lines)])
    places: list[Place] = []
    for start, end in spans:
        index = int(np.searchsorted(starts, start, side="right")) - 1
        line_start = int(starts[index])
        line_length = len(lines[index])
        places.append(Place(index + 1, start - line_start, min(end - line_start, line_length)))
    return tuple(places)


def _result(ranking: Ranking, ranked: Ranked, *, has_vector: bool) -> ResultRow:
    evidence, row = ranking.evidence, ranked.row
    return ResultRow(
        row=row,
        path=evidence.paths[row],
        title=safe_line(evidence.titles[row]) or safe_line(evidence.paths[row]),
        date=safe_line(evidence.dates[row]),
        rank=ranked.rank,
        score=ranked.score,
        document_part=ranked.document_part,
        entity_part=ranked.entity_part,
        reranker_part=ranked.reranker_part,
        known_item=ranked.known_item,
        has_vector=has_vector,
    )

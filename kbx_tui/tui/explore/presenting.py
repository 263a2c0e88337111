"""Turns engine results into the plain values the explore screen shows.

Pure. Imports numpy, so modules needed for the first paint import it late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from kbx_tui.formatting import format_score, format_size, join_limited
from kbx_tui.knowledge.records import Fact
from kbx_tui.safe_text import safe_line, safe_lines
from kbx_tui.search.browse import EntityCard
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.ranking.rank import Ranked, Ranking
from kbx_tui.search.results.notes import (
    asks_for_experts,
    few_answers_note,
    find_few_answers,
    not_dates_notes,
    reranker_failure,
    unknown_names_notes,
)
from kbx_tui.search.results.order import in_order
from kbx_tui.search.results.response import Snippet
from kbx_tui.tui.explore.chips import left_out_words, mode_words, signal_words
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.explore.view import (
    EXPERTS_KEY,
    CardDocument,
    CardFact,
    CardItem,
    CardView,
    DatesView,
    EntityRow,
    ExploreView,
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


def present(ranking: Ranking, state: SearchState, alpha_note: str = "") -> ExploreView:
    """Return what the screen shows of `ranking`."""
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
        filters=tuple(safe_line(str(typed)) for typed in evidence.scope.typed),
        dates=_dates(evidence, state),
        gated=_gated(ranking),
    )


def _gated(ranking: Ranking) -> int:
    """Return how many documents match and are left out for want of a link."""
    if not (ranking.kept and ranking.tuning.gate == "hard"):
        return 0
    return int(np.count_nonzero((ranking.blended > 0.0) & ~ranking.included))


def _note(ranking: Ranking) -> str:
    """Return what to know about the answer first; empty if there is nothing to say."""
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
    """Return the spans of the text of a snippet that show these lines of its file."""
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
    shown = with_passages(inline, _passages(inline, read_passage))
    lines = shown.text.lines
    start, end = (snippet.line_start, snippet.line_end) if snippet is not None else (0, 0)
    places = _places(lines, find_matches("\n".join(lines)))
    return Preview(
        path=document.path,
        title=safe_line(document.title),
        date=safe_line(document.date),
        kind=safe_line(document.kind),
        lines=lines,
        line_start=shown.shown_line(start),
        line_end=shown.shown_line(end),
        matches=tuple(place for place in places if shown.is_own(place.line)),
        links=shown.text.links,
        redacted=shown.redacted | {shown.shown_line(line) for line in document.redacted_lines},
        kinds=shown.text.kinds,
        emphasis=shown.text.emphasis,
        file_lines=shown.file_lines,
        front_summary=front_summary(document.text, inline.kinds),
    )


def _passages(
    text: InlineText, read_passage: Callable[[str], Passage | None]
) -> dict[int, list[Passage]]:
    """Return the passages of the notes embedded in a text, by 1-based line."""
    passages: dict[int, list[Passage]] = {}
    embeds = [link for link in text.links if link.is_embed]
    for link in embeds[:MOST_EMBEDS]:
        if (passage := read_passage(link.target)) is not None:
            passages.setdefault(link.place.line, []).append(passage)
    return passages


def present_card(
    card: EntityCard, is_redacted: Callable[[str], bool] = lambda text: False
) -> CardView:
    """Return an entity card without control characters.

    `is_redacted` returns whether a text stands only in what the page of the entity redacts.
    """
    return CardView(
        id=card.id,
        name=safe_line(card.name),
        type=safe_line(card.type),
        path=card.path,
        role=safe_line(card.role),
        team=safe_line(card.team),
        aliases=tuple(map(safe_line, card.aliases)),
        facts=tuple(
            CardFact(
                safe_line(fact.text),
                safe_line(fact.date),
                _status(fact),
                tuple(safe_line(source) for source in fact.sources if source != card.path),
            )
            for fact in card.facts
        ),
        open_items=tuple(
            CardItem(safe_line(item.text), safe_line(item.date), item.done, _status(item))
            for item in card.open_items
        ),
        redacted=frozenset(
            safe_line(text) for text in (card.role, card.team) if text and is_redacted(text)
        ),
        documents=tuple(
            CardDocument(
                document.path,
                safe_line(document.title) or safe_line(document.path),
                safe_line(document.date),
                safe_line(document.kind),
                safe_line(document.reason),
            )
            for document in card.documents
        ),
    )


def _status(fact: Fact) -> str:
    return "" if fact.status == "active" else safe_line(fact.status)


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

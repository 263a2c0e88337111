"""From a ranking to what the explore screen shows. Pure; imports numpy, so only loaded late."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kbx_tui.formatting import score_text
from kbx_tui.safe_text import visible, visible_lines
from kbx_tui.search.browsing.card import EntityCard
from kbx_tui.search.ranking.rank import Ranked, Ranking
from kbx_tui.search.results.response import Snippet
from kbx_tui.tui.engine.engine import DocumentText
from kbx_tui.tui.explore.search_labels import mode_words, signal_words
from kbx_tui.tui.explore.search_state import Asking
from kbx_tui.tui.explore.view import (
    CardDocument,
    CardFact,
    CardItem,
    CardView,
    EntityRow,
    ExploreView,
    Place,
    Preview,
    ResultRow,
    ScopeView,
    SnippetView,
)
from kbx_tui.tui.reading.markdown_lines import find_links

LIMIT = 200
"""Results that are shown; nobody scrolls further, and every slider move draws them anew."""
NEWEST_OF = 50
"""Sorted by date, this many of the best are shown: of weak results the newest is no answer."""
FIRST = 10
"""The results whose order is looked at for the next change."""


def present(ranking: Ranking, asking: Asking, alpha_note: str = "") -> ExploreView:
    """Return the screen for `ranking`."""
    evidence = ranking.evidence
    kept = set(ranking.kept)
    matched = int(np.count_nonzero(ranking.included))
    by_date = asking.sort == "date"
    results = [_result(ranking, ranked) for ranked in ranking.top(NEWEST_OF if by_date else LIMIT)]
    if by_date:
        results.sort(key=lambda result: result.date, reverse=True)
    order = f"the best {len(results)}, newest first" if by_date else ""
    return ExploreView(
        query=evidence.query,
        mode=mode_words(ranking),
        threshold=asking.threshold,
        entities=tuple(
            EntityRow(
                id=entity.id,
                name=visible(entity.name),
                type=visible(entity.type),
                path=entity.path,
                score=entity.score,
                kept=index in kept,
                signals=signal_words(entity.signals),
                muted=entity.id in asking.muted,
                pinned=entity.id in asking.pinned,
            )
            for index, entity in enumerate(evidence.entities)
        ),
        results=tuple(results),
        matched=matched,
        scope=ScopeView(
            visible(evidence.scope.path), evidence.scope.in_scope, evidence.scope.total
        ),
        order=order,
        alpha_note=alpha_note,
    )


def next_change_words(below: float | None, above: float | None, alpha: float) -> str:
    """Return at which alphas the first results change places; not at the ends, nor right here."""
    below = below if below is not None and 0.005 <= below < alpha - 0.005 else None
    above = above if above is not None and alpha + 0.005 < above < 0.995 else None
    if below is not None and above is not None:
        return f"next changes at {score_text(below)} and {score_text(above)}"
    change = below if below is not None else above
    return "" if change is None else f"next change at {score_text(change)}"


def present_snippet(snippet: Snippet) -> SnippetView:
    """Return `snippet` with nothing in it that acts on a terminal."""
    text, matches = "", []
    at = 0
    for start, end in snippet.matches:  # cleaned piece by piece: spans move with the text
        text += visible(snippet.text[at:start])
        matched = visible(snippet.text[start:end])
        matches.append((len(text), len(text) + len(matched)))
        text, at = text + matched, end
    text += visible(snippet.text[at:])
    return SnippetView(
        text=text,
        matches=tuple(matches),
        heading=visible(snippet.heading),
        line_start=snippet.line_start,
        line_end=snippet.line_end,
        terms=tuple((visible(term), count) for term, count in snippet.terms),
    )


def present_document(
    document: DocumentText,
    place: SnippetView | None,
    find_matches: Callable[[str], Sequence[tuple[int, int]]],
) -> Preview:
    """Return a document with nothing in it that acts on a terminal.

    `find_matches` returns where in a text the words of the query stand.
    """
    lines, links = find_links(visible_lines(document.text))
    start, end = (place.line_start, place.line_end) if place is not None else (0, 0)
    return Preview(
        path=document.path,
        title=visible(document.title),
        date=visible(document.date),
        kind=visible(document.kind),
        lines=lines,
        line_start=start,
        line_end=end,
        matches=_places(lines, find_matches("\n".join(lines))),
        links=links,
    )


def present_card(card: EntityCard) -> CardView:
    """Return an entity with nothing in it that acts on a terminal."""
    return CardView(
        id=card.id,
        name=visible(card.name),
        type=visible(card.type),
        path=card.path,
        role=visible(card.role),
        team=visible(card.team),
        aliases=tuple(map(visible, card.aliases)),
        facts=tuple(
            CardFact(
                visible(fact.text),
                visible(fact.date),
                "" if fact.status == "active" else visible(fact.status),
                tuple(visible(source) for source in fact.sources if source != card.path),
            )
            for fact in card.facts
        ),
        open_items=tuple(
            CardItem(visible(item.text), visible(item.date), item.done) for item in card.open_items
        ),
        documents=tuple(
            CardDocument(
                one.path,
                visible(one.title) or visible(one.path),
                visible(one.date),
                visible(one.kind),
                visible(one.reason),
            )
            for one in card.documents
        ),
    )


def _places(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> tuple[Place, ...]:
    """Return spans of the lines, joined with line breaks, as places in them."""
    starts = np.cumsum([0, *(len(line) + 1 for line in lines)])
    places: list[Place] = []
    for start, end in spans:
        at = int(np.searchsorted(starts, start, side="right")) - 1
        begin = int(starts[at])
        places.append(Place(at + 1, start - begin, min(end - begin, len(lines[at]))))
    return tuple(places)


def _result(ranking: Ranking, ranked: Ranked) -> ResultRow:
    evidence, row = ranking.evidence, ranked.row
    return ResultRow(
        row=row,
        path=evidence.paths[row],
        title=visible(evidence.titles[row]) or visible(evidence.paths[row]),
        date=visible(evidence.dates[row]),
        rank=ranked.rank,
        score=ranked.score,
        document_part=ranked.document_part,
        entity_part=ranked.entity_part,
        exact=ranked.exact,
    )

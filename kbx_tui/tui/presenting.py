"""From a ranking to what the explore screen shows. Pure; imports numpy, so only loaded late."""

from __future__ import annotations

import numpy as np

from kbx_tui.plain_text import visible
from kbx_tui.search.ranking import Ranked, Ranking
from kbx_tui.search.response import Snippet
from kbx_tui.search.tuning import Tuning
from kbx_tui.tui.view import EntityRow, ExploreView, Knobs, ResultRow, SnippetView
from kbx_tui.tui.wording import mode_words, signal_words

LIMIT = 200
"""Results that are shown; nobody scrolls further, and every slider move draws them anew."""


def present(ranking: Ranking, alpha_note: str = "") -> ExploreView:
    """Return the screen for `ranking`."""
    evidence = ranking.evidence
    kept = set(ranking.kept)
    return ExploreView(
        query=evidence.query,
        mode=mode_words(ranking),
        knobs=knobs_of(ranking.tuning),
        entities=tuple(
            EntityRow(
                id=entity.id,
                name=visible(entity.name),
                type=visible(entity.type),
                path=entity.path,
                score=entity.score,
                kept=index in kept,
                signals=signal_words(entity.signals),
            )
            for index, entity in enumerate(evidence.entities)
        ),
        results=tuple(_result(ranking, ranked) for ranked in ranking.top(LIMIT)),
        matched=int(np.count_nonzero(ranking.included)),
        in_scope=evidence.scope.in_scope,
        alpha_note=alpha_note,
    )


def knobs_of(tuning: Tuning) -> Knobs:
    """Return the knobs a person can see."""
    return Knobs(tuning.alpha, tuning.entity_threshold, tuning.hierarchy)


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

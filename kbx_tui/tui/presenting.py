"""From a ranking to what the explore screen shows. Pure; imports numpy, so only loaded late."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kbx_tui.plain_text import visible
from kbx_tui.search.ranking import Ranked, Ranking, rank
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


def alpha_note(ranking: Ranking) -> str:
    """Return why no alpha changes the order of the results; empty when some does.

    Scores are linear in alpha: two documents in the same order at both ends are in that order
    everywhere between.
    """
    if ranking.search_mode == "flat":
        return "alpha has no effect on a flat search"
    evidence, tuning = ranking.evidence, ranking.tuning
    ends = [rank(evidence, replace(tuning, alpha=alpha)) for alpha in (0.0, 1.0)]
    orders = [[ranked.row for ranked in end.top(LIMIT)] for end in ends]
    if orders[0] != orders[1] or not np.array_equal(ends[0].included, ends[1].included):
        return ""
    parents = ranking.parent_entity_score[ranking.included]
    if np.ptp(parents) == 0.0:
        return "alpha has no effect: all results are linked equally"
    return "alpha has no effect: document and entity agree on the order"


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

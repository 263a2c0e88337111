"""Turns two rankings of one query into what the compare screen shows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest

from kbx_tui.safe_text import safe_line
from kbx_tui.search.comparing.comparison import Comparison, RankChange
from kbx_tui.search.ranking.rank import Ranked, Ranking
from kbx_tui.tui.comparing.view import ComparedResult, CompareView, RankRow, Reason
from kbx_tui.tui.drawing.rank_moves import move_text


def present_comparison(
    before: Ranking, after: Ranking, comparison: Comparison, settings: tuple[str, str]
) -> CompareView:
    """Return what the screen shows; `settings` are those of A and B in words."""
    moves = {change.path: move_text(change.distance).strip() for change in comparison.kept}
    moves |= {change.path: "lost" for change in comparison.lost}
    moves |= {change.path: "new" for change in comparison.gained}
    columns = zip_longest(
        (_result(before, ranked, moves) for ranked in comparison.before),
        (_result(after, ranked, moves) for ranked in comparison.after),
    )
    return CompareView(
        query=safe_line(after.evidence.query),
        before=settings[0],
        after=settings[1],
        rows=tuple(RankRow(rank, *pair) for rank, pair in enumerate(columns, 1)),
        lost=tuple(map(_reason, comparison.lost)),
        gained=tuple(map(_reason, comparison.gained)),
        moved=len(comparison.moved),
    )


def _result(ranking: Ranking, ranked: Ranked, moves: Mapping[str, str]) -> ComparedResult:
    path = ranking.evidence.paths[ranked.row]
    known_item = bool(ranked.known_item)  # shown first, as if the document scored 1
    return ComparedResult(
        path=path,
        title=safe_line(ranking.evidence.titles[ranked.row]) or safe_line(path),
        score=ranked.score,
        document_part=1.0 if known_item else ranked.document_part,
        entity_part=0.0 if known_item else ranked.entity_part,
        move=moves[path],
    )


def _reason(change: RankChange) -> Reason:
    before, after = (rank or "none" for rank in (change.before, change.after))
    title = safe_line(change.title) or safe_line(change.path)
    return Reason(title, f"{before} to {after}", safe_line(change.reason))

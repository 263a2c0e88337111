"""Turns the engine's answer to why not into what the box shows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kbx_tui.formatting import format_count, join_limited
from kbx_tui.safe_text import safe_line
from kbx_tui.search.comparing.change_effects import ChangeEffect, change_effects
from kbx_tui.search.comparing.comparison import RankChange
from kbx_tui.search.comparing.score_parts import explain_pair
from kbx_tui.search.comparing.why_not import Change, WhyNot
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.why_not.view import ActionRow, AnswerView

NAMES = 3
"""Documents lost that are listed by title."""


def present_answer(
    answer: WhyNot, state: SearchState, defaults: SearchState, result_rank: int | None
) -> AnswerView:
    """Return what the box shows; `result_rank` is the rank among the results on the screen."""
    rows = [_change_row(effect, state) for effect in change_effects(answer)]
    # The seed has a gate and a parent score of its own, which the app cannot change.
    rows = [row for row in rows if replace(state, **row.changes).request() != state.request()]
    if rows:
        heading = f"What brings it into the first {answer.limit}, the smallest change first"
    elif answer.stage == "shown":
        heading = ""
    else:
        heading = f"No single change brings it into the first {answer.limit}"
    if result_rank is not None:
        rows.append(ActionRow("go", f"go to it: number {result_rank} of the results"))
    rows.append(ActionRow("read", "read it"))
    standing = answer.standing
    return AnswerView(
        path=answer.path,
        title=safe_line(answer.title) or safe_line(answer.path),
        standing=standing[0].upper() + standing[1:],
        reason=_reason(answer, state, defaults),
        heading=heading,
        actions=tuple(rows),
    )


def read_only(path: str, title: str) -> AnswerView:
    """Return what the box shows of a document while there is no query."""
    standing = "There is no query: type one to ask why a document is not among its results"
    return AnswerView(path, title, standing, "", "", (ActionRow("read", "read it"),))


def state_changes(change: Change, state: SearchState) -> Mapping[str, Any]:
    """Return the fields of the search state that a change sets."""
    value = change.value
    match change.dimension:
        case "hierarchy":
            return {"mode": "two-pass" if value else "flat"}
        case "fast":
            return {"mode": "flat"}  # a fast search has no entities either
        case "pinned":
            return {"pinned": state.pinned | set(value)}
        case "path" | "since" | "until":
            return {change.dimension: value or ""}
    return {change.dimension: value}


def _reason(answer: WhyNot, state: SearchState, defaults: SearchState) -> str:
    muted = [each.name for each in answer.ranking.evidence.entities if each.id in state.muted]
    names = safe_line(f"Muted for this query: {join_limited(muted, limit=NAMES)}") if muted else ""
    return " · ".join(filter(None, (_main_reason(answer, state, defaults), names)))


def _main_reason(answer: WhyNot, state: SearchState, defaults: SearchState) -> str:
    if answer.path in answer.ranking.evidence.scope.muted_documents:
        return "The Index mode lists what is muted, and leaves it in again"
    if answer.stage == "filtered":
        only = f"searching only {state.path}" if state.path else ""
        dates = "only documents of the time asked for" if state.dates == "filter" else ""
        return safe_line(" · ".join(filter(None, (only, state.extra_words(defaults), dates))))
    if answer.stage != "ranked" or answer.needed is None:
        return ""
    ranking, last = answer.ranking, int(answer.ranking.best(answer.limit)[-1])
    pair = explain_pair(ranking, last, ranking.evidence.paths.index(answer.path))
    title = safe_line(ranking.evidence.titles[last])
    return pair.text(f"Number {answer.limit}, {title},", "it")


def _change_row(effect: ChangeEffect, state: SearchState) -> ActionRow:
    change, comparison = effect.change, effect.comparison
    lost, moved = len(comparison.lost), len(comparison.moved)
    counts = [f"{lost} lost" if lost else "", f"{moved} move" if moved else ""]
    return ActionRow(
        "apply",
        safe_line(change.text),
        rank=change.rank,
        effect=", ".join(filter(None, counts)) or "nothing else changes",
        detail=_detail(change.rank, comparison.lost, moved),
        changes=state_changes(change, state),
    )


def _detail(rank: int, lost: Sequence[RankChange], moved: int) -> str:
    titles = [safe_line(change.title) for change in lost]
    names = f"loses {join_limited(titles, limit=NAMES)}" if titles else "loses nothing"
    moves = f"; {format_count(moved, 'other')} {'moves' if moved == 1 else 'move'}" if moved else ""
    return f"It becomes number {rank}. The first page {names}{moves}."

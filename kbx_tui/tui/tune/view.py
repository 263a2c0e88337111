"""What the tune mode shows of judged queries and past queries. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count, format_percent, format_score
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.judging.live_measure import EQUAL
from kbx_tui.tui.judging.preference_step import vote_words

if TYPE_CHECKING:
    from kbx_tui.evaluation.judgments import JudgedQuery
    from kbx_tui.evaluation.preferences.preference import Votes
    from kbx_tui.tui.judging.live_measure import LiveMeasure

Count = Mapping[int | None, int]
"""Number of documents by grade, None for not sure."""


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A judged query, and what its results are worth under A and now."""

    query: str
    text: str
    """The query without control characters."""
    counts: Count
    start: float | None
    """nDCG@10 under A; None if it is not measured."""
    now: float | None

    @property
    def sign(self) -> str:
        """`▲` if it is answered better than under A, `▼` if worse, else a blank."""
        if self.start is None or self.now is None or abs(self.now - self.start) <= EQUAL:
            return " "
        return "▲" if self.now > self.start else "▼"


def query_rows(queries: Sequence[JudgedQuery], measure: LiveMeasure | None) -> tuple[QueryRow, ...]:
    """Return a row for each judged query, in their order."""
    figures: dict[str, tuple[float, float]] = {}
    if measure is not None:
        texts = (query.text for query in measure.queries)
        figures = dict(zip(texts, zip(measure.start, measure.now, strict=True), strict=True))
    rows = []
    for query in queries:
        counts: Counter[int | None] = Counter(query.grades.values())
        counts[None] = len(query.unsure)
        start, now = figures.get(query.text, (None, None))
        rows.append(QueryRow(query.text, safe_line(query.text), counts, start, now))
    return tuple(rows)


def title_words(
    count: int, measure: LiveMeasure | None, interval: Sequence[float]
) -> tuple[str, ...]:
    """Return `12 judged queries · nDCG@10 .69 (.61 to .77) · judged@10 92 %`, the longest first."""
    judged = format_count(count, "judged query")
    if measure is None:
        return (judged if count else "Judged queries",)
    mean = f"nDCG@10 {format_score(fmean(measure.now))}"
    between = f"{mean} ({' to '.join(map(format_score, interval))})" if interval else mean
    share = f"judged@10 {format_percent(fmean(measure.judged))}"
    return (
        f"{judged} · {between} · {share}",
        f"{count:,} · {between} · {share}",
        f"{between} · {share}",
        f"{mean} · {share}",
        mean,
    )


def comparison_words(
    measure: LiveMeasure | None, votes: Votes | None, save_key: str = ""
) -> tuple[str, ...]:
    """Return `vs A: 2 better, 1 worse, 9 same · preferred ...`, the longest first.

    Where A is the current setting, says so; else names `save_key`, if the settings can be saved.
    """
    preferred = vote_words(votes) if votes is not None else ()
    if measure is None:
        return (*preferred, "")
    if measure.current == measure.pinned:
        return ("the current settings are A",)
    same = len(measure.queries) - measure.better - measure.worse
    words = f"vs A: {measure.better} better, {measure.worse} worse, {same} same"
    saves = (f"{words} · {save_key} saves",) if save_key else ()
    return (*(f"{words} · {each}" for each in preferred), *saves, words)

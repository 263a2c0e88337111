"""A question: two result lists of one query in random order, without the names of their settings.

Loads the engine's ranking; called on the engine's thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from kbx_tui.evaluation.judgment_log import knobs_of
from kbx_tui.evaluation.preferences.preference import (
    DEPTH,
    Preference,
    ShownList,
    preference_key,
)
from kbx_tui.safe_text import safe_line
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.response import Snippet
from kbx_tui.tui.explore.documents.snippet_reader import read_snippets

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.evidence.tuning import Tuning


@dataclass(frozen=True, slots=True)
class ShownResult:
    """One result of a list."""

    title: str
    date: str
    snippet: Snippet | None
    is_same: bool
    """Whether the other list has the same document at this rank."""


@dataclass(frozen=True, slots=True)
class Question:
    """Two lists to choose from."""

    query: str
    text: str
    """The query without control characters."""
    first: ShownList
    second: ShownList
    first_results: tuple[ShownResult, ...]
    second_results: tuple[ShownResult, ...]


def ask(
    engine: KnowledgeBase,
    query: str,
    settings: tuple[Tuning, Tuning],
    given: Sequence[Preference],
    random: Random,
) -> Question | None:
    """Return the question of a query; None where both lists are equal, or one is preferred."""
    found: dict[str, Evidence] = {}
    lists = []
    for tuning in settings:
        if tuning.preset not in found:
            found[tuning.preset] = engine.retrieve(SearchRequest(query, preset=tuning.preset))
        paths = engine.rank(found[tuning.preset], tuning).best_paths(DEPTH)
        lists.append((ShownList(paths, knobs_of(tuning)), found[tuning.preset]))
    (of_a, _), (of_b, _) = lists
    if of_a.paths == of_b.paths:
        return None
    if preference_key(query, (of_a.paths, of_b.paths)) in {one.key for one in given}:
        return None
    random.shuffle(lists)
    (first, first_evidence), (second, second_evidence) = lists
    return Question(
        query,
        safe_line(query),
        first,
        second,
        _results(engine, first_evidence, first, second),
        _results(engine, second_evidence, second, first),
    )


def _results(
    engine: KnowledgeBase, evidence: Evidence, shown: ShownList, other: ShownList
) -> tuple[ShownResult, ...]:
    snippets = read_snippets(engine, evidence, shown.paths)
    results = []
    for rank, path in enumerate(shown.paths):
        row = evidence.paths.index(path)
        title = safe_line(evidence.titles[row]) or safe_line(path)
        is_same = other.paths[rank : rank + 1] == (path,)
        date = safe_line(evidence.dates[row] or "")
        results.append(ShownResult(title, date, snippets.get(path), is_same))
    return tuple(results)

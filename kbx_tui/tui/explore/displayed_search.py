"""The answer that is shown: one evidence, ranked as the knobs say. No I/O, on the event loop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from kbx_tui.safe_text import visible
from kbx_tui.tui.engine.engine import Engine
from kbx_tui.tui.explore.search_state import Asking
from kbx_tui.tui.explore.view import ExploreView, ResultRow, SnippetView, Why

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.evidence.tuning import Tuning
    from kbx_tui.search.ranking.rank import Ranking


class Shown:
    """Evidence, its ranking, and what was read for it."""

    def __init__(self) -> None:
        self.evidence: Evidence | None = None
        self.ranking: Ranking | None = None
        self.asked: Asking | None = None
        """What the evidence was retrieved for."""
        self.snippets: dict[str, SnippetView] = {}
        """By path."""
        self.snippets_asked: set[str] = set()

    def forget(self) -> None:
        """Nothing is asked any more."""
        self.evidence = self.ranking = self.asked = None

    def take(self, asked: Asking, evidence: Evidence) -> None:
        """Show this evidence from now on."""
        if self.evidence is None or self.evidence.query != evidence.query:
            self.snippets = {}
        self.snippets_asked = set(self.snippets)  # those of the evidence before may never come
        self.evidence, self.asked = evidence, asked

    def forget_snippets(self, paths: Iterable[str]) -> None:
        """The files at these paths changed."""
        for path in paths:
            self.snippets.pop(path, None)
            self.snippets_asked.discard(path)

    def answers(self, asking: Asking) -> bool:
        """Tell whether ranking is enough: the evidence holds all that is asked for."""
        if self.evidence is None or self.asked is None:
            return False
        if (self.asked.query, self.asked.path) != (asking.query, asking.path):
            return False
        if (self.asked.mode == "fast") != (asking.mode == "fast"):
            return False
        return asking.pinned <= {entity.id for entity in self.evidence.entities}

    def rank(self, engine: Engine, tuning: Tuning, asking: Asking) -> ExploreView | None:
        """Rank under the knobs of `asking`; None when there is nothing to rank."""
        from kbx_tui.tui.explore import presenting

        if self.evidence is None:
            return None
        tuning = replace(
            tuning,
            hierarchy=asking.mode == "two-pass",
            alpha=asking.alpha,
            entity_threshold=asking.threshold,
            muted=asking.muted,
            pinned=asking.pinned,
        )
        ranking = self.ranking = engine.rank(self.evidence, tuning)
        note = engine.alpha_note(ranking, presenting.LIMIT)
        if not note:
            below, above = engine.next_changes(ranking, presenting.FIRST)
            note = presenting.next_change_words(below, above, asking.alpha)
        return presenting.present(ranking, asking, note)

    def why(self, engine: Engine, result: ResultRow) -> Why | None:
        """Return the reasons for a result; None when the ranking is of other evidence by now."""
        paths = self.ranking.evidence.paths if self.ranking is not None else ()
        if self.ranking is None or paths[result.row : result.row + 1] != (result.path,):
            return None
        from kbx_tui.tui.drawing import rounding

        ranked = self.ranking.ranked(result.row, rank=0)
        return rounding.why(self.ranking, engine.explain(self.ranking, ranked))

    def name_of(self, entity_id: str) -> str:
        """Return the name of an entity, or its id when it is not among those shown."""
        entities = self.evidence.entities if self.evidence is not None else ()
        names = [entity.name for entity in entities if entity.id == entity_id]
        return visible(names[0] if names else entity_id)

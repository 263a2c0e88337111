"""Asking for experts: who or what is known best on a topic."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from kbx_tui.api.opened import well_formed
from kbx_tui.api.searching import Searching
from kbx_tui.errors import OutOfRange

if TYPE_CHECKING:
    from kbx_tui.experts.expert_engine import ExpertEngine
    from kbx_tui.experts.expert_ranking import ExpertRanking


class AskingExperts(Searching):
    """Ranks entities by what is known of them on a topic. Reads only."""

    _expert_engine: ExpertEngine | None = None

    def experts(
        self,
        topic: str,
        limit: int = 10,
        min_claims: int = 1,
        weight: str = "count",
        *,
        half_life_days: float | None = None,
        now: date | None = None,
    ) -> ExpertRanking:
        """Return the entities most is known of on a topic, best first; equal scores by id.

        `weight`: `count` (claims), `recency` (newer ones more, half as much after
        `half_life_days`), `citation` (distinct sources x confidence), `relevance` (documents on the
        topic speak as well); an unknown one counts. Claims are the facts of all pages that hold a
        word of the topic, or are about an entity it names; superseded, archived and redacted ones
        count nowhere. `now` is the day ages are counted from. Makes the fast part of the index if
        there is none. Raises ConfigError (empty topic), OutOfRange, IndexFault and EmbeddingError.
        """
        from kbx_tui.experts.weights import known_weight

        given = half_life_days
        half_life = self.settings.experts.half_life_days if given is None else given
        if not half_life > 0.0:
            raise OutOfRange(f"half_life_days must be above 0, got {half_life}")
        if not self.is_indexed():
            self._notice(f"{self.root} is not indexed yet; indexing its text first")
            self.index(fast=True)
        self._keep_fresh()
        return self._experts().rank(
            well_formed(topic),
            known_weight(weight),
            limit=limit,
            min_claims=min_claims,
            now=now or datetime.now(UTC).date(),
            half_life_days=half_life,
        )

    def close(self) -> None:
        """Let go of model, tables and memory; the base may be used again."""
        self._expert_engine = None
        super().close()

    def _experts(self) -> ExpertEngine:
        if self._expert_engine is None:
            from kbx_tui.experts.expert_engine import ExpertEngine

            self._expert_engine = ExpertEngine(self._open_index(), self.root, self.retrieve)
        return self._expert_engine

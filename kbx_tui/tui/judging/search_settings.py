"""The settings of a search that are compared and measured. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kbx_tui.formatting import format_score
from kbx_tui.search.evidence.tuning import Tuning


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Knobs, and whether the search is by words only; nothing that holds for one query."""

    tuning: Tuning
    """Without muted and pinned entities."""
    is_fast: bool = False

    def words(self) -> str:
        """Return them in words: `two-pass, alpha .50, threshold .50`."""
        if self.is_fast:
            return "fast"
        if not self.tuning.hierarchy:
            return "flat"
        seed = ", ranking of the seed" if self.tuning.preset == "seed" else ""
        alpha, threshold = format_score(self.tuning.alpha), self.tuning.entity_threshold
        others = "".join(f", {words}" for words in self._other_knobs())
        return f"two-pass, alpha {alpha}, threshold {format_score(threshold)}{seed}{others}"

    def _other_knobs(self) -> Iterator[str]:
        """Yield the knobs that are seldom changed, where they differ from the usual."""
        usual = Tuning.seed() if self.tuning.preset == "seed" else Tuning()
        if self.tuning.max_entities != usual.max_entities:
            yield f"{self.tuning.max_entities} entities kept"
        if self.tuning.gate != usual.gate:
            yield f"{self.tuning.gate} gate"
        if self.tuning.parent != usual.parent:
            yield f"parent score {self.tuning.parent}"
        if self.tuning.hotness_weight != usual.hotness_weight:
            yield f"openings {format_score(self.tuning.hotness_weight)}"

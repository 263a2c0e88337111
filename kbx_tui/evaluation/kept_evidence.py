"""The Evidence of queries, compact, until the index has another generation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kbx_tui.evaluation.judged_evidence import Progress
from kbx_tui.search.evidence.compact import EvidenceCompactor
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Preset

LIMIT = 256 * 1024 * 1024
"""Bytes of memory for the Evidence of one preset, unless a caller says otherwise."""


class KeptEvidence:
    """Retrieves each query once for each preset. To rank, not to explain (`compact`)."""

    def __init__(self, retrieve: Callable[[str, Preset], Evidence]) -> None:
        """`retrieve` searches for a query with a preset."""
        self._retrieve = retrieve
        self._kept: dict[Preset, tuple[int, dict[str, Evidence]]] = {}
        """By preset, the generation of the index with the Evidence by query."""

    def read(
        self,
        queries: Sequence[str],
        preset: Preset,
        generation: int,
        *,
        limit: int = LIMIT,
        progress: Progress | None = None,
    ) -> dict[str, Evidence]:
        """Return the Evidence of each query, in their order, and forget that of all others.

        `generation` is that of the index. Stops at `limit` bytes, or where `progress` returns True.
        """
        before, known = self._kept.get(preset, (generation, {}))
        if before != generation:
            known = {}
        asked = list(dict.fromkeys(queries))
        compactor, found = EvidenceCompactor(), dict[str, Evidence]()
        for number, text in enumerate(asked):
            if (progress and progress(number, len(asked))) or compactor.bytes >= limit:
                break
            if text not in known:
                known[text] = self._retrieve(text, preset)
            found[text] = known[text] = compactor.compact(known[text])
        self._kept[preset] = generation, {text: known[text] for text in asked if text in known}
        return found

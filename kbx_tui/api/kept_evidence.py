"""The Evidence of queries, compact, until the index has another generation."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.api.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.evaluation.judged_evidence import Progress
from kbx_tui.search.evidence.compact import EvidenceCompactor
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Preset
from kbx_tui.search.request import SearchRequest

LIMIT = 256 * 1024 * 1024
"""Bytes of memory for the Evidence of one preset, unless a caller says otherwise."""


class KeptEvidence:
    """Retrieves each query once for each preset. To rank, not to explain (`compact`)."""

    def __init__(self, session: Session, searcher: Searcher) -> None:
        self._session, self._searcher = session, searcher
        self._kept: dict[Preset, tuple[int, dict[str, Evidence]]] = {}
        """By preset, the generation of the index with the Evidence by query."""

    def read(
        self,
        queries: Sequence[str],
        preset: Preset,
        *,
        limit: int = LIMIT,
        progress: Progress | None = None,
    ) -> dict[str, Evidence]:
        """Return the Evidence of each query, in their order, and forget that of all others.

        Stops at `limit` bytes, and where `progress` returns True.
        """
        self._session.ensure_indexed(fast=False)
        generation = self._session.fresh_index().generation().number
        before, known = self._kept.get(preset, (generation, {}))
        if before != generation:
            known = {}
        asked = list(dict.fromkeys(queries))
        compactor, found = EvidenceCompactor(), dict[str, Evidence]()
        for number, text in enumerate(asked):
            if (progress and progress(number, len(asked))) or compactor.bytes >= limit:
                break
            if text not in known:
                known[text] = self._searcher.retrieve(SearchRequest(text, preset=preset))
            found[text] = known[text] = compactor.compact(known[text])
        self._kept[preset] = generation, {text: known[text] for text in asked if text in known}
        return found

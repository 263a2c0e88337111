"""Evaluating: how good the search is on judged queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.api.searching import Searching
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Tuning

if TYPE_CHECKING:
    from kbx_tui.evaluation.judgments import JudgedQuery
    from kbx_tui.evaluation.measure import Knob, Listener, Mode, Sweep
    from kbx_tui.evaluation.runs import Run


class Evaluating(Searching):
    """Measures over judged queries, and sweeps over a knob."""

    def judgments(self, folder: Path | str | None = None) -> tuple[JudgedQuery, ...]:
        """Return the judged queries of a labelled folder, or the user's own of this base.

        Raises NotFound and ConfigError.
        """
        from kbx_tui.evaluation.judgments import read_judgments, read_own_judgments

        return read_own_judgments(self.root) if folder is None else read_judgments(Path(folder))

    def evaluate(
        self,
        queries: Sequence[JudgedQuery],
        *,
        mode: Mode = "auto",
        preset: str | None = None,
        doc_types: Sequence[str] = (),
        progress: Listener | None = None,
    ) -> Run:
        """Search every judged query and tell how good the results are; indexes first if need be.

        Raises NotFound when no query has a relevant document.
        """
        from kbx_tui.evaluation.measure import measure

        tuning, retrieve = self._evaluating(preset, doc_types, fast=mode == "fast")
        return measure(
            queries,
            retrieve,
            tuning,
            base=self.root.name,
            mode=mode,
            preset=preset or self.settings.search.hierarchy_preset,
            doc_types=doc_types,
            listener=progress,
        )

    def sweep(
        self,
        queries: Sequence[JudgedQuery],
        knob: Knob,
        *,
        preset: str | None = None,
        doc_types: Sequence[str] = (),
        progress: Listener | None = None,
    ) -> Sweep:
        """Rank every judged query under many values of a knob, retrieving once. Raises as above."""
        from kbx_tui.evaluation.measure import sweep

        tuning, retrieve = self._evaluating(preset, doc_types)
        return sweep(queries, retrieve, tuning, knob, listener=progress)

    def _evaluating(
        self, preset: str | None, doc_types: Sequence[str], *, fast: bool = False
    ) -> tuple[Tuning, Callable[[str], Evidence]]:
        if not self.is_indexed():
            self._notice(f"{self.root} is not indexed yet; indexing it first")
            self.index()
        search = self.settings.search
        tuning, off = self.tuning(), None
        if preset == "seed":
            tuning = Tuning.seed(
                alpha=search.hierarchy_alpha, entity_threshold=search.hierarchy_entity_threshold
            )
            off = 0.0  # nothing is drawn, nothing lent
        if not fast:
            self.warm()  # the first query is not slower than the rest
        return tuning, lambda query: self.retrieve(
            query, doc_types=doc_types, fast=fast, feedback=off, parts=off
        )

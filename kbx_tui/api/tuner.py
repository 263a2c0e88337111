"""The knobs of searches: chosen by judged queries, observed on past ones, and written."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace

from kbx_tui.api.file_writer import FileWriter
from kbx_tui.api.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.drafting.drafts import Written
from kbx_tui.evaluation.judged_evidence import JudgedEvidence, KeptEvidence, Progress
from kbx_tui.evaluation.judgments import JudgedQuery, TuningSnapshot, TuningSnapshots, knobs_of, now
from kbx_tui.evaluation.optimise import SETTING_OF, Advice, advise
from kbx_tui.evaluation.past_queries import ThresholdObservatory, observe_thresholds
from kbx_tui.evaluation.runs import ProgressCallback
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import SearchRequest, Tuning

EVIDENCE_BYTES = 512 * 1024 * 1024
"""Memory that the evidence of judged queries takes at most."""
SEED_SETS = frozenset({"hierarchy_gate", "hierarchy_parent"})
"""Settings that the seed preset ignores."""


class Tuner:
    """Measures and changes the knobs of one base; `kb.tuner`."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)
        self._files = FileWriter(session)
        self.snapshots = TuningSnapshots(session.root, session.notice_once)
        """The knobs that the user wants to compare again."""
        self._kept: tuple[Hashable, JudgedEvidence] | None = None
        self._asked = KeptEvidence(
            lambda query, preset: self._searcher.retrieve(SearchRequest(query, preset=preset))
        )

    def judged_evidence(
        self,
        queries: Sequence[JudgedQuery],
        *,
        preset: str | None = None,
        doc_types: Sequence[str] = (),
        limit: int = EVIDENCE_BYTES,
        progress: Progress | None = None,
    ) -> JudgedEvidence:
        """Return the evidence of judged queries, with which any knobs are measured at once.

        It is kept for the next call, until the index has another generation; then only queries that
        are new are retrieved. At most `limit` bytes: `left_out` says how many queries are missing.
        `progress` is called with the number of queries done and the total; True stops.
        """
        generation = self._session.newest_generation()
        request = SearchRequest("", doc_types=doc_types, preset=preset)
        muted = self._session.settings.search.muted_documents
        key = generation, self._searcher.preset(preset), request.doc_types, muted
        known: dict[str, Evidence] = {}
        if self._kept is not None and self._kept[0] == key:
            before = self._kept[1]
            if before.queries == [query for query in queries if query.is_measurable]:
                return before
            known = {
                query.text: found
                for query, found in zip(before.queries, before.evidence, strict=True)
            }

        def retrieve(text: str) -> Evidence:
            if text in known:
                return known[text]
            return self._searcher.retrieve(replace(request, query=text))

        self._kept = None  # two need not fit in memory
        tuning = self._searcher.tuning(preset)
        read = JudgedEvidence.read(
            queries, retrieve, generation, tuning, limit=limit, progress=progress
        )
        if self._session.open_index().generation().number == generation:
            self._kept = key, read
        return read

    def advise(
        self,
        kept: JudgedEvidence,
        current: Tuning | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Advice:
        """Return whether other knobs than `current`, or those of kbx.toml, are better.

        They are offered only if they win on queries that did not choose them. Searches for nothing.
        `progress` is called with the number of searches for the best knobs done and the total; what
        it raises ends the call.
        """
        return advise(kept, current or self._searcher.tuning(), progress=progress)

    def save(self, tuning: Tuning, *, dry_run: bool = False) -> Written:
        """Write knobs to `[search]` of kbx.toml and use them; comments and order stay.

        With `dry_run` only the diff is made. `undo` reverts it. Muted and pinned entities are not
        written. Raises WriteFault, FileChanged and ConfigError.
        """
        search = self._session.settings.search
        knobs = {key: getattr(tuning, knob) for knob, key in SETTING_OF.items()}
        if tuning.preset == "seed":  # stands for its own gate and parent score
            knobs = {key: knobs[key] for key in knobs if key not in SEED_SETS}
        values = {key: value for key, value in knobs.items() if value != getattr(search, key)}
        if tuning.preset != search.hierarchy_preset:
            values["hierarchy_preset"] = tuning.preset
        return self._files.set_settings("search", values, "tune", dry_run=dry_run)

    def mute_documents(self, paths: Collection[str]) -> Written:
        """Leave these documents, and no others, out of every search from now on.

        They are written to `[search]` of kbx.toml, where comments and order stay; `undo` reverts
        it. Raises WriteFault, FileChanged and ConfigError.
        """
        return self._files.set_settings("search", {"muted_documents": sorted(paths)}, "mute")

    def first_results(self, queries: Sequence[str], limit: int = 10) -> list[tuple[str, ...]]:
        """Return the paths of the first results of each query, best first, muted ones included.

        Raises NotFound without an index, IndexFault and EmbeddingError.
        """
        tuning = self._searcher.tuning()
        requests = (SearchRequest(query, muted_documents=()) for query in queries)
        return [
            rank(self._searcher.retrieve(request), tuning).best_paths(limit) for request in requests
        ]

    def observe_thresholds(
        self,
        queries: Sequence[str],
        tuning: Tuning | None = None,
        *,
        limit: int = EVIDENCE_BYTES,
        progress: Progress | None = None,
    ) -> ThresholdObservatory:
        """Return how queries would be answered at each entity threshold.

        Each is retrieved once until the index has another generation. `limit` and `progress` as in
        `judged_evidence`; queries beyond the limit are left out.
        """
        tuning = tuning or self._searcher.tuning()
        generation = self._session.newest_generation()
        found = self._asked.read(queries, tuning.preset, generation, limit=limit, progress=progress)
        return observe_thresholds(list(found.values()), tuning)

    def take_snapshot(self, tuning: Tuning) -> TuningSnapshot:
        """Store knobs with the time, the generation of the index and the embedding model.

        Raises WriteFault.
        """
        session = self._session
        model = session.settings.embedding.model
        snapshot = TuningSnapshot(now(), knobs_of(tuning), session.stored_generation(), model)
        self.snapshots.add(snapshot)
        return snapshot

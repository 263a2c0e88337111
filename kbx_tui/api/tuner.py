"""Tuning: queries with their evidence, kept while the index does not change, and kbx.toml."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace

from kbx_tui.api.file_writer import FileWriter
from kbx_tui.api.searching.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.drafting.plans import Written
from kbx_tui.editing.file_change import read_file
from kbx_tui.evaluation.judged_evidence import JudgedEvidence, Progress
from kbx_tui.evaluation.judgment_log import knobs_of, now
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.kept_evidence import KeptEvidence
from kbx_tui.evaluation.measure import ProgressCallback
from kbx_tui.evaluation.optimise import SETTING_OF, Advice, advise
from kbx_tui.evaluation.preferences.preference import DEPTH, Paths, Preference, Votes, count_votes
from kbx_tui.evaluation.threshold_observatory import ThresholdObservatory, observe_thresholds
from kbx_tui.evaluation.tuning_snapshots import TuningSnapshot, TuningSnapshots
from kbx_tui.index.snapshot import generation_of
from kbx_tui.knowledge.vault import CONFIG_NAME
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Preset, Tuning
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import SearchRequest
from kbx_tui.settings_edit import with_settings

SEED_SETS = frozenset({"hierarchy_gate", "hierarchy_parent"})
"""Settings that the seed preset ignores."""


class Tuner:
    """Measures knobs over a session. `KnowledgeBase` documents the methods."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)
        self.snapshots = TuningSnapshots(session.root, session.notice_once)
        self._kept: tuple[Hashable, JudgedEvidence] | None = None
        self._asked = KeptEvidence(self._retrieve)
        self._preferred = KeptEvidence(self._retrieve)

    def judged_evidence(
        self,
        queries: Sequence[JudgedQuery],
        preset: str | None,
        doc_types: Sequence[str],
        limit: int,
        progress: Progress | None,
    ) -> JudgedEvidence:
        generation = self._generation()
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

    def tune(
        self, kept: JudgedEvidence, current: Tuning | None, progress: ProgressCallback | None
    ) -> Advice:
        return advise(kept, current or self._searcher.tuning(), progress=progress)

    def take_snapshot(self, tuning: Tuning) -> TuningSnapshot:
        session = self._session
        generation = generation_of(session.store().versions()) if session.is_indexed() else None
        model = session.settings.embedding.model
        snapshot = TuningSnapshot(now(), knobs_of(tuning), generation, model)
        self.snapshots.add(snapshot)
        return snapshot

    def observe_thresholds(
        self, queries: Sequence[str], tuning: Tuning, limit: int, progress: Progress | None
    ) -> ThresholdObservatory:
        generation = self._generation()
        found = self._asked.read(queries, tuning.preset, generation, limit=limit, progress=progress)
        return observe_thresholds(list(found.values()), tuning)

    def count_preferences(
        self, preferences: Sequence[Preference], before: Tuning, after: Tuning
    ) -> Votes:
        of_a, of_b = (self._top_lists(preferences, tuning) for tuning in (before, after))
        both = {query: (of_a[query], of_b[query]) for query in of_a if query in of_b}
        return count_votes(preferences, both)

    def _top_lists(self, preferences: Sequence[Preference], tuning: Tuning) -> dict[str, Paths]:
        """Return the first results under a tuning by query, of those with a preference."""
        if not preferences:
            return {}
        queries = [preference.query for preference in preferences]
        found = self._preferred.read(queries, tuning.preset, self._generation())
        return {
            query: rank(evidence, tuning).best_paths(DEPTH) for query, evidence in found.items()
        }

    def _retrieve(self, query: str, preset: Preset) -> Evidence:
        return self._searcher.retrieve(SearchRequest(query, preset=preset))

    def _generation(self) -> int:
        """Return the generation of the newest index, which is made if there is none."""
        self._session.ensure_indexed(fast=False)
        return self._session.fresh_index().generation().number

    def mute_documents(self, paths: Collection[str], files: FileWriter) -> Written:
        before = read_file(self._session.root, CONFIG_NAME)
        after = with_settings(before, "search", {"muted_documents": sorted(paths)})
        return files.write_settings(before, after, "mute", dry_run=False)

    def save_tuning(self, tuning: Tuning, files: FileWriter, *, dry_run: bool) -> Written:
        root, search = self._session.root, self._session.settings.search
        before = read_file(root, CONFIG_NAME)
        knobs = {key: getattr(tuning, knob) for knob, key in SETTING_OF.items()}
        if tuning.preset == "seed":  # stands for its own gate and parent score
            knobs = {key: knobs[key] for key in knobs if key not in SEED_SETS}
        values = {key: value for key, value in knobs.items() if value != getattr(search, key)}
        if tuning.preset != search.hierarchy_preset:
            values["hierarchy_preset"] = tuning.preset
        after = with_settings(before, "search", values) if values else before
        return files.write_settings(before, after, "tune", dry_run=dry_run)

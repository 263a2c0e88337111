"""Judgments and preferences of the user, quality measured by them, and the knobs they favour."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kbx_tui.api.file_writer import FileWriter
from kbx_tui.api.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.drafting.records import Written
from kbx_tui.editing.file_change import read_file
from kbx_tui.errors import NotFound, RerankerError
from kbx_tui.evaluation.blind_preferences import (
    DEPTH,
    Better,
    Paths,
    Preference,
    PreferenceLog,
    ShownList,
    Votes,
    count_votes,
)
from kbx_tui.evaluation.exchange import (
    Format,
    JudgmentImport,
    plan_import,
    read_judgment_file,
    write_judgment_file,
)
from kbx_tui.evaluation.judged_evidence import JudgedEvidence, KeptEvidence, Progress
from kbx_tui.evaluation.judgments import (
    JudgedQuery,
    Judgment,
    JudgmentLog,
    UndoneJudgment,
    judged_queries,
    knobs_of,
    now,
    query_key,
    read_judgments,
)
from kbx_tui.evaluation.optimise import SETTING_OF, Advice, advise
from kbx_tui.evaluation.past_queries import ThresholdObservatory, observe_thresholds
from kbx_tui.evaluation.runs import (
    Knob,
    Mode,
    ProgressCallback,
    Retrieve,
    Run,
    Sweep,
    measure,
    sweep,
)
from kbx_tui.evaluation.tuning_snapshots import TuningSnapshot, TuningSnapshots
from kbx_tui.index.excluded_files import excluded_files
from kbx_tui.index.snapshot import generation_of
from kbx_tui.knowledge.vault import CONFIG_NAME, list_files, locate
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Preset, Tuning
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import SearchRequest
from kbx_tui.settings_file import with_settings
from kbx_tui.state_file import require_writable


class Judging:
    """Stores and reads judgments of a session. `KnowledgeBase` documents the methods."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)
        self._log = JudgmentLog(session.root, session.notice_once)
        self.preferences = PreferenceLog(session.root, session.notice_once)

    def judgments(self, folder: Path | str | None) -> tuple[JudgedQuery, ...]:
        if folder is not None:
            return read_judgments(Path(folder))
        return judged_queries(self._log.read())

    def grades(self, query: str) -> Mapping[str, int | None]:
        key = query_key(query)
        return {
            judgment.path: judgment.grade for judgment in self._log.read() if judgment.query == key
        }

    def judge(self, query: str, path: str, grade: int | None, tuning: Tuning | None) -> Judgment:
        knobs = knobs_of(tuning or self._searcher.tuning(None))
        judgment = Judgment(query, path, grade, now(), knobs, self._generation())
        self._require_document(judgment.path)
        self._log.add([judgment])
        return judgment

    def undo_judgment(self, judgment: Judgment | None) -> UndoneJudgment:
        return self._log.undo(judgment)

    def prefer(self, query: str, first: ShownList, second: ShownList, better: Better) -> Preference:
        preference = Preference(query, first, second, better, now(), self._generation())
        self.preferences.add(preference)
        return preference

    def import_judgments(
        self,
        file: Path | str,
        form: Format | None,
        topics: Path | str | None,
        scale: float | None,
        *,
        replace: bool,
        dry_run: bool,
    ) -> JudgmentImport:
        session = self._session
        graded = read_judgment_file(Path(file), form, Path(topics) if topics else None, scale)
        documents = list_files(session.root, excluded_files(session.root, session.settings.index))
        if dry_run:
            return plan_import(graded, self._log.read(), documents)
        with self._log.locked():
            planned = plan_import(graded, self._log.read(), documents)
            self._log.append(planned.judgments(replace=replace))
        return planned

    def export_judgments(self, file: Path | str, form: Format, topics: Path | str | None) -> int:
        require_writable(self._session.root)
        return write_judgment_file(
            Path(file), form, self._log.read(), Path(topics) if topics else None
        )

    def _require_document(self, path: str) -> None:
        """Raise NotFound if a path names no document on disk."""
        session = self._session
        try:
            locate(session.root, path, excluded_files(session.root, session.settings.index))
        except (OSError, ValueError) as error:
            raise NotFound(
                f"there is no document {path!r}; paths are those that a search lists"
            ) from error

    def _generation(self) -> int | None:
        """Return the generation of the index, None without one."""
        session = self._session
        return generation_of(session.store().versions()) if session.is_indexed() else None


class Evaluator:
    """Runs judged queries over a session. `KnowledgeBase` documents the methods."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)

    def evaluate(
        self,
        queries: Sequence[JudgedQuery],
        mode: Mode,
        preset: str | None,
        doc_types: Sequence[str],
        progress: ProgressCallback | None,
        reranker: str | None,
    ) -> Run:
        def rerank(ranking: Ranking) -> Ranking:
            reranked = self._searcher.rerank(ranking, reranker)
            scores = reranked.evidence.reranker
            if scores is not None and scores.failure:  # other figures than those asked for
                raise RerankerError(scores.failure)
            return reranked

        tuning, retrieve = self._prepare(preset, doc_types, fast=mode == "fast")
        return measure(
            queries,
            retrieve,
            tuning,
            base=self._session.root.name,
            mode=mode,
            preset=self._searcher.preset(preset),
            doc_types=doc_types,
            progress=progress,
            rerank=rerank,
        )

    def sweep(
        self,
        queries: Sequence[JudgedQuery],
        knob: Knob,
        preset: str | None,
        doc_types: Sequence[str],
        progress: ProgressCallback | None,
    ) -> Sweep:
        tuning, retrieve = self._prepare(preset, doc_types)
        return sweep(queries, retrieve, tuning, knob, progress=progress)

    def _prepare(
        self, preset: str | None, doc_types: Sequence[str], *, fast: bool = False
    ) -> tuple[Tuning, Retrieve]:
        """Return knobs and retrieval of a preset, with index and model loaded."""
        self._session.ensure_indexed(fast=False)
        request = SearchRequest("", doc_types=doc_types, fast=fast, preset=preset)
        if not fast:
            self._searcher.warm()  # so that the first query is timed like the others
        tuning = self._searcher.tuning(preset)
        return tuning, lambda query: self._searcher.retrieve(replace(request, query=query))


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

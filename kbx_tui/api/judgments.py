"""Judgments and preferences of the user, the search quality that they measure, and the knobs of
searches: chosen by judged queries, observed on past ones, and written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kbx_tui.api.file_writer import FileWriter
from kbx_tui.api.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.drafting.drafts import Written
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
from kbx_tui.evaluation.judged_evidence import JudgedEvidence, KeptEvidence, Progress, Retrieve
from kbx_tui.evaluation.judgments import (
    JudgedQuery,
    Judgment,
    JudgmentLog,
    TuningSnapshot,
    TuningSnapshots,
    UndoneJudgment,
    judged_queries,
    knobs_of,
    now,
    query_key,
    read_judgments,
)
from kbx_tui.evaluation.optimise import SETTING_OF, Advice, advise
from kbx_tui.evaluation.past_queries import ThresholdObservatory, observe_thresholds
from kbx_tui.evaluation.runs import Knob, Mode, ProgressCallback, Run, Sweep, measure, sweep
from kbx_tui.index.excluded_files import excluded_files
from kbx_tui.knowledge.vault import list_files, locate
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import SearchRequest, Tuning
from kbx_tui.state_file import require_writable


class Judgments:
    """The user's own relevance judgments of one base, and measures by judgments; `kb.judgments`."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)
        self._log = JudgmentLog(session.root, session.notice_once)

    def add(
        self, query: str, path: str, grade: int | None, *, tuning: Tuning | None = None
    ) -> Judgment:
        """Store how relevant a document is for a query; a newer grade of the two counts.

        `grade` is 0 (not relevant) to 3 (just what was wanted), None for not sure. `tuning` is what
        ranked the document, by default that of kbx.toml; it is stored with the generation of the
        index. The grade is on disk when this returns. Raises NotFound for an unknown document,
        OutOfRange for another grade, ConfigError for a blank query, and WriteFault.
        """
        knobs = knobs_of(tuning or self._searcher.tuning())
        judgment = Judgment(query, path, grade, now(), knobs, self._session.stored_generation())
        self._require_document(judgment.path)
        self._log.add([judgment])
        return judgment

    def undo(self, judgment: Judgment | None = None) -> UndoneJudgment:
        """Undo a judgment, by default the last one not undone. Raises WriteFault without one."""
        return self._log.undo(judgment)

    def grades(self, query: str) -> Mapping[str, int | None]:
        """Return the user's grades for a query by path, None for not sure."""
        key = query_key(query)
        return {each.path: each.grade for each in self._log.read() if each.query == key}

    def queries(self, folder: Path | str | None = None) -> tuple[JudgedQuery, ...]:
        """Return the queries judged in a folder, or by the user. Raises NotFound, ConfigError."""
        if folder is not None:
            return read_judgments(Path(folder))
        return judged_queries(self._log.read())

    def import_file(
        self,
        file: Path | str,
        *,
        form: Format | None = None,
        topics: Path | str | None = None,
        scale: float | None = None,
        replace: bool = False,
        dry_run: bool = False,
    ) -> JudgmentImport:
        """Add the judgments of a file of another tool to the user's own, and return what is new.

        `form` is `qrels`, `quepid` or `opensearch`, by default recognised by content; `topics` has
        the texts of the query ids in qrels; `scale` is the highest rating, which is mapped to 3. A
        grade that differs from one given here is a conflict and changes nothing, except with
        `replace`. Raises NotFound, ConfigError and WriteFault; nothing is stored then.
        """
        session = self._session
        graded = read_judgment_file(Path(file), form, Path(topics) if topics else None, scale)
        documents = list_files(session.root, excluded_files(session.root, session.settings.index))
        if dry_run:
            return plan_import(graded, self._log.read(), documents)
        with self._log.locked():
            planned = plan_import(graded, self._log.read(), documents)
            self._log.append(planned.judgments(replace=replace))
        return planned

    def export_file(
        self,
        file: Path | str,
        form: Format = "qrels",
        *,
        topics: Path | str | None = None,
        overwrite: bool = False,
    ) -> int:
        """Write the user's own judgments for another tool and return how many.

        Those that say "not sure" are left out. `topics` names a file for the queries with the ids
        they have in qrels. Raises WriteFault for a file that cannot be written, that exists, unless
        `overwrite`, or that may belong to a base.
        """
        require_writable(self._session.root)
        return write_judgment_file(
            Path(file),
            form,
            self._log.read(),
            Path(topics) if topics else None,
            overwrite=overwrite,
        )

    def evaluate(
        self,
        queries: Sequence[JudgedQuery],
        *,
        mode: Mode = "auto",
        preset: str | None = None,
        doc_types: Sequence[str] = (),
        progress: ProgressCallback | None = None,
        reranker: str | None = None,
    ) -> Run:
        """Return the quality of the results of each judged query; indexes the base first if needed.

        `reranker` as in `KnowledgeBase.rerank`; an empty one leaves out that of kbx.toml. Raises
        NotFound when no query has a relevant document, and RerankerError.
        """

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
        *,
        preset: str | None = None,
        doc_types: Sequence[str] = (),
        progress: ProgressCallback | None = None,
    ) -> Sweep:
        """Return nDCG@10 at many values of a knob, retrieving once per query."""
        tuning, retrieve = self._prepare(preset, doc_types)
        return sweep(queries, retrieve, tuning, knob, progress=progress)

    def _prepare(
        self, preset: str | None, doc_types: Sequence[str], *, fast: bool = False
    ) -> tuple[Tuning, Retrieve]:
        self._session.ensure_indexed(fast=False)
        request = SearchRequest("", doc_types=doc_types, fast=fast, preset=preset)
        if not fast:
            self._searcher.warm()  # so that the first query is timed like the others
        tuning = self._searcher.tuning(preset)
        return tuning, lambda query: self._searcher.retrieve(replace(request, query=query))

    def _require_document(self, path: str) -> None:
        session = self._session
        try:
            locate(session.root, path, excluded_files(session.root, session.settings.index))
        except (OSError, ValueError) as error:
            raise NotFound(
                f"there is no document {path!r}; paths are those that a search lists"
            ) from error


class Preferences:
    """Which of two result lists the user preferred, in one base; `kb.preferences`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._log = PreferenceLog(session.root, session.notice_once)
        searcher = Searcher(session)
        self._kept = KeptEvidence(
            lambda query, preset: searcher.retrieve(SearchRequest(query, preset=preset))
        )

    def add(self, query: str, first: ShownList, second: ShownList, better: Better) -> Preference:
        """Store which of two result lists answers a query better: first, second or neither.

        It is on disk when this returns. Raises ConfigError for a blank query and for lists that do
        not differ, and WriteFault.
        """
        generation = self._session.stored_generation()
        preference = Preference(query, first, second, better, now(), generation)
        self._log.add(preference)
        return preference

    def undo(self, preference: Preference | None = None) -> Preference:
        """Take back a preference, by default the last one. Raises WriteFault without one."""
        return self._log.undo(preference)

    def read(self) -> tuple[Preference, ...]:
        """Return the preferences that count, the oldest first."""
        return self._log.read()

    def count(self, before: Tuning, after: Tuning) -> Votes:
        """Return how often the lists of each of two settings were preferred."""
        preferences = self.read()
        of_a, of_b = (self._top_lists(preferences, tuning) for tuning in (before, after))
        both = {query: (of_a[query], of_b[query]) for query in of_a if query in of_b}
        return count_votes(preferences, both)

    def _top_lists(self, preferences: Sequence[Preference], tuning: Tuning) -> dict[str, Paths]:
        if not preferences:
            return {}
        queries = dict.fromkeys(preference.query for preference in preferences)
        found = self._kept.read(queries, tuning.preset, self._session.newest_generation())
        return {query: rank(each, tuning).best_paths(DEPTH) for query, each in found.items()}


EVIDENCE_BYTES = 512 * 1024 * 1024
"""Memory that the evidence of judged queries takes at most."""
SEED_SETS = frozenset({"hierarchy_gate", "hierarchy_parent"})
"""Settings that the seed preset ignores."""


class Tuner:
    """The knobs of one base: compared on judged queries, and written; `kb.tuner`."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)
        self._files = FileWriter(session)
        self.snapshots = TuningSnapshots(session.root, session.notice_once)
        """The knobs that the user wants to compare again."""

    def judged_evidence(
        self,
        queries: Sequence[JudgedQuery],
        *,
        preset: str | None = None,
        doc_types: Sequence[str] = (),
        limit: int = EVIDENCE_BYTES,
        progress: Progress | None = None,
    ) -> JudgedEvidence:
        """Return the evidence of judged queries, which can measure any knobs without a search.

        It takes at most `limit` bytes: `left_out` says how many queries are missing. `progress` is
        called with the number of queries done and the total; if it returns True, it stops.
        """
        generation = self._session.newest_generation()
        request = SearchRequest("", doc_types=doc_types, preset=preset)
        return JudgedEvidence.read(
            queries,
            lambda text: self._searcher.retrieve(replace(request, query=text)),
            generation,
            self._searcher.tuning(preset),
            limit=limit,
            progress=progress,
        )

    def advise(
        self,
        kept: JudgedEvidence,
        current: Tuning | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Advice:
        """Return whether other knobs do better on queries that were not used to choose them.

        Searches nothing. `current` is by default the tuning of kbx.toml. An exception that
        `progress` raises ends the call.
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
        """Leave these documents, and no others, out of all searches to come. Raises as `save`."""
        return self._files.set_settings("search", {"muted_documents": sorted(paths)}, "mute")

    def first_results(self, queries: Sequence[str], limit: int = 10) -> list[tuple[str, ...]]:
        """Return the paths of the first results of each query, muted ones included."""
        tuning = self._searcher.tuning()
        requests = (SearchRequest(query, muted_documents=()) for query in queries)
        return [rank(self._searcher.retrieve(each), tuning).best_paths(limit) for each in requests]

    def observe_thresholds(
        self,
        queries: Sequence[str],
        tuning: Tuning | None = None,
        *,
        progress: Progress | None = None,
    ) -> ThresholdObservatory:
        """Return how queries would be answered at each entity threshold.

        `progress` as in `judged_evidence`.
        """
        tuning = tuning or self._searcher.tuning()
        self._session.ensure_indexed(fast=False)
        asked = list(dict.fromkeys(queries))

        def found() -> Iterator[Evidence]:
            for number, query in enumerate(asked):
                if progress and progress(number, len(asked)):
                    return
                yield self._searcher.retrieve(SearchRequest(query, preset=tuning.preset))

        return observe_thresholds(found(), tuning)

    def take_snapshot(self, tuning: Tuning) -> TuningSnapshot:
        """Store knobs, time, generation of the index and model. Raises WriteFault."""
        session = self._session
        model = session.settings.embedding.model
        snapshot = TuningSnapshot(now(), knobs_of(tuning), session.stored_generation(), model)
        self.snapshots.add(snapshot)
        return snapshot

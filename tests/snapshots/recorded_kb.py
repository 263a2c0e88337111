"""An engine that answers from files, so that changes of the real one do not change snapshots.

`scripts/record_evidence.py` records the answers of the real engine to the queries of the snapshots.
Ranking, explanations, completion and matching are pure, and run for real.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast, get_args

import msgspec
import numpy as np

from kbx_tui.api import KnowledgeBase
from kbx_tui.api.documents import DocumentView
from kbx_tui.api.session import Notice
from kbx_tui.config import Settings
from kbx_tui.drafting.planning import file_diff
from kbx_tui.drafting.records import Written
from kbx_tui.errors import NotFound
from kbx_tui.evaluation.blind_preferences import Better, Preference, ShownList, Votes, count_votes
from kbx_tui.evaluation.judgments import JudgedQuery, Judgment
from kbx_tui.evaluation.past_queries import ThresholdObservatory, observe_thresholds
from kbx_tui.evaluation.tuning_snapshots import TuningSnapshot
from kbx_tui.experts.expert_ranking import ExpertRanking
from kbx_tui.index.build.progress import IndexReport, Progress
from kbx_tui.index.path_filter import complete
from kbx_tui.knowledge.public_page import PublicPage
from kbx_tui.search.browse import BaseContents, EntityCard
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.name_lookup import DocumentName
from kbx_tui.search.query_history import PastQuery
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.response import Snippet
from kbx_tui.search.why_not import WhyNot, why_not
from kbx_tui.tui.bases import Bases
from tests.snapshots.recorded_review import RecordedDrafts, Review

RECORDED = Path(__file__).parent / "evidence"
MILLISECONDS = 9.0
"""The duration reported for every search."""
DIGITS = 5
"""Decimals kept of a score."""


class Recording(msgspec.Struct):
    """The answer to one question."""

    evidence: Evidence
    snippets: dict[str, Snippet]
    """By path."""


class Base(msgspec.Struct):
    """A knowledge base, apart from its answers."""

    name: str
    documents: int
    entities: int
    vector_share: float
    stale: tuple[str, ...]
    paths: tuple[str, ...]
    texts: dict[str, DocumentView]
    """Documents that are read, by path."""
    cards: dict[str, EntityCard]
    """Entities that are opened, by id."""
    entities_outdated: bool = False


File = TypeVar("File", Recording, Base, Review)
OTHERS = ("base", "review")
"""Files that hold no recording."""

Key = tuple[str, str, bool]
"""Query, path, and whether the search is fast."""


class RecordedKb:
    """Stands in for `KnowledgeBase`."""

    settings = Settings()
    untrusted = ()

    def __init__(self, name: str, *, vector_share: float = 1.0, complete: bool = True) -> None:
        """Load the recordings in `evidence/<name>/`; if not `complete`, indexing comes first."""
        folder = RECORDED / name
        self.base = decode((folder / "base.json").read_bytes(), Base)
        self._review = decode((folder / "review.json").read_bytes(), Review)
        self.documents, self.drafts = RecordedDocuments(self), RecordedDrafts(self._review)
        self.entities = SimpleNamespace(card=self.base.cards.get, find=lambda text, limit=20: ())
        self.links = SimpleNamespace(follow=lambda target, source: None)
        self.queries = SimpleNamespace(asked=lambda: self.past_queries)
        self.judgments = SimpleNamespace(queries=lambda: self.judged, add=self._judge)
        self.preferences = SimpleNamespace(
            read=lambda: self.preferred, add=self._prefer, count=self._count_preferences
        )
        self.tuner = SimpleNamespace(
            save=_changed_alpha,
            observe_thresholds=self._observe_thresholds,
            snapshots=SimpleNamespace(read=lambda: self.snapshots_of_knobs),
        )
        answers = [file for file in sorted(folder.glob("*.json")) if file.stem not in OTHERS]
        self._recordings = {
            key_of(recording.evidence): recording
            for recording in (decode(file.read_bytes(), Recording) for file in answers)
        }
        self.base.vector_share = 1.0 if complete else vector_share
        self._vector_share = vector_share
        self.progress: Progress | None = None
        """Reported once by indexing, which then runs until it is cancelled."""
        self.judged: tuple[JudgedQuery, ...] = ()
        self.preferred: tuple[Preference, ...] = ()
        self.past_queries: tuple[PastQuery, ...] = ()
        self.snapshots_of_knobs: tuple[TuningSnapshot, ...] = ()
        self.fault: Exception | None = None
        """Raised by `retrieve`."""

    @property
    def root(self) -> Path:
        return Path("/home/ida") / self.base.name

    def tuning(self, preset: str | None = None, **changes: Any) -> Tuning:
        return replace(Tuning.seed() if preset == "seed" else Tuning(), **changes)

    def is_indexed(self) -> bool:
        return True

    def status(self) -> Base:
        return self.base

    def contents(self) -> BaseContents:
        kinds = {"meeting": 25, "person": 15, "note": 9, "project": 8, "team": 6}
        queries = ("what did Alice Chen say about Platform?", "what is new about Support?")
        return BaseContents(kinds, dict.fromkeys("abc", 1), queries)

    def index_question(self) -> None:
        return None

    def index(
        self,
        progress: Callable[[Progress], None] | None = None,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        wait: bool = True,
    ) -> IndexReport:
        if self.progress is not None and progress is not None:
            progress(self.progress)
            ended = threading.Event()
            while not cancelled():
                ended.wait(0.01)
        return IndexReport(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (), {}, 0, {}, 1)

    def watch(self, changed: Callable[[frozenset[str]], None], *, stopped: threading.Event) -> None:
        stopped.wait()

    def warm(self) -> None:
        pass

    def _judge(
        self, query: str, path: str, grade: int | None, *, tuning: Tuning | None = None
    ) -> Judgment:
        before = {one.text: one for one in self.judged}
        new = before.get(query) or JudgedQuery(query, query, "judged", {}, frozenset())
        if grade is None:
            new = replace(new, unsure=new.unsure | {path})
        else:
            new = replace(new, grades={**new.grades, path: grade})
        self.judged = tuple((before | {query: new}).values())
        return Judgment(query, path, grade)

    def _prefer(
        self, query: str, first: ShownList, second: ShownList, better: Better
    ) -> Preference:
        self.preferred = (*self.preferred, Preference(query, first, second, better))
        return self.preferred[-1]

    def _count_preferences(self, before: Tuning, after: Tuning) -> Votes:
        lists = {}
        for query in {one.query for one in self.preferred}:
            evidence = self.retrieve(SearchRequest(query))
            of_a, of_b = (rank(evidence, tuning).best_paths(5) for tuning in (before, after))
            lists[query] = of_a, of_b
        return count_votes(self.preferred, lists)

    def why_not(
        self,
        request: SearchRequest,
        path: str,
        limit: int = 10,
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> WhyNot:
        evidence = self.retrieve(request)
        ranking = rank(evidence, self.tuning(alpha=request.alpha or 0.5))
        return why_not(ranking, evidence.paths.index(path), limit)

    def experts(
        self, topic: str, limit: int = 10, min_claims: int = 1, weight: str = "count",
        **options: Any,
    ) -> ExpertRanking:  # fmt: skip
        return self._review.experts[weight]

    def _observe_thresholds(self, queries: Sequence[str], tuning: Tuning) -> ThresholdObservatory:
        found = [self.retrieve(SearchRequest(query)) for query in queries]
        return observe_thresholds(found, tuning)

    def close(self) -> None:
        pass

    def retrieve(self, request: SearchRequest) -> Evidence:
        if self.fault is not None:
            raise self.fault
        fast = request.fast
        evidence = self._recording((request.query, request.path or "", fast)).evidence
        missing = set(request.pinned) - {entity.id for entity in evidence.entities}
        assert not missing, f"{missing} are not recorded"
        return evidence if fast else replace(evidence, vector_share=self._vector_share)

    def rank(self, evidence: Evidence, tuning: Tuning | None = None) -> Ranking:
        return rank(evidence, tuning or self.tuning())

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        recorded = self._recording(key_of(evidence)).snippets
        return tuple(recorded[evidence.paths[row]] for row in rows)

    def reread_settings(self) -> None:
        pass

    def any_evidence(self) -> Evidence:
        return next(iter(self._recordings.values())).evidence

    def _recording(self, key: Key) -> Recording:
        assert key in self._recordings, f"{key} is not recorded: see scripts/record_evidence.py"
        return self._recordings[key]


class RecordedDocuments:
    """Stands in for `kb.documents`."""

    def __init__(self, kb: RecordedKb) -> None:
        self._kb = kb

    def view(self, path: str, *, most: int | None = None) -> DocumentView:
        """Return a recorded text; of a document that was not read, only its path."""
        base = self._kb.base
        if path not in base.paths:
            raise NotFound(f"no document {path} in {self._kb.root}")
        return base.texts.get(path) or DocumentView(path, "", "", "note", f"# {path}\n")

    def find(self, text: str, limit: int = 20) -> tuple[DocumentName, ...]:
        evidence = self._kb.any_evidence()
        words = text.lower().split()
        rows = zip(evidence.paths, evidence.titles, evidence.dates, strict=True)
        found = (
            DocumentName(path, title, date or "", "")
            for path, title, date in rows
            if all(word in f"{title} {path}".lower() for word in words)
        )
        return tuple(islice(found, limit))

    def public_page(self, path: str) -> PublicPage:
        return PublicPage(path, b"", frozenset())

    def is_as_indexed(self, page: PublicPage) -> bool:
        return True

    def is_redacted(self, path: str, text: str) -> bool:
        return False

    def opened(self, path: str) -> None:
        pass

    def complete_path(self, text: str, limit: int = 20) -> tuple[str, ...]:
        return complete(self._kb.base.paths, text, self._kb.root, limit)

    def complete_query(self, query: str) -> str:
        return query

    def count_scope(self, path: str) -> tuple[int, int]:
        base = self._kb.base
        return sum(other.startswith(path) for other in base.paths), base.documents


def _changed_alpha(tuning: Tuning, *, dry_run: bool = False) -> Written:
    after = b"# Settings\n[search]\nhierarchy_alpha = %.2f\n" % tuning.alpha
    diff = file_diff("kbx.toml", b"# Settings\n[search]\n", after)
    return Written(False, "kbx.toml", diff)


class RecordedBases(Bases):
    """Opens the one recorded base."""

    def __init__(self, kb: RecordedKb) -> None:
        self.kb = kb

    def open(self, root: Path, notice: Notice = lambda text: None) -> KnowledgeBase:
        return cast(KnowledgeBase, self.kb)

    def demo(self) -> Path:
        return self.kb.root

    def existing(self, folder: str) -> Path:
        raise NotFound(f"there is no folder {folder}")

    def new(self, folder: str) -> Path:
        return Path(folder)


def key_of(evidence: Evidence) -> Key:
    """Return the query, path and mode for which `evidence` was retrieved."""
    return evidence.query, evidence.scope.path, evidence.fast


def encode(value: Recording | Base | Review) -> bytes:
    """Return a file as JSON, with a line per field or entry."""
    plain = msgspec.json.decode(msgspec.json.encode(value, enc_hook=_plain))
    lines = [f"{_ascii(key)}:{_lines(field)}" for key, field in plain.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def decode(data: bytes, kind: type[File]) -> File:
    """Return the content of a file."""
    return msgspec.json.decode(data, type=kind, dec_hook=_unplain)


def fixed(evidence: Evidence) -> Evidence:
    """Return `evidence` with fixed timings and generation."""
    return replace(evidence, timings={"total": MILLISECONDS}, generation=1)


def _lines(value: Any) -> str:
    if not isinstance(value, dict):
        return _ascii(value)
    return "{\n " + ",\n ".join(f"{_ascii(key)}:{_ascii(value[key])}" for key in value) + "\n}"


def _ascii(value: Any) -> str:
    return json.dumps(
        value, separators=(",", ":")
    )  # escapes control characters for readers of the file


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    assert isinstance(value, np.ndarray), type(value)
    if value.dtype == np.float64:
        return [None if np.isnan(number) else round(float(number), DIGITS) for number in value]
    return value.tolist()


def _unplain(kind: Any, value: Any) -> Any:
    (scalar,) = get_args(get_args(kind)[1])  # of ndarray[shape, dtype[scalar]]
    array = np.array([np.nan if item is None else item for item in value], dtype=scalar)
    array.flags.writeable = False
    return array

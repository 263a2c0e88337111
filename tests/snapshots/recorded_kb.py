"""An engine that answers from files, so that changes of the real one do not change snapshots.

`scripts/record_evidence.py` records the answers of the real engine on the demo. Ranking,
explanations, decisions and word diffs are pure, and run for real.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast, get_args

import msgspec
import numpy as np

from kbx_tui.api import KnowledgeBase
from kbx_tui.api.documents import DocumentView
from kbx_tui.config import Settings
from kbx_tui.drafting.drafts import Draft, DraftCheck, Plan, PlannedFile
from kbx_tui.errors import NotFound
from kbx_tui.evaluation.blind_preferences import count_votes
from kbx_tui.evaluation.judgments import JudgedQuery, TuningSnapshot
from kbx_tui.evaluation.past_queries import ThresholdObservatory, observe_thresholds
from kbx_tui.experts.expert_engine import ExpertRanking
from kbx_tui.index.build.progress import IndexReport
from kbx_tui.knowledge.redaction import PublicPage
from kbx_tui.search.browse import BaseContents, EntityCard
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.name_lookup import DocumentName
from kbx_tui.search.query_history import PastQuery
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import SearchRequest, Tuning
from kbx_tui.search.results.response import Snippet
from kbx_tui.search.why_not import WhyNot, why_not
from kbx_tui.tui.base_session import Bases

RECORDED = Path(__file__).parent / "evidence"
TWO_PASS = "what did Alice Chen decide about the Migration"
FLAT = "rollback plan"
QUERIES = {"two-pass": TWO_PASS, "flat": FLAT}
"""The queries of the snapshots, by the file with the answer."""
TOPIC = "migration"
ROLLBACK = "memory/notes/2026-01-30-rollback-plan.md"
ALICE = "person:alice-chen"
DAY = "2026-05-02"
"""The date of today in every snapshot."""
MILLISECONDS = 9.0
"""The duration reported for every search."""
DIGITS = 5
"""Decimals kept of a score."""


class Recording(msgspec.Struct):
    """The answer to one query."""

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


class Review(msgspec.Struct):
    """The answers about the drafts of the demo and one topic."""

    checks: tuple[DraftCheck, ...]
    diffs: dict[str, str]
    """By text of the draft."""
    experts: ExpertRanking


File = TypeVar("File", Recording, Base, Review)


class RecordedKb:
    """Stands in for `KnowledgeBase`."""

    settings = Settings()
    untrusted = ()

    def __init__(self) -> None:
        self.base = decode((RECORDED / "base.json").read_bytes(), Base)
        self._review = decode((RECORDED / "review.json").read_bytes(), Review)
        self._recordings = {
            query: decode((RECORDED / f"{name}.json").read_bytes(), Recording)
            for name, query in QUERIES.items()
        }
        self.documents = RecordedDocuments(self.base, self._recordings[TWO_PASS].evidence)
        self.drafts = RecordedDrafts(self._review)
        self.entities = SimpleNamespace(
            card=lambda entity, as_of="": self.base.cards.get(entity),
            find=lambda text: (),
            offer=lambda: None,
        )
        self.queries = SimpleNamespace(asked=lambda: self.past_queries)
        self.judgments = SimpleNamespace(queries=lambda: self.judged)
        self.preferences = SimpleNamespace(
            read=lambda: (), count=lambda before, after: count_votes((), {})
        )
        self.tuner = SimpleNamespace(
            observe_thresholds=self._observe_thresholds,
            snapshots=SimpleNamespace(read=lambda: self.snapshots_of_knobs),
        )
        self.judged: tuple[JudgedQuery, ...] = ()
        self.past_queries: tuple[PastQuery, ...] = ()
        self.snapshots_of_knobs: tuple[TuningSnapshot, ...] = ()

    @property
    def root(self) -> Path:
        return Path("/home/ida") / self.base.name

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

    def index(self, progress: object = None, **options: object) -> IndexReport:
        return IndexReport(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (), {}, 0, {}, 1)

    def watch(self, changed: object, *, stopped: threading.Event) -> None:
        stopped.wait()

    def warm(self) -> None:
        pass

    def close(self) -> None:
        pass

    def tuning(self, preset: str | None = None, **changes: Any) -> Tuning:
        return replace(Tuning(), **changes)

    def retrieve(self, request: SearchRequest) -> Evidence:
        return self._recordings[request.query].evidence

    def rank(self, evidence: Evidence, tuning: Tuning | None = None) -> Ranking:
        return rank(evidence, tuning or self.tuning())

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        recorded = self._recordings[evidence.query].snippets
        return tuple(recorded[evidence.paths[row]] for row in rows)

    def why_not(
        self, request: SearchRequest, path: str, limit: int = 10, **options: object
    ) -> WhyNot:
        evidence = self.retrieve(request)
        return why_not(rank(evidence, self.tuning()), evidence.paths.index(path), limit)

    def experts(self, topic: str, **options: object) -> ExpertRanking:
        return self._review.experts

    def _observe_thresholds(self, queries: Sequence[str], tuning: Tuning) -> ThresholdObservatory:
        found = [self.retrieve(SearchRequest(query)) for query in queries]
        return observe_thresholds(found, tuning)


class RecordedDocuments:
    """Stands in for `kb.documents`."""

    def __init__(self, base: Base, evidence: Evidence) -> None:
        self._base, self._evidence = base, evidence

    def view(self, path: str, *, most: int | None = None) -> DocumentView:
        """Return a recorded text; of a document that was not read, only its path."""
        if path not in self._base.paths:
            raise NotFound(f"no document {path}")
        return self._base.texts.get(path) or DocumentView(path, "", "", "note", f"# {path}\n")

    def find(self, text: str, limit: int = 20) -> tuple[DocumentName, ...]:
        evidence = self._evidence
        rows = zip(evidence.paths, evidence.titles, evidence.dates, strict=True)
        found = (DocumentName(path, title, day or "", "") for path, title, day in rows)
        return tuple(one for one in found if text.lower() in one.title.lower())[:limit]

    def public_page(self, path: str) -> PublicPage:
        return PublicPage(path, b"", frozenset())

    def is_as_indexed(self, page: PublicPage) -> bool:
        return True

    def is_redacted(self, path: str, text: str) -> bool:
        return False

    def opened(self, path: str) -> None:
        pass

    def complete_query(self, query: str) -> str:
        return query


class RecordedDrafts:
    """Stands in for `kb.drafts`."""

    def __init__(self, review: Review) -> None:
        self._review, self._drafts = review, tuple[Draft, ...]()

    def stored(self) -> tuple[Draft, ...]:
        return self._drafts

    def save(self, drafts: Sequence[Draft]) -> None:
        self._drafts = tuple(drafts)

    def save_recorded(self) -> None:
        self._drafts = tuple(check.draft for check in self._review.checks)

    def check(self, drafts: Sequence[Draft]) -> list[DraftCheck]:
        checks = {check.draft.text: check for check in self._review.checks}
        return [
            replace(
                checks[draft.text],
                draft=replace(draft, entity_id=checks[draft.text].draft.entity_id),
            )
            for draft in drafts
        ]

    def plan(self, drafts: Sequence[Draft]) -> Plan:
        files = tuple(
            PlannedFile("", b"", b"", (), (draft.id,), diff)
            for draft in drafts
            if (diff := self._review.diffs.get(draft.text))
        )
        return Plan(files, (), ())

    def labelled(self) -> tuple[Any, ...]:
        return ()


class RecordedBases(Bases):
    """Opens the one recorded base."""

    def __init__(self, kb: RecordedKb) -> None:
        self.kb = kb

    def open(self, root: Path, notice: object = None) -> KnowledgeBase:
        return cast(KnowledgeBase, self.kb)


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
    if isinstance(value, Sequence):  # texts that are read from a file
        return tuple(value)
    assert isinstance(value, np.ndarray), type(value)
    if value.dtype == np.float64:
        return [None if np.isnan(number) else round(float(number), DIGITS) for number in value]
    return value.tolist()


def _unplain(kind: Any, value: Any) -> Any:
    (scalar,) = get_args(get_args(kind)[1])  # of ndarray[shape, dtype[scalar]]
    array = np.array([np.nan if item is None else item for item in value], dtype=scalar)
    array.flags.writeable = False
    return array

"""An engine that answers from files, so that a better or faster real one changes no picture.

`scripts/record_evidence.py` writes the files: what the real engine answered to the few questions
that the snapshots ask. Ranking, explaining, completing and finding matches are pure, and real.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec
import numpy as np

from kbx_tui.api import DocumentView
from kbx_tui.config import Settings
from kbx_tui.errors import NotFound
from kbx_tui.index.build.progress import IndexReport, Progress
from kbx_tui.index.paths.path_completion import complete
from kbx_tui.search.browsing.card import EntityCard, EntityName
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.alpha import alpha_note, next_changes
from kbx_tui.search.ranking.explain import Explanation, explain
from kbx_tui.search.ranking.rank import Ranked, Ranking, rank
from kbx_tui.search.results.response import Snippet
from kbx_tui.search.results.snippets import match_spans
from tests.snapshots.recorded_review import RecordedReview, Review

RECORDED = Path(__file__).parent / "evidence"
MILLISECONDS = 9.0
"""What every search is said to have taken."""
DIGITS = 5
"""Decimals of a score that are kept."""


class Recording(msgspec.Struct):
    """One answer."""

    evidence: Evidence
    snippets: dict[str, Snippet]
    """By path."""


class Base(msgspec.Struct):
    """What is known of a base besides its answers."""

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


File = TypeVar("File", Recording, Base, Review)
OTHERS = ("base", "review")
"""Files that hold no answer to a question."""

Key = tuple[str, str, bool]
"""Query, path and whether it is fast."""


class RecordedKb(RecordedReview):
    """Stands in for `KnowledgeBase`."""

    settings = Settings()

    def __init__(self, name: str, *, vector_share: float = 1.0, complete: bool = True) -> None:
        """Take what was recorded below `evidence/<name>/`; without `complete`, index first."""
        folder = RECORDED / name
        self.base = decode((folder / "base.json").read_bytes(), Base)
        review = decode((folder / "review.json").read_bytes(), Review)
        super().__init__(review, drafts=())
        answers = [file for file in sorted(folder.glob("*.json")) if file.stem not in OTHERS]
        self._recordings = {
            key_of(one.evidence): one
            for one in (decode(file.read_bytes(), Recording) for file in answers)
        }
        self.base.vector_share = 1.0 if complete else vector_share
        self._vector_share = vector_share
        self.progress: Progress | None = None
        """What indexing reports once; it goes on until the app ends it."""
        self.fault: Exception | None = None
        """What a retrieval raises."""

    @property
    def root(self) -> Path:
        return Path("/home/ida") / self.base.name

    def tuning(self) -> Tuning:
        return Tuning()

    def is_indexed(self) -> bool:
        return True

    def status(self) -> Base:
        return self.base

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
        return IndexReport(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (), {}, 0, 1)

    def watch(self, changed: Callable[[frozenset[str]], None], *, stopped: threading.Event) -> None:
        stopped.wait()

    def warm(self) -> None:
        pass

    def close(self) -> None:
        pass

    def retrieve(
        self, query: str, *, path: str | None = None, fast: bool = False, pinned: Sequence[str] = ()
    ) -> Evidence:
        if self.fault is not None:
            raise self.fault
        evidence = self._recording((query, path or "", fast)).evidence
        missing = set(pinned) - {entity.id for entity in evidence.entities}
        assert not missing, f"{missing} are not in what was recorded"
        return evidence if fast else replace(evidence, vector_share=self._vector_share)

    def rank(self, evidence: Evidence, tuning: Tuning | None = None) -> Ranking:
        return rank(evidence, tuning or self.tuning())

    def explain(self, ranking: Ranking, ranked: Ranked) -> Explanation:
        return explain(ranking, ranked)

    def alpha_note(self, ranking: Ranking, limit: int = 200) -> str:
        return alpha_note(ranking, limit)

    def next_changes(self, ranking: Ranking, limit: int = 10) -> tuple[float | None, float | None]:
        return next_changes(ranking, limit)

    def matches(self, evidence: Evidence, text: str) -> tuple[tuple[int, int], ...]:
        return match_spans(text, evidence.document_query)

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        known = self._recording(key_of(evidence)).snippets
        return tuple(known[evidence.paths[row]] for row in rows)

    def document(self, path: str) -> DocumentView:
        if path not in self.base.texts:
            raise NotFound(f"no document {path} in {self.root}")
        return self.base.texts[path]

    def opened(self, path: str) -> None:
        pass

    def entity(self, entity_id: str) -> EntityCard:
        return self.base.cards[entity_id]

    def find_entities(self, text: str, limit: int = 20) -> tuple[EntityName, ...]:
        return ()

    def follow(self, target: str, source: str) -> None:
        return None

    def complete_path(self, text: str, limit: int = 20) -> tuple[str, ...]:
        return complete(self.base.paths, text, self.root, limit)

    def count_scope(self, path: str) -> tuple[int, int]:
        inside = [one for one in self.base.paths if one.startswith(path)]
        return len(inside), self.base.documents

    def _recording(self, key: Key) -> Recording:
        assert key in self._recordings, f"{key} is not recorded: see scripts/record_evidence.py"
        return self._recordings[key]


class RecordedBases:
    """The door to one recorded base."""

    def __init__(self, kb: RecordedKb) -> None:
        self.kb = kb

    def open(self, root: Path) -> RecordedKb:
        return self.kb

    def demo(self) -> Path:
        return self.kb.root

    def existing(self, folder: str) -> Path:
        raise NotFound(f"there is no folder {folder}")

    def new(self, folder: str) -> Path:
        return Path(folder)


def key_of(evidence: Evidence) -> Key:
    """Return what `evidence` was retrieved for."""
    return evidence.query, evidence.scope.path, evidence.fast


def encode(value: Recording | Base | Review) -> bytes:
    """Return a file, a value per line where that keeps lines short."""
    plain = msgspec.json.decode(msgspec.json.encode(value, enc_hook=_plain))
    lines = [f"{_ascii(key)}:{_lines(one)}" for key, one in plain.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def decode(data: bytes, kind: type[File]) -> File:
    """Return what a file holds."""
    return msgspec.json.decode(data, type=kind, dec_hook=_unplain)


def fixed(evidence: Evidence) -> Evidence:
    """Return `evidence` without what differs from one run to the next."""
    return replace(evidence, timings={"total": MILLISECONDS}, generation=1)


def _lines(value: Any) -> str:
    if not isinstance(value, dict):
        return _ascii(value)
    return "{\n " + ",\n ".join(f"{_ascii(key)}:{_ascii(value[key])}" for key in value) + "\n}"


def _ascii(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))  # so that nothing acts on who reads the file


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    assert isinstance(value, np.ndarray), type(value)
    if value.dtype == np.float64:
        return [None if np.isnan(one) else round(float(one), DIGITS) for one in value]
    return value.tolist()


def _unplain(kind: Any, value: Any) -> Any:
    (scalar,) = get_args(get_args(kind)[1])  # of ndarray[shape, dtype[scalar]]
    array = np.array([np.nan if one is None else one for one in value], dtype=scalar)
    array.flags.writeable = False
    return array

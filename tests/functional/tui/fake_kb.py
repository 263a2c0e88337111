"""A small engine one can compute in one's head, slow on request, that counts its calls.

Words of the query in title and text make the lexical score, a fixed number per document the
vector score. `rank` and `explain` are the real ones.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from kbx_tui.errors import NotFound
from kbx_tui.index.progress import IndexReport, Progress
from kbx_tui.search.alpha import alpha_note
from kbx_tui.search.evidence import (
    ComponentScores,
    EntityCandidate,
    Evidence,
    LinkedDocuments,
    Scope,
    Signal,
)
from kbx_tui.search.explain import Explanation, explain
from kbx_tui.search.ranking import Ranked, Ranking, rank
from kbx_tui.search.response import Snippet
from kbx_tui.search.tuning import Tuning

STOP = frozenset({"what", "did", "the", "about", "a", "is", "of", "who", "and", "for", "to", "in"})
LEXICAL_WEIGHT = 0.7


@dataclass(frozen=True)
class FakeDocument:
    path: str
    title: str
    date: str
    text: str
    meaning: float
    links: dict[str, tuple[float, str]] = field(default_factory=dict)
    kind: str = "meeting"


@dataclass(frozen=True)
class FakeEntity:
    name: str
    type: str
    facts: str = ""
    role: str = ""

    @property
    def id(self) -> str:
        return f"{self.type}:{self.name.lower().replace(' ', '-')}"

    @property
    def path(self) -> str:
        return f"memory/people/{self.name.lower().replace(' ', '-')}.md" if self.role else ""


@dataclass(frozen=True)
class FakeStatus:
    documents: int
    entities: int
    vector_share: float = 1.0
    stale: tuple[str, ...] = ()


@dataclass(frozen=True)
class FakeText:
    path: str
    title: str
    date: str
    kind: str
    text: str


ALICE, MIGRATION = "person:alice-chen", "project:migration"

ENTITIES = (
    FakeEntity("Alice Chen", "person", "leads the platform team", "Director of Engineering"),
    FakeEntity("Migration", "project", "move the booking database by March"),
    FakeEntity("Platform", "team", "owns the migration"),
    FakeEntity("Bob Okafor", "person", "runs the rehearsals", "Engineer"),
    FakeEntity("Harbour Kiosk", "project", "self-service tickets"),
)

DOCUMENTS = (
    FakeDocument(
        "memory/meetings/2026-03-17-go-no-go.md",
        "Migration go/no-go",
        "2026-03-17",
        "We cut over on Thursday, Alice signs off after the rehearsal. The migration can go back.",
        0.83,
        {ALICE: (1.0, "attendee"), MIGRATION: (1.0, "title, 4 mentions")},
    ),
    FakeDocument(
        "memory/meetings/2026-03-10-platform-sync.md",
        "Platform sync",
        "2026-03-10",
        "Alice asked for one more rehearsal before the migration.",
        0.61,
        {ALICE: (1.0, "attendee"), MIGRATION: (0.74, "2 mentions")},
    ),
    FakeDocument(
        "memory/meetings/2026-03-03-rehearsal.md",
        "Database rehearsal debrief",
        "2026-03-03",
        "The first rehearsal overran by forty minutes; Bob found the slow index.",
        0.58,
        {MIGRATION: (0.82, "4 mentions"), "person:bob-okafor": (1.0, "attendee")},
    ),
    FakeDocument(
        "memory/notes/weekly-2026-02-27.md",
        "Weekly notes",
        "2026-02-27",
        "Migration on track. Kiosk tender is out.",
        0.44,
        {MIGRATION: (0.62, "1 mention")},
        "note",
    ),
    FakeDocument(
        "memory/notes/rollback-plan.md",
        "Rollback plan",
        "2026-01-30",
        "How to undo the migration within ten minutes, step by step.",
        0.71,
        {MIGRATION: (0.62, "1 mention")},
        "note",
    ),
    FakeDocument(
        "memory/people/alice-chen.md",
        "Alice Chen",
        "",
        "Leads the platform team. Prefers async Slack over email.",
        0.35,
        {ALICE: (1.0, "own page")},
        "person",
    ),
    FakeDocument(
        "memory/meetings/2026-02-11-kiosk.md",
        "港のキオスク 🛳 kick-off",
        "2026-02-11",
        "Kick-off for the harbour kiosk with the port authority.",
        0.12,
        {"project:harbour-kiosk": (1.0, "title")},
    ),
    FakeDocument(
        "memory/notes/hostile.md",
        "[red]not red[/red] \x1b[31mand\x1b[0m \u202etxt.exe",
        "2026-01-02",
        "A file says anything: [@click=app.quit]quit[/] \x1b]52;c;aGk=\x07 \x07bell, hostile text",
        0.1,
        {},
        "note",
    ),
)


class FakeKb:
    """Stands in for `KnowledgeBase`; `gate`, when cleared, makes retrieving wait."""

    def __init__(
        self,
        documents: Sequence[FakeDocument] = DOCUMENTS,
        *,
        tuning: Tuning | None = None,
        indexed: bool = True,
        vector_share: float = 1.0,
    ) -> None:
        self.documents = tuple(sorted(documents, key=lambda document: document.path))
        self.calls: Counter[str] = Counter()
        self.queries: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.fails: Exception | None = None
        self.index_fails: Exception | None = None
        self.generation = 1
        self.vector_share = vector_share
        self.steps: Sequence[Progress] = ()
        self.step_gate = threading.Semaphore(0)
        self._tuning, self._indexed = tuning or Tuning(), indexed

    @property
    def root(self) -> Path:
        return Path("/fictional/larkwater")

    def tuning(self) -> Tuning:
        return self._tuning

    def is_indexed(self) -> bool:
        return self._indexed

    def alpha_note(self, ranking: Ranking, limit: int = 200) -> str:
        return alpha_note(ranking, limit)

    def warm(self) -> None:
        self.calls["warm"] += 1

    def close(self) -> None:
        self.calls["close"] += 1

    def status(self) -> FakeStatus:
        self.calls["status"] += 1
        return FakeStatus(len(self.documents), len(ENTITIES))

    def index(
        self,
        progress: Callable[[Progress], None] | None = None,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        wait: bool = True,
    ) -> IndexReport:
        self.calls["index"] += 1
        if self.index_fails is not None:
            raise self.index_fails
        for step in self.steps:
            while not self.step_gate.acquire(timeout=0.01):
                if cancelled():
                    self.calls["index cancelled"] += 1
                    break
            if cancelled():
                break
            self._indexed = step.searchable
            if progress is not None:
                progress(step)
        return IndexReport(
            len(self.documents), 20, 5, 9, 30, 20, 8, 0, 0, 0, 20, 0, (), {"total": 1.0}, 1000, 1
        )

    def retrieve(self, query: str) -> Evidence:
        self.calls["retrieve"] += 1
        self.queries.append(query)
        if not self.gate.wait(timeout=10):
            raise TimeoutError("the test forgot to open the gate")
        if self.fails is not None:
            raise self.fails
        return self._evidence(query)

    def rank(self, evidence: Evidence, tuning: Tuning | None = None) -> Ranking:
        self.calls["rank"] += 1
        return rank(evidence, tuning or self._tuning)

    def explain(self, ranking: Ranking, ranked: Ranked) -> Explanation:
        return explain(ranking, ranked)

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        self.calls["snippets"] += 1
        words = _words(evidence.query)
        found = []
        for row in rows:
            text = self.documents[row].text
            spans = tuple(
                match.span() for match in re.finditer(r"\w+", text) if match[0].lower() in words
            )
            terms = Counter(text[start:end].lower() for start, end in spans)
            found.append(Snippet(text, spans, "Decisions", 9, 9, tuple(terms.items())))
        return tuple(found)

    def document(self, path: str) -> FakeText:
        self.calls["document"] += 1
        for document in self.documents:
            if document.path == path:
                front = f"---\ndate: {document.date}\nkind: {document.kind}\n---\n"
                text = (
                    f"{front}# {document.title}\n\n## Decisions\n\n{document.text}\n"
                    + "\n".join(f"- line {number}" for number in range(10, 60))
                )
                return FakeText(path, document.title, document.date, document.kind, text)
        raise NotFound(f"no document {path}")

    def _evidence(self, query: str) -> Evidence:
        words = _words(query)
        entities = sorted(
            (found for entity in ENTITIES if (found := _candidate(entity, words))),
            key=lambda entity: -entity.score,
        )
        named = {w for e in entities if e.named and e.type != "project" for w in _words(e.name)}
        content = words - named
        searched = content or words
        count = len(self.documents)
        return Evidence(
            query=query,
            document_query=" ".join(sorted(searched)),
            generation=self.generation,
            scope=Scope("", (), count, count, ""),
            entities=tuple(entities),
            links=tuple(self._links(entity.id) for entity in entities),
            paths=tuple(document.path for document in self.documents),
            titles=tuple(document.title for document in self.documents),
            dates=tuple(document.date for document in self.documents),
            kinds=tuple(document.kind for document in self.documents),
            as_typed=self._scores(query, words),
            as_searched=self._scores(query, searched),
            exact=MappingProxyType(
                {
                    row: "title"
                    for row, document in enumerate(self.documents)
                    if document.title.lower() == query.lower()
                }
            ),
            hotness=np.zeros(count),
            fast=False,
            vector_share=self.vector_share,
            timings=MappingProxyType({"entities": 2.0, "documents": 7.0}),
        )

    def _scores(self, query: str, words: frozenset[str]) -> ComponentScores:
        raw = np.array(
            [
                sum((d.title + " " + d.text).lower().count(word) for word in words) * 2.5
                for d in self.documents
            ]
        )
        lexical = raw / (raw + 5.0)
        vector = np.array([d.meaning for d in self.documents]) * (lexical > 0)
        return ComponentScores(
            query=query,
            raw_lexical=raw,
            lexical=lexical,
            cosine=vector * 0.9,
            vector=vector,
            doc_relevance=LEXICAL_WEIGHT * lexical + (1 - LEXICAL_WEIGHT) * vector,
            lexical_weight=LEXICAL_WEIGHT,
        )

    def _links(self, entity_id: str) -> LinkedDocuments:
        rows = [row for row, d in enumerate(self.documents) if entity_id in d.links]
        links = [self.documents[row].links[entity_id] for row in rows]
        return LinkedDocuments(
            np.array(rows, dtype=np.int64),
            np.array([strength for strength, _ in links], dtype=np.float64),
            tuple(why for _, why in links),
        )


def _candidate(entity: FakeEntity, words: frozenset[str]) -> EntityCandidate | None:
    signals = []
    name = _words(entity.name)
    if named := bool(name & words):
        signals.append(Signal("name", 1.0, " ".join(sorted(name & words))))
    if known := _words(entity.facts) & words:
        signals.append(Signal("fact", 0.2 + 0.21 * len(known), entity.facts))
    if not signals:
        return None
    score = max(signal.score for signal in signals)
    return EntityCandidate(
        entity.id, entity.name, entity.type, entity.path, score, named, tuple(signals)
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower())) - STOP

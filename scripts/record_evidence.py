"""Record the real engine's answers to the queries of snapshots in `tests/snapshots/evidence/`.

uv run python -m scripts.record_evidence

Run it when a snapshot needs another question, or when the shape of Evidence changed; not because
the engine ranks otherwise now. Then look at the pictures:

uv run pytest tests/snapshots --snapshot-update
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.drafting.deciding import decide
from kbx_tui.experts.expert_ranking import WEIGHTS
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.rank import rank
from tests.conftest import copy_demo
from tests.hostile_base import write_hostile_base
from tests.snapshots.questions import DEMO, HOSTILE, TOPIC, Question
from tests.snapshots.recorded_kb import RECORDED, Base, Recording, decode, encode, fixed
from tests.snapshots.recorded_review import DAY, Review, diffs_of

TODAY = date.fromisoformat(DAY)
SNIPPETS = 40
"""Best results of which the snippet is kept, whatever the knobs: no screen shows more."""


@dataclass(frozen=True)
class Asked:
    """What the snapshots need from one base."""

    name: str
    questions: Mapping[str, Question]
    read: Sequence[str]
    """Paths of documents."""
    opened: Sequence[str]
    """Ids of entities."""


def record(kb: KnowledgeBase, asked: Asked) -> None:
    """Record one query, and check that the recorded evidence ranks the same."""
    folder = RECORDED / asked.name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for name, question in asked.questions.items():
        recording = answer(kb, question)
        data = encode(recording)
        check(recording, decode(data, Recording))
        (folder / f"{name}.json").write_bytes(data)
        print(f"{folder / name}.json  {len(data):,} bytes")
    (folder / "base.json").write_bytes(encode(base(kb, asked)))
    (folder / "review.json").write_bytes(encode(review(kb)))


def answer(kb: KnowledgeBase, question: Question) -> Recording:
    """Return the answer of the engine, with the snippets that any setting of the knobs may show."""
    evidence = kb.retrieve(
        question.query, path=question.path or None, fast=question.fast, today=TODAY
    )
    rankings = [
        rank(evidence, Tuning(alpha=alpha, hierarchy=hierarchy))
        for hierarchy, alpha in ((True, 0.0), (True, 0.5), (True, 1.0), (False, 0.5))
    ]
    rows = sorted({int(row) for ranking in rankings for row in ranking.best(SNIPPETS)})
    found = zip(rows, kb.snippets(evidence, rows), strict=True)
    return Recording(fixed(evidence), {evidence.paths[row]: snippet for row, snippet in found})


def base(kb: KnowledgeBase, asked: Asked) -> Base:
    """Return what the app needs of a base without a query."""
    status = kb.status()
    return Base(
        name=kb.root.name,
        documents=status.documents,
        entities=status.entities,
        vector_share=1.0,
        stale=(),
        paths=kb.retrieve("paths", fast=True).paths,
        texts={path: kb.documents.view(path) for path in asked.read},
        cards={entity_id: kb.entities.card(entity_id) for entity_id in asked.opened},
    )


def review(kb: KnowledgeBase) -> Review:
    """Return the checks of the demo's drafts, and the experts on one topic."""
    file = kb.root / "drafts.md"
    drafts = kb.drafts.in_file(file) if file.exists() else ()
    numbered = [replace(draft, id=f"draft-{at}") for at, draft in enumerate(drafts, 1)]
    checks = kb.drafts.check(numbered) if numbered else []
    plans = {}
    for check in checks:
        choice = decide(check).proposal
        plans[check.draft.id] = kb.drafts.plan([replace(check.draft, choice=choice)]).diff
    experts = {str(weight): kb.experts(TOPIC, weight=weight, now=TODAY) for weight in WEIGHTS}
    return Review(tuple(checks), diffs_of(checks, plans, time.strftime("%Y-%m-%d")), experts)


def check(before: Recording, after: Recording) -> None:
    """Raise when the recorded evidence ranks differently."""
    for alpha in (0.0, 0.25, 0.5, 0.75, 1.0):
        orders = [rank(one.evidence, Tuning(alpha=alpha)).order for one in (before, after)]
        if orders[0].tolist() != orders[1].tolist():
            raise SystemExit(f"{before.evidence.query!r} ranks otherwise once it is written")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for root, asked in (
            (copy_demo(Path(scratch) / "larkwater"), Asked("demo", *DEMO)),
            (write_hostile_base(Path(scratch)), Asked("hostile", *HOSTILE)),
        ):
            with KnowledgeBase(root) as kb:
                kb.index()
                record(kb, asked)


if __name__ == "__main__":
    main()

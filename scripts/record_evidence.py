"""Record the real engine's answers to the queries of snapshots in `tests/snapshots/evidence/`.

uv run python -m scripts.record_evidence

Run it when a snapshot needs another query, or when the shape of Evidence changed; not because
the engine ranks otherwise now. Then look at the pictures:

uv run pytest -m slow tests/snapshots --snapshot-update
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.drafting.deciding import decide
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from tests.conftest import copy_demo
from tests.snapshots.recorded_kb import (
    ALICE,
    DAY,
    QUERIES,
    RECORDED,
    ROLLBACK,
    TOPIC,
    Base,
    Recording,
    Review,
    decode,
    encode,
    fixed,
)

TODAY = date.fromisoformat(DAY)
SNIPPETS = 40
"""Best results of which the snippet is kept, whatever the knobs: no screen shows more."""


def answer(kb: KnowledgeBase, query: str) -> Recording:
    """Return the answer of the engine, with the snippets that any setting of the knobs may show."""
    evidence = kb.retrieve(query, today=TODAY)
    rankings = [
        rank(evidence, Tuning(alpha=alpha, hierarchy=hierarchy))
        for hierarchy, alpha in ((True, 0.0), (True, 0.5), (True, 1.0), (False, 0.5))
    ]
    rows = sorted({int(row) for ranking in rankings for row in ranking.best(SNIPPETS)})
    found = zip(rows, kb.snippets(evidence, rows), strict=True)
    return Recording(fixed(evidence), {evidence.paths[row]: snippet for row, snippet in found})


def base(kb: KnowledgeBase) -> Base:
    """Return what the app needs of a base without a query."""
    status = kb.status()
    return Base(
        name=kb.root.name,
        documents=status.documents,
        entities=status.entities,
        vector_share=1.0,
        stale=(),
        paths=kb.retrieve("paths", fast=True).paths,
        texts={ROLLBACK: kb.documents.view(ROLLBACK)},
        cards={ALICE: kb.entities.card(ALICE)},
    )


def review(kb: KnowledgeBase) -> Review:
    """Return the checks of the demo's drafts, and the experts on one topic."""
    drafts = kb.drafts.in_file(kb.root / "drafts.md")
    checks = kb.drafts.check(
        [replace(draft, id=f"draft-{at}") for at, draft in enumerate(drafts, 1)]
    )
    diffs = {}
    for check in checks:
        choice = decide(check).proposal
        if diff := kb.drafts.plan([replace(check.draft, choice=choice)]).diff:
            diffs[check.draft.text] = diff.replace(time.strftime("%Y-%m-%d"), DAY)
    return Review(tuple(checks), diffs, kb.experts(TOPIC, now=TODAY))


def check(before: Recording, after: Recording) -> None:
    """Raise when the recorded evidence ranks differently."""
    for alpha in (0.0, 0.25, 0.5, 0.75, 1.0):
        orders = [rank(one.evidence, Tuning(alpha=alpha)).order for one in (before, after)]
        if orders[0].tolist() != orders[1].tolist():
            raise SystemExit(f"{before.evidence.query!r} ranks otherwise once it is written")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        kb = KnowledgeBase(copy_demo(Path(scratch) / "larkwater"))
        kb.index()
        for name, query in QUERIES.items():
            recording = answer(kb, query)
            data = encode(recording)
            check(recording, decode(data, Recording))
            (RECORDED / f"{name}.json").write_bytes(data)
        (RECORDED / "base.json").write_bytes(encode(base(kb)))
        (RECORDED / "review.json").write_bytes(encode(review(kb)))
        kb.close()


if __name__ == "__main__":
    main()

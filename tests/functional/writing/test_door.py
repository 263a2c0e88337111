"""The door set: 100 drafts with what a careful person would do; `door/README.md` describes it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.demo import SHIPPED
from kbx_tui.drafting.deciding import decide
from kbx_tui.drafting.drafts import Verdict, new_draft

DOOR = Path(__file__).with_name("door")
BASES = {name: DOOR / f"base_{name}" for name in ("clinic", "workshop")} | {"demo": SHIPPED}
FLOOR, SURE_FLOOR = 0.85, 0.94
"""Shares of proposals that are right or fine, and of sure ones: one less than measured."""

Decided = list[tuple[dict[str, Any], Verdict]]


def decided_in(base: str, root: Path) -> Iterator[tuple[dict[str, Any], Verdict]]:
    lines = (DOOR / "drafts.jsonl").read_text("utf-8").splitlines()
    judged = [draft for draft in map(json.loads, lines) if draft["base"] == base]
    shutil.copytree(BASES[base], root, ignore=shutil.ignore_patterns(".kbx"))
    with KnowledgeBase(root) as kb:
        kb.index()
        drafts = [
            new_draft(draft["text"], kind=draft["kind"], entity_name=draft["entity"])
            for draft in judged
        ]
        yield from zip(judged, map(decide, kb.drafts.check(drafts)), strict=True)


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Decided:
    return [
        pair for base in BASES for pair in decided_in(base, tmp_path_factory.mktemp(base) / "base")
    ]


def test_most_proposals_are_right_or_fine(decided: Decided) -> None:
    right = [
        verdict.proposal.action in allowed or ("ask" in allowed and not verdict.is_sure)
        for draft, verdict in decided
        for allowed in [{draft["best"], *draft["fine"]}]
    ]
    assert len(right) == 100
    assert sum(right) >= FLOOR * len(right)


def test_what_is_sure_loses_no_update(decided: Decided) -> None:
    sure = [(draft, verdict) for draft, verdict in decided if verdict.is_sure]
    right = [v.proposal.action in {d["best"], *d["fine"]} for d, v in sure]
    assert len(sure) >= 15
    assert sum(right) >= SURE_FLOOR * len(right)
    for draft, verdict in sure:
        assert draft["relation"] != "conflict" or verdict.proposal.action == "create", draft["text"]

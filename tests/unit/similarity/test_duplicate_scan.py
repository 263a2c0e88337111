"""Clusters of facts that say the same."""

from __future__ import annotations

import numpy as np
import pytest

from kbx_tui.config import DedupSettings
from kbx_tui.embedding.source import BUNDLED
from kbx_tui.knowledge.records import Fact, FactKind
from kbx_tui.similarity import duplicate_scan
from kbx_tui.similarity.duplicate_scan import find_clusters
from kbx_tui.similarity.fact_vectors import Remembered, remember
from kbx_tui.similarity.scoring.calibration import calibration_of
from kbx_tui.similarity.scoring.thresholds import Thresholds
from tests.unit.similarity.letters import Letters

NAMES = {"person:a": "Ada", "person:b": "Bo"}


def fact(text: str, *, line: int, kind: FactKind = "fact", entity: str = "person:a") -> Fact:
    return Fact(
        fact_id=line,
        entity_id=entity,
        kind=kind,
        text=text,
        date=f"2026-01-{line:02}",
        path="memory/people/a.md",
        line=line,
        status="active",
        done=False,
        sources=(),
    )


def memory_of(*facts: Fact) -> Remembered:
    return remember(facts, Letters().embed([one.text for one in facts]))


def clusters(memory: Remembered) -> tuple[list[list[str]], int]:
    found = find_clusters(
        memory, calibration_of(BUNDLED.name), Thresholds(DedupSettings()), names=NAMES
    )
    return [[one.text for one in cluster.facts] for cluster in found[0]], len(found[1])


def test_the_same_text_is_a_cluster_newest_first() -> None:
    found, _ = clusters(
        memory_of(
            fact("runs the rota", line=1),
            fact("Runs the rota.", line=2, entity="person:b"),
            fact("xyzzy plugh", line=3),
        )
    )
    assert found == [["Runs the rota.", "runs the rota"]]


def test_the_same_text_is_found_without_vectors() -> None:
    facts = [fact("runs the rota", line=1), fact("Runs the rota", line=2)]
    blank = remember(facts, np.zeros((2, 27), np.float32), missing=2)
    assert clusters(blank)[0] == [["Runs the rota", "runs the rota"]]


def test_another_wording_joins_the_cluster() -> None:
    found, _ = clusters(
        memory_of(
            fact("She runs the weekly rota alone", line=1),
            fact("She alone runs the weekly rota", line=2),
            fact("runs weekly the rota she alone", line=3),
        )
    )
    assert [len(texts) for texts in found] == [3]


def test_a_conflict_keeps_facts_apart_and_is_counted() -> None:
    found, conflicts = clusters(
        memory_of(fact("ships 5 releases a year", line=1), fact("ships 3 releases a year", line=2))
    )
    assert (found, conflicts) == ([], 1)


def test_a_conflict_is_shown_newest_first_with_the_words() -> None:
    memory = memory_of(
        fact("ships 5 releases a year", line=1), fact("ships 3 releases a year", line=2)
    )
    _, (pair,) = find_clusters(
        memory, calibration_of(BUNDLED.name), Thresholds(DedupSettings()), names=NAMES
    )
    assert [one.line for one in pair.facts] == [2, 1]
    (conflict,) = pair.conflicts
    assert (conflict.kind, "3" in conflict.left, "5" in conflict.right) == ("number", True, True)


def test_a_fact_and_an_open_item_are_no_duplicates() -> None:
    found, _ = clusters(
        memory_of(fact("book the ferry", line=1), fact("book the ferry", line=2, kind="open_item"))
    )
    assert found == []


def test_every_pair_across_blocks_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = "abcdefghijklm"
    facts = [fact(f"{one * 3} {one * 4}", line=row + 1) for row, one in enumerate(letters)]
    facts += [fact(f"{one * 4} {one * 3}", line=row + 14) for row, one in enumerate(letters)]
    whole, _ = clusters(memory_of(*facts))
    monkeypatch.setattr(duplicate_scan, "BLOCK", 4)
    assert clusters(memory_of(*facts))[0] == whole
    assert len(whole) == len(letters)


def test_nothing_gives_nothing() -> None:
    assert clusters(remember([], np.zeros((0, 27), np.float32))) == ([], 0)


@pytest.mark.parametrize("width", [1, 8, 511, 512, 640, 1000, 1023])
def test_the_nearest_of_each_are_those_of_looking_at_all(width: int) -> None:
    values = np.random.default_rng(width).integers(0, 400, (5, width)).astype(np.float32)
    wanted = min(8, width)
    columns = duplicate_scan._highest(values, wanted)
    found = np.sort(np.take_along_axis(values, columns, axis=1), axis=1)
    np.testing.assert_array_equal(found, np.sort(values, axis=1)[:, -wanted:])
    assert all(len(set(row)) == wanted for row in columns.tolist())

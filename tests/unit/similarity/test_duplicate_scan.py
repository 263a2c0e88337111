"""Clusters of duplicate facts, and conflicting pairs."""

import numpy as np
import pytest

from kbx_tui.config import DedupSettings
from kbx_tui.embedding.embedder import BUNDLED
from kbx_tui.similarity import duplicate_scan
from kbx_tui.similarity.duplicate_scan import KeptPairs, find_clusters
from kbx_tui.similarity.fact_vectors import FactVectors, build_fact_vectors
from kbx_tui.similarity.pair_score import Scale, calibration_of
from tests.unit.similarity.building import ENTITIES, embed_facts, make_fact

SCALE = Scale(calibration_of(BUNDLED.name), DedupSettings())


def clusters(facts: FactVectors) -> tuple[list[list[str]], int]:
    """Return the texts of each cluster, and the number of conflicting pairs."""
    found, conflicting, _ = find_clusters(facts, SCALE)
    return [[fact.text for fact in cluster.facts] for cluster in found], len(conflicting)


def test_identical_texts_form_a_cluster_with_the_newest_first() -> None:
    found, _ = clusters(
        embed_facts(
            make_fact("runs the rota", line=1),
            make_fact("Runs the rota.", line=2, entity="person:b"),
            make_fact("xyzzy plugh", line=3),
        )
    )
    assert found == [["Runs the rota.", "runs the rota"]]


def test_identical_texts_form_a_cluster_without_vectors() -> None:
    facts = [make_fact("runs the rota", line=1), make_fact("Runs the rota", line=2)]
    blank = build_fact_vectors(facts, np.zeros((2, 27), np.float32), missing=2, entities=ENTITIES)
    assert clusters(blank)[0] == [["Runs the rota", "runs the rota"]]


def test_rephrased_facts_join_the_cluster() -> None:
    found, _ = clusters(
        embed_facts(
            make_fact("She runs the weekly rota alone", line=1),
            make_fact("She alone runs the weekly rota", line=2),
            make_fact("runs weekly the rota she alone", line=3),
        )
    )
    assert [len(texts) for texts in found] == [3]


def test_conflicting_facts_form_no_cluster_but_a_pair_with_the_newest_first() -> None:
    facts = embed_facts(
        make_fact("ships 5 releases a year", line=1), make_fact("ships 3 releases a year", line=2)
    )
    found, (pair,), _ = find_clusters(facts, SCALE)
    assert not found
    assert [fact.line for fact in pair.facts] == [2, 1]
    (conflict,) = pair.conflicts
    assert (conflict.kind, "3" in conflict.left, "5" in conflict.right) == ("number", True, True)


def test_kept_pairs_are_left_out_until_a_third_fact_says_the_same() -> None:
    texts = [make_fact("runs the rota", line=line) for line in (1, 2, 3)]
    texts.append(make_fact("ships 5 releases a year", line=4))
    texts.append(make_fact("ships 3 releases a year", line=5))
    ids = [fact.fact_id for fact in texts]
    pairs = frozenset((frozenset(ids[:2]), frozenset(ids[3:])))

    def lines(count: int, *, wanted: bool = False) -> tuple[list[list[int]], int]:
        found, conflicting, kept = find_clusters(
            embed_facts(*texts[:count], *texts[3:]),
            SCALE,
            kept=KeptPairs(pairs, wanted=wanted),
        )
        groups = [cluster.facts for cluster in found] + [pair.facts for pair in conflicting]
        return [sorted(fact.line for fact in facts) for facts in groups], kept

    assert lines(2) == ([], 2)
    assert lines(3) == ([[1, 2, 3]], 2)
    assert lines(3, wanted=True) == ([[1, 2], [4, 5]], 2)


def test_no_facts_and_facts_of_different_kinds_give_no_clusters() -> None:
    found, _ = clusters(
        embed_facts(
            make_fact("book the ferry", line=1),
            make_fact("book the ferry", line=2, kind="open_item"),
        )
    )
    assert found == []

    assert clusters(build_fact_vectors([], np.zeros((0, 27), np.float32), entities=ENTITIES)) == (
        [],
        0,
    )


def test_pairs_in_different_blocks_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = "abcdefghijklm"
    facts = [
        make_fact(f"{letter * 3} {letter * 4}", line=row + 1) for row, letter in enumerate(letters)
    ]
    facts += [
        make_fact(f"{letter * 4} {letter * 3}", line=row + 14) for row, letter in enumerate(letters)
    ]
    whole, _ = clusters(embed_facts(*facts))
    monkeypatch.setattr(duplicate_scan, "BLOCK", 4)
    assert clusters(embed_facts(*facts))[0] == whole
    assert len(whole) == len(letters)


@pytest.mark.parametrize("width", [1, 8, 511, 512, 640, 1000, 1023])
def test_highest_columns_agree_with_a_full_sort(width: int) -> None:
    values = np.random.default_rng(width).integers(0, 400, (5, width)).astype(np.float32)
    wanted = min(8, width)
    columns = duplicate_scan.highest_columns(values, wanted)
    highest = np.sort(np.take_along_axis(values, columns, axis=1), axis=1)
    np.testing.assert_array_equal(highest, np.sort(values, axis=1)[:, -wanted:])
    assert all(len(set(row)) == wanted for row in columns.tolist())


def test_a_long_scan_says_how_many_facts_it_has_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = embed_facts(
        *(make_fact(f"fact {line}", line=line) for line in range(4)),
        *(make_fact(f"item {line}", line=line, kind="open_item") for line in (4, 5)),
    )
    reports: list[tuple[int, int]] = []
    find_clusters(facts, SCALE, report=lambda *counts: reports.append(counts))
    assert reports == []
    monkeypatch.setattr(duplicate_scan, "BLOCK", 3)
    find_clusters(facts, SCALE, report=lambda *counts: reports.append(counts))
    assert reports == [(3, 6), (4, 6), (6, 6)]

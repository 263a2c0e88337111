"""A text against the facts that stand: the best are told, and whether one says the same."""

from __future__ import annotations

import numpy as np
import pytest

from kbx_tui.config import DedupSettings
from kbx_tui.embedding.embedder import Vector
from kbx_tui.embedding.source import BUNDLED
from kbx_tui.similarity.conflicts.conflict_guard import Conflict, find_conflicts
from kbx_tui.similarity.fact_comparison import Found, find_alike, rows_alike
from kbx_tui.similarity.fact_vectors import Remembered
from kbx_tui.similarity.scoring import pair_score
from kbx_tui.similarity.scoring.calibration import Calibration, calibration_of
from kbx_tui.similarity.scoring.thresholds import Thresholds
from tests.unit.similarity.letters import Letters
from tests.unit.similarity.test_duplicate_scan import NAMES, fact, memory_of

ASKED = "ships 5 releases a year"


def asked(
    memory: Remembered, least: float | None = None
) -> tuple[str, Vector, Remembered, Calibration, Thresholds]:
    vector, thresholds = Letters().embed_query(ASKED), Thresholds(DedupSettings(), least)
    return ASKED, vector, memory, calibration_of(BUNDLED.name), thresholds


def alike(memory: Remembered, limit: int, least: float | None = None) -> Found:
    return find_alike(*asked(memory, least), names=NAMES, limit=limit)


def all_alike(memory: Remembered, least: float | None = None) -> list[float]:
    found = rows_alike(*asked(memory, least), names=NAMES, limit=100)
    return [match.score for _, match in found]


def some_facts(*texts: str) -> Remembered:
    return memory_of(*(fact(text, line=line) for line, text in enumerate(texts, 1)))


def test_the_best_are_those_of_all() -> None:
    memory = some_facts(
        "ships 5 releases a year now", "ships 5 releases every year", ASKED, "sings"
    )
    every = all_alike(memory)
    assert len(every) >= 2
    for limit in range(1, len(every) + 1):
        found = alike(memory, limit)
        assert [one.score for one in found.matches][:limit] == every[:limit]
        assert found.nearest[0].score == every[0] == 1.0


def test_one_that_says_the_same_is_known_behind_many_that_contradict() -> None:
    contradict = [f"ships {number} releases a year" for number in (3, 4, 6, 7)]
    memory = some_facts(*contradict, "ships 5 releases of it a year")
    found = alike(memory, 2)
    assert [bool(one.conflicts) for one in found.matches] == [True] * 4  # all score the same
    assert found.has_similar
    assert not alike(some_facts(*contradict), 2).has_similar


def test_only_what_is_told_is_compared_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = some_facts(*(f"ships {n} releases a year {'x' * n}" for n in range(6, 26)))
    assert len(all_alike(memory, 0.6)) > 10
    in_full = []

    def counted(left: str, right: str) -> tuple[Conflict, ...]:
        in_full.append(right)
        return find_conflicts(left, right)

    monkeypatch.setattr(pair_score, "find_conflicts", counted)
    found = alike(memory, 2, 0.6)
    assert len(in_full) == len(found.matches) < 5
    assert len(found.texts) > 10
    assert not found.has_similar


def test_facts_that_tie_with_the_last_are_told_too() -> None:
    memory = some_facts("ships 3 releases a year", ASKED, "Ships 5 releases a year.")
    assert [one.score for one in alike(memory, 1).matches] == [1.0, 1.0]


def test_nothing_remembered_is_like_nothing() -> None:
    assert alike(some_facts(), 5) == Found([], (), has_similar=False)


def test_the_nearest_let_in_are_those_of_comparing_all_let_in() -> None:
    random = np.random.default_rng(5)
    memory = some_facts(
        *("".join(random.choice(list("abcdefg ")) for _ in range(9)) for _ in range(200))
    )
    vector, within = Letters().embed_query("a bad cab"), random.random(200) < 0.4
    found = memory.nearest(vector, 10, within)
    cosines = memory.vectors @ vector
    assert within[found].all()
    np.testing.assert_allclose(
        np.sort(memory.cosines(vector, found)), np.sort(cosines[within])[-10:], atol=1e-6
    )

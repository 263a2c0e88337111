"""The campaign of faults, a few tries of each quick kind: nothing is lost, nothing is silent."""

import random
from pathlib import Path

import pytest

from benchmarks.faults.campaign import Campaign
from benchmarks.faults.kills import kill_writers
from benchmarks.faults.small_base import write_small_base
from benchmarks.faults.state_damage import damage_state
from benchmarks.faults.times import rewrite_with_same_stamp, set_clock_back

TRIES = 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "play", [damage_state, set_clock_back, rewrite_with_same_stamp, kill_writers]
)
def test_no_try_fails(play: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONWARNINGS", raising=False)  # processes to kill are started with one
    base = write_small_base(tmp_path / "base")
    assert [*play(base, TRIES, random.Random(5))] == [[]] * TRIES

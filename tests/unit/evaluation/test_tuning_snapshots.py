"""Snapshots of the knobs: kept, dropped, and safe from broken lines."""

from pathlib import Path

import pytest

from kbx_tui.evaluation.judgments import TuningSnapshot, TuningSnapshots, knobs_of
from kbx_tui.search.request import Tuning

FILE = Path(".kbx", "snapshots.jsonl")


def snapshot(alpha: float) -> TuningSnapshot:
    return TuningSnapshot("2026-03-17T09:41:05Z", knobs_of(Tuning(alpha=alpha)), 3, "bundled")


def test_snapshots_come_back_as_they_were(tmp_path: Path) -> None:
    said: list[str] = []
    store = TuningSnapshots(tmp_path, said.append)
    assert store.read() == ()
    store.add(snapshot(0.3))
    store.add(snapshot(0.7))
    assert store.read() == (snapshot(0.3), snapshot(0.7))
    assert store.read()[0].tuning == Tuning(alpha=0.3)
    store.remove(snapshot(0.3))
    store.remove(snapshot(0.9))
    assert store.read() == (snapshot(0.7),)
    assert said == []


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"\xff",
        b'{"when": "", "knobs": {"alpha": 7}}',
        b'{"when": "", "knobs": {"beta": 1}}',
        b'{"when": "", "knobs": {"muted": 7}}',
        b'{"when": "", "knobs": {"alpha": "x"}}',
    ],
)
def test_broken_lines_are_reported_and_kept(tmp_path: Path, line: bytes) -> None:
    said: list[str] = []
    store = TuningSnapshots(tmp_path, said.append)
    store.add(snapshot(0.3))
    with (tmp_path / FILE).open("ab") as stream:
        stream.write(line + b"\n")
    store.add(snapshot(0.7))
    assert store.read() == (snapshot(0.3), snapshot(0.7))
    assert all("one line cannot be read" in sentence for sentence in said)
    store.remove(snapshot(0.3))
    assert line in (tmp_path / FILE).read_bytes()
    assert store.read() == (snapshot(0.7),)

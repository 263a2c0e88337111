"""Snapshots of the knobs, kept and dropped; lines that no log of an evaluation can read."""

from pathlib import Path
from typing import Any

import pytest

from kbx_tui.evaluation.blind_preferences import PreferenceLog
from kbx_tui.evaluation.judgments import JudgmentLog, TuningSnapshot, TuningSnapshots, knobs_of
from kbx_tui.search.request import Tuning
from kbx_tui.state_file import ignore

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


GOOD = {
    "judgments": '{"query": "lunch", "path": "memory/%s.md", "grade": 1}',
    "preferences": '{"query": "q", "first": {"paths": ["%s"]}, "second": {"paths": []},'
    ' "better": "first"}',
    "snapshots": '{"when": "%s", "knobs": {"alpha": 0.3}}',
}
LOGS: dict[str, Any] = {
    "judgments": JudgmentLog,
    "preferences": PreferenceLog,
    "snapshots": TuningSnapshots,
}


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("judgments", "{", "truncated"),
        ("judgments", "[]", "Expected `object`"),
        ("judgments", '{"query": "a", "path": "b"}', "missing required field `grade`"),
        ("judgments", '{"query": "a", "path": "b", "grade": null}', "grade"),
        ("judgments", '{"query": "a", "path": "b", "grade": 4}', "0..3, got 4"),
        ("judgments", '{"query": "a", "path": "b", "grade": -1}', "0..3, got -1"),
        ("judgments", '{"query": "a", "path": "b", "grade": true}', "got `bool`"),
        ("judgments", '{"query": " ", "path": "b", "grade": 1}', "needs a query"),
        ("judgments", '{"query": "a", "path": "", "grade": 1}', "needs a query"),
        ("judgments", "\udcff", "malformed"),
        ("preferences", GOOD["preferences"].replace("[]", '["c"]') % "c", "two lists that differ"),
        ("preferences", GOOD["preferences"].replace('"q"', '" "'), "needs a query"),
        ("preferences", GOOD["preferences"].replace('"first"}', '"A"}'), "Invalid enum value"),
        ("snapshots", '{"when": "", "knobs": {"alpha": 7}}', "`knobs` are not valid"),
        ("snapshots", '{"when": "", "knobs": {"beta": 1}}', "`knobs` are not valid"),
        ("snapshots", '{"when": "", "knobs": {"muted": 7}}', "`knobs` are not valid"),
        ("snapshots", '{"when": "", "knobs": {"alpha": "x"}}', "`knobs` are not valid"),
    ],
)
def test_an_invalid_line_is_named_with_its_number_and_all_others_count(
    tmp_path: Path, name: str, line: str, reason: str
) -> None:
    file, lines = tmp_path / ".kbx" / f"{name}.jsonl", (GOOD[name] % "a", line, GOOD[name] % "b")
    file.parent.mkdir()
    file.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    said: list[str] = []
    assert len(LOGS[name](tmp_path, said.append).read()) == 2
    (notice,) = said
    assert "line 2" in notice
    assert reason in notice


def test_an_invalid_line_is_kept_when_others_are_written_and_removed(tmp_path: Path) -> None:
    store, line = TuningSnapshots(tmp_path, ignore), b"\xff{"
    store.add(snapshot(0.3))
    with (tmp_path / FILE).open("ab") as stream:
        stream.write(line + b"\n")
    store.add(snapshot(0.7))
    store.remove(snapshot(0.3))
    assert line in (tmp_path / FILE).read_bytes().split(b"\n")
    assert store.read() == (snapshot(0.7),)

"""Results by date, and entities that a search pins or mutes by name."""

from __future__ import annotations

from pathlib import Path

from tests.command_line import CommandLine


def test_the_best_results_are_listed_newest_first(kbx: CommandLine, demo_kb_path: Path) -> None:
    search = ("search", "migration rollback", "--kb", demo_kb_path, "--json", "--explain")
    by_score = kbx(*search, "--limit", "50").json["results"]
    by_date = kbx(*search, "--limit", "12", "--sort", "date").json
    newest = sorted(by_score, key=lambda result: result["date"] or "", reverse=True)[:12]
    assert [result["path"] for result in by_date["results"]] == [row["path"] for row in newest]
    assert by_date["meta"]["explain"]["sort"] == "date"


def test_entities_are_pinned_and_muted_by_name(kbx: CommandLine, demo_kb_path: Path) -> None:
    search = ("search", "what did alice decide", "--kb", demo_kb_path, "--json", "--explain")
    ran = kbx(*search, "--pin", "grace tully,project:migration", "--mute", "Alice")
    explain = ran.json["meta"]["explain"]
    assert set(explain["kept_entities"]) >= {"person:grace-tully", "project:migration"}
    assert explain["muted"] == ["person:alice-chen"]
    assert "person:alice-chen" not in explain["kept_entities"]
    unknown = kbx(*search, "--mute", "Alise Chen")
    assert (unknown.code, "Alice Chen (person:alice-chen)" in unknown.err) == (4, True)

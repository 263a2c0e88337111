"""Preferences between result lists, from Python to `kbx judgments` and `kbx eval`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.evaluation.blind_preferences import Better, ShownList
from kbx_tui.evaluation.judgments import knobs_of
from tests.command_line import CommandLine

QUERY = "what did Alice Chen decide about the rollback plan"


def prefer(base: Path, better: Better) -> None:
    """Answer for the lists of a flat search, first, and of one in two passes."""
    with KnowledgeBase(base) as kb:
        evidence = kb.retrieve(QUERY)
        flat, two_pass = (replace(kb.tuning(), hierarchy=each) for each in (False, True))
        first, second = (
            ShownList(kb.rank(evidence, tuning).best_paths(5), knobs_of(tuning))
            for tuning in (flat, two_pass)
        )
        assert first.paths != second.paths
        kb.preferences.add(QUERY, first, second, better)
        votes = kb.preferences.count(flat, two_pass)
        assert (votes.wins_a, votes.wins_b) == (better == "first", better == "second")
        assert kb.preferences.count(flat, flat).wins_a == 0


def test_a_preference_is_listed_counted_by_eval_and_undone(
    kbx: CommandLine, demo_copy: Path, tmp_path: Path
) -> None:
    assert "no such preference" in kbx("judgments", "list", "--preferences", "--kb", demo_copy).err
    prefer(demo_copy, "second")
    assert "1 preference, see --preferences" in kbx("judgments", "list", "--kb", demo_copy).out
    listed = kbx("judgments", "list", QUERY, "--preferences", "--kb", demo_copy)
    assert f"{QUERY}: hierarchy True, not False" in listed.out
    (row,) = kbx("judgments", "list", "--preferences", "--kb", demo_copy, "--json").json
    assert (row["query"], row["better"]) == (QUERY, "second")
    assert row["second"]["knobs"]["hierarchy"] is True

    best = row["second"]["paths"][0]
    kbx("judgments", "add", QUERY, best, "3", "--kb", demo_copy)
    saved = tmp_path / "flat.json"
    kbx("eval", "--kb", demo_copy, "--mode", "flat", "--save", saved)
    ran = kbx("eval", "--kb", demo_copy, "--compare", saved)
    assert "the earlier 0, this run 1, neither 0; sign test p 1.000" in ran.out
    compared = kbx("eval", "--kb", demo_copy, "--compare", saved, "--json").json["compared"]
    expected = {"wins_a": 0, "wins_b": 1, "neither": 0, "undecided": 0, "p": 1.0}
    assert compared[-1]["votes"] == expected

    ran = kbx("judgments", "undo", "--preference", "--kb", demo_copy)
    assert QUERY in ran.out
    assert kbx("judgments", "undo", "--preference", "--kb", demo_copy).code == 7

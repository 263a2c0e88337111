"""`kbx tune` advises, shows the change of kbx.toml, writes it, and `kbx undo` reverts it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kbx_tui import ConfigError, KnowledgeBase
from kbx_tui.settings_file import load_settings, with_settings
from tests.command_line import CommandLine

TOML = """# our base
[search]
hierarchy_entity_threshold = 0.55  # tried in spring
hierarchy_alpha = 1.0

[app]
watch = false
"""


@pytest.fixture
def tuned(demo_copy: Path, kbx: CommandLine) -> Callable[..., str]:
    """Return a function that runs a command on the demo, with alpha 1 and judgments of its own."""
    (demo_copy / "kbx.toml").write_text(TOML)
    labelled = Path(__file__).parents[1] / "search" / "demo_judgments"

    def run(*arguments: str) -> str:
        if arguments[0] == "tune":
            arguments = ("tune", str(labelled), *arguments[1:])
        result = kbx("--kb", str(demo_copy), *arguments)
        assert result.code == 0, result.err
        return result.out

    return run


def test_what_wins_is_shown_then_written_then_undone(
    tuned: Callable[..., str], demo_copy: Path
) -> None:
    file = demo_copy / "kbx.toml"
    answer = json.loads(tuned("tune", "--json"))
    assert answer["wins"]
    assert answer["gain"] > 0.0
    assert "hierarchy_alpha" in answer["changes"]
    assert (answer["written"], file.read_text()) == (False, TOML)

    shown = tuned("tune", "--write", "--dry-run")
    assert "-hierarchy_alpha = 1.0" in shown
    assert file.read_text() == TOML

    answer = json.loads(tuned("tune", "--write", "--json"))
    assert answer["written"]
    written = file.read_text()
    assert "# our base" in written
    assert "# tried in spring" in written
    assert written.index("[search]") < written.index("[app]")
    assert load_settings(demo_copy).search.hierarchy_alpha < 1.0

    assert "kbx.toml" in tuned("undo")
    assert file.read_text() == TOML


def test_progress_is_reported_on_stderr(demo_copy: Path, kbx: CommandLine) -> None:
    labelled = Path(__file__).parents[1] / "search" / "demo_judgments"
    result = kbx("--kb", str(demo_copy), "tune", str(labelled), "--json")
    assert "kbx: judged queries: " in result.err
    assert "verdict" in json.loads(result.out)


def test_a_base_without_judgments_says_that_there_is_nothing_to_tune_by(
    demo_copy: Path, kbx: CommandLine
) -> None:
    (demo_copy / ".kbx" / "judgments.jsonl").unlink(missing_ok=True)
    for command in ("tune", "eval"):
        result = kbx("--kb", str(demo_copy), command)
        assert result.code == 4
        assert result.err.startswith("kbx: no query has a document judged relevant")
        assert "grade results with 0 to 3, or run `kbx judgments add" in result.err


def test_the_knowledge_base_uses_what_it_wrote(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        before = (demo_copy / "kbx.toml").read_bytes()
        tuning = kb.tuning(alpha=0.3, gate="hard")
        diff = kb.tuner.save(tuning, dry_run=True).diff
        assert "+hierarchy_alpha = 0.3" in diff
        assert (demo_copy / "kbx.toml").read_bytes() == before
        assert kb.tuner.save(tuning).written
        assert kb.tuning() == tuning
        assert not kb.tuner.save(tuning).written
        kb.undo()
        assert (demo_copy / "kbx.toml").read_bytes() == before
        assert kb.tuning().alpha == 0.5


def test_a_base_without_settings_gets_a_file_that_undo_empties(demo_copy: Path) -> None:
    file = demo_copy / "kbx.toml"
    file.unlink()
    with KnowledgeBase(demo_copy) as kb:
        assert kb.tuner.save(kb.tuning(alpha=0.3)).written
        assert file.read_text() == "[search]\nhierarchy_alpha = 0.3\n"
        kb.undo()
        assert file.read_bytes() == b""
        assert kb.tuning().alpha == 0.5


def test_the_thresholds_of_asked_queries_are_observed(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        asked = ["what did Alice decide about rollbacks", "rollback", "zzyzx"]
        observed = kb.tuner.observe_thresholds(asked)
        assert [query.query for query in observed.queries] == asked
        assert observed.queries[0].top_score == 1.0
        assert observed.queries[0].outcomes[10] == "two_pass"
        assert kb.tuner.observe_thresholds(asked[:1]).queries == observed.queries[:1]


def test_settings_are_added_to_a_file_without_the_section() -> None:
    assert with_settings(b"# notes\n", "search", {"hotness_weight": 0.1}) == (
        b"# notes\n\n[search]\nhotness_weight = 0.1\n"
    )


def test_byte_order_mark_of_a_file_stays() -> None:
    assert with_settings(b"\xef\xbb\xbf[search]\r\n", "search", {"hotness_weight": 0.1}) == (
        b"\xef\xbb\xbf[search]\r\nhotness_weight = 0.1\n"
    )


@pytest.mark.parametrize("data", [b"search = 3\n", b"[search\n", b"\xff"])
def test_a_file_that_is_not_settings_is_refused(data: bytes) -> None:
    with pytest.raises(ConfigError, match=r"kbx\.toml"):
        with_settings(data, "search", {"hotness_weight": 0.1})

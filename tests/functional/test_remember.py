"""The workflow for plugins, as docs/python.md shows it."""

from pathlib import Path

import pytest

from scripts.remember import main


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("Collects antique barometers", "CREATE"),
        ("prefers async Slack over e-mail", "SKIP"),
        ("Moved the cut-over from 12 to 26 March after the first rehearsal overran", "ASK"),
    ],
)
def test_a_candidate_is_checked_first(
    demo_kb_path: Path, capsys: pytest.CaptureFixture[str], text: str, decision: str
) -> None:
    main([str(demo_kb_path), "Alice Chen", text])
    assert capsys.readouterr().out.startswith(decision)


def test_what_is_new_is_written_once(demo_copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = demo_copy / "memory/people/alice-chen.md"
    for _ in range(2):
        main([str(demo_copy), "Alice Chen", "Collects antique barometers", "--write"])
    assert capsys.readouterr().out.splitlines()[1].startswith("SKIP")
    assert page.read_text(encoding="utf-8").count("antique barometers") == 1

"""Grades and preferences that a process has acknowledged outlive kill -9 and other writers."""

import subprocess
import sys
from pathlib import Path

from kbx_tui.evaluation.blind_preferences import PreferenceLog
from kbx_tui.evaluation.judgments import JudgmentLog
from kbx_tui.state_file import ignore

WRITER = """
import sys
from itertools import count
from pathlib import Path
from kbx_tui.evaluation.judgments import Judgment, JudgmentLog
from kbx_tui.evaluation.blind_preferences import Preference, ShownList
from kbx_tui.evaluation.blind_preferences import PreferenceLog
root, name = Path(sys.argv[1]), sys.argv[2]
grades, preferences = JudgmentLog(root, print), PreferenceLog(root, print)
first, second = ShownList(("a.md",)), ShownList(("b.md",))
for number in count():
    query = f"{name} {number}"
    grades.add([Judgment(query, "a.md", 3)])
    print("grade", query, flush=True)
    preferences.add(Preference(query, first, second, "first"))
    print("preference", query, flush=True)
"""
ACKNOWLEDGED = 8
"""Lines that each writer has printed before all are killed."""


def test_what_was_acknowledged_is_on_disk_after_kill_9_beside_other_writers(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name], stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "other")
    ]
    printed: list[str] = []
    for writer in writers:
        assert writer.stdout is not None
        printed += [writer.stdout.readline() for _ in range(ACKNOWLEDGED)]
    for writer in writers:
        writer.kill()
    for writer in writers:
        assert writer.stdout is not None
        printed += writer.stdout.read().splitlines(keepends=True)
        writer.stdout.close()
        writer.wait()
    kept = [f"grade {each.query}\n" for each in JudgmentLog(tmp_path, ignore).read()]
    kept += [f"preference {each.query}\n" for each in PreferenceLog(tmp_path, ignore).read()]
    whole = {line for line in printed if line.endswith("\n")}
    assert len(whole) >= len(writers) * ACKNOWLEDGED
    assert whole <= set(kept)

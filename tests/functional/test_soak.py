"""A minute of the soak (`benchmarks.soak`), which the benchmarks run for hours."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import CHECKOUT, program_environment

SECONDS = 60


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory and limits as Linux has them")
def test_nothing_is_lost_while_files_change_and_processes_sleep(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "benchmarks.soak", str(tmp_path), "--hours"]
    run = subprocess.run(
        [*program, str(SECONDS / 3600), "--pause", "0"],
        cwd=CHECKOUT,
        env=program_environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert rows[-1]["written"] >= 4
    assert rows[-1]["values"]["app: descriptors"] < 60

"""Runs the command line for tests: in this process or in one of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kbx_tui.cli.main import main

CHECKOUT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class CommandLine:
    """Runs commands in this process, which imports the engine only once."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> Ran:
        self._capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = self._capsys.readouterr()
        return Ran(code, captured.out, captured.err)


def run_program(
    *arguments: str | Path | bytes,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    timeout: float = 120,
) -> Ran:
    """Run `python -m kbx_tui` in a process of its own."""
    finished = subprocess.run(
        [sys.executable, "-m", "kbx_tui", *arguments],
        cwd=cwd,
        env=program_environment(env or {}),
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
    )
    return Ran(finished.returncode, finished.stdout, finished.stderr)


def program_environment(changes: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which this checkout can be imported from any folder."""
    return {**os.environ, "PYTHONPATH": str(CHECKOUT), **changes}

from __future__ import annotations

import pytest

from tests.command_line import CommandLine


@pytest.fixture
def kbx(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Call it with the arguments of a command line."""
    return CommandLine(capsys)

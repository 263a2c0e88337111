"""Types and sizes for snapshot tests, which play a scenario and compare the screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import pytest
from textual.pilot import Pilot

from kbx_tui.tui.app import KbxApp
from tests.functional.tui.driving import Driver, Size
from tests.snapshots.recorded_kb import RecordedKb

WIDE = (140, 40)

Scenario = Callable[[Driver, RecordedKb], Awaitable[None]]
MatchesSnapshot = Callable[..., bool]


def sizes(*sizes: Size) -> pytest.MarkDecorator:
    """Return a mark that runs a test at each of these terminal sizes."""
    return pytest.mark.parametrize("size", sizes, ids=[f"{w}x{h}" for w, h in sizes])


class SnapCompare(Protocol):
    def __call__(
        self,
        app: KbxApp,
        *,
        terminal_size: Size,
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...

"""Playing something on recorded answers, to look at the screen afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import pytest
from textual.pilot import Pilot

from kbx_tui.tui.app import KbxApp
from tests.functional.tui.driving import Driver, Size
from tests.snapshots.recorded_kb import RecordedKb

WIDE = (140, 40)

Play = Callable[[Driver, RecordedKb], Awaitable[None]]
Looks = Callable[..., bool]


def sizes(*chosen: Size) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("size", chosen, ids=[f"{w}x{h}" for w, h in chosen])


class Compare(Protocol):
    def __call__(
        self,
        app: KbxApp,
        *,
        terminal_size: Size,
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...

"""An app on recorded answers, isolated from environment, theme and clock."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.experts.screen import ExpertList
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import Driver, Size, is_counted
from tests.functional.tui.watched import Watched
from tests.snapshots.recorded_kb import RecordedBases, RecordedKb
from tests.snapshots.scenarios import MatchesSnapshot, Scenario, SnapCompare


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, own_collector: None) -> None:
    for name in ("NO_COLOR", "COLORTERM", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def matches_snapshot(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> MatchesSnapshot:
    """Return a function that plays a scenario and compares the screen with its snapshot."""
    monkeypatch.setattr(ResultList, "SETTLE_SECONDS", 3600.0)
    monkeypatch.setattr(ExpertList, "SETTLE_SECONDS", 3600.0)
    monkeypatch.setattr(StatusLine, "NOTICE_SECONDS", 3600.0)

    def compare(play: Scenario, size: Size, kb: RecordedKb | None = None, theme: str = "") -> bool:
        engine = kb or RecordedKb("demo")
        app = KbxApp(engine.root, bases=RecordedBases(engine), debounce=0.0)

        async def run_before(pilot: Pilot[Any]) -> None:
            driver = Driver(app, pilot, Watched())
            app.theme = theme or app.theme
            await driver.until(lambda: is_counted(driver))
            await play(driver, engine)
            await pilot.pause()

        return snap_compare(app, terminal_size=size, run_before=run_before)

    return compare

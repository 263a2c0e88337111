"""The demo for tests of the app, without the state that earlier tests left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui.search.query_history import FILE as HISTORY
from kbx_tui.tui.app_state import BASE_FILE


@pytest.fixture
def demo(demo_kb_path: Path) -> Iterator[Path]:
    """The indexed demo; read-only."""
    files = (demo_kb_path / ".kbx" / BASE_FILE, demo_kb_path / HISTORY)
    for file in files:
        file.unlink(missing_ok=True)
    yield demo_kb_path
    for file in files:
        file.unlink(missing_ok=True)

"""The demo for the app: shared, so without what the app remembered of it in an earlier test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui.tui.app_state import BASE_FILE


@pytest.fixture
def demo(demo_kb_path: Path) -> Iterator[Path]:
    """The indexed demo; its files are for reading only."""
    memory = demo_kb_path / ".kbx" / BASE_FILE
    memory.unlink(missing_ok=True)
    yield demo_kb_path
    memory.unlink(missing_ok=True)

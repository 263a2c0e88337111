from pathlib import Path

import pytest

from tests.unit.editing.two_pages import BEFORE, OTHER, PAGE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A base with two pages."""
    for path in (PAGE, OTHER):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(BEFORE)
    return tmp_path

"""Fixtures of the functional tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.functional.vaults import write_vault


@pytest.fixture(scope="session")
def indexed_vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an indexed base of `vaults.FILES`; tests change copies of it."""
    base = write_vault(tmp_path_factory.mktemp("indexed") / "base")
    with KnowledgeBase(base) as kb:
        kb.index()
    return base

"""Fixtures of the functional tests."""

from pathlib import Path

import pytest

from tests.functional.vaults import index_vault


@pytest.fixture(scope="session")
def indexed_vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an indexed base of `vaults.FILES`; tests change copies of it."""
    return index_vault(tmp_path_factory.mktemp("indexed") / "base")

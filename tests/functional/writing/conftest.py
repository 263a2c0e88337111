"""A writable copy of the base that a test module indexes once, in its fixture `indexed`."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase


@pytest.fixture
def root(indexed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(indexed, tmp_path / "base")


@pytest.fixture
def kb(root: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(root) as opened:
        yield opened

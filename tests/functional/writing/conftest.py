"""A writable copy of the base that a test module indexes once, in its fixture `indexed`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.trusting import copy_base


@pytest.fixture
def root(indexed: Path, tmp_path: Path) -> Path:
    return copy_base(indexed, tmp_path / "base")


@pytest.fixture
def kb(root: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(root) as opened:
        yield opened

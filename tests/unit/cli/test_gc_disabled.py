"""Garbage collection is suspended inside the block and restored after it."""

import gc
from collections.abc import Iterator

import pytest

from kbx_tui.cli.base_command import ALLOCATIONS_BEFORE_COLLECTION, gc_disabled


@pytest.fixture(autouse=True)
def unfreeze_afterwards() -> Iterator[None]:
    """Let later tests collect objects that a test froze."""
    yield
    gc.unfreeze()


def test_threshold_is_raised_inside_and_restored_also_after_an_error() -> None:
    thresholds = gc.get_threshold()
    with gc_disabled():
        assert gc.get_threshold()[0] == ALLOCATIONS_BEFORE_COLLECTION
        assert gc.isenabled()
    assert gc.get_threshold() == thresholds
    assert gc.get_freeze_count() > 0

    thresholds = gc.get_threshold()
    with pytest.raises(KeyError), gc_disabled():
        raise KeyError
    assert gc.get_threshold() == thresholds

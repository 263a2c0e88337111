"""A command that answers once hardly collects garbage, and leaves the collector as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from kbx_tui.cli.uncollected import MANY, uncollected


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """Let later tests collect what this one froze."""
    yield
    gc.unfreeze()


def test_cycles_are_looked_for_rarely_and_afterwards_as_before() -> None:
    usual = gc.get_threshold()
    with uncollected():
        assert gc.get_threshold()[0] == MANY
        assert gc.isenabled()
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() > 0


def test_a_command_that_fails_leaves_the_collector_as_it_was() -> None:
    usual = gc.get_threshold()
    with pytest.raises(KeyError), uncollected():
        raise KeyError
    assert gc.get_threshold() == usual

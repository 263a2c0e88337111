"""What keeps an open base and its index in step: an `IndexSync`, or an `IndexFollower`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbx_tui.tui.engine.client import EngineClient, OpenEngine
from kbx_tui.tui.engine.index_follower import IndexFollower
from kbx_tui.tui.engine.index_sync import IndexSync
from kbx_tui.tui.engine.status import Status

if TYPE_CHECKING:
    from kbx_tui.index.build.new_files import IndexQuestion

IndexUpkeep = IndexSync | IndexFollower


def index_upkeep(
    client: EngineClient,
    open_engine: OpenEngine,
    status: Status,
    *,
    writes: bool,
    on_growth: Callable[[frozenset[str]], None],
    on_question: Callable[[IndexQuestion], None],
) -> IndexUpkeep:
    """Return what indexes the base or, without `writes`, notices what others index."""
    if not writes:
        return IndexFollower(client, status, on_growth=on_growth)
    return IndexSync(client, open_engine, status, on_growth=on_growth, on_question=on_question)

"""The knowledge base as `kbx mcp` and `kbx jsonl` serve it: opened by the first call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbx_tui.cli.opening import named_base
from kbx_tui.cli.running import say

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.tools.servers.calling import Workplace


def open_workplace(*, allow_writes: bool) -> Workplace:
    """Return the workplace for the base that the options name.

    Raises NotFound and ConfigError now: a person reads that, an agent would not.
    """
    root = named_base()
    from kbx_tui.tools.servers.calling import Workplace

    def open_kb() -> KnowledgeBase:
        from kbx_tui.api import KnowledgeBase

        return KnowledgeBase(root, notice=say)

    return Workplace(open_kb, allow_writes=allow_writes)

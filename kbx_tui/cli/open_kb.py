"""Opens the knowledge base that a command works on. Loads the engine only when called."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.cli.base_command import global_options
from kbx_tui.cli.output import say
from kbx_tui.formatting import format_count

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.tools.servers.engine_worker import EngineWorker


def open_kb(root: Path | None = None) -> KnowledgeBase:
    """Open the knowledge base at `root`, or else at `selected_root()`.

    Raises NotFound when there is none or it has no markdown, and ConfigError.
    """
    from kbx_tui.api import KnowledgeBase

    return KnowledgeBase(root or selected_root(), notice=say)


def open_worker(*, allow_writes: bool) -> EngineWorker:
    """Return the worker of a server, whose first call opens the knowledge base.

    Raises NotFound and ConfigError at once, where the user sees them; an agent would not.
    """
    root = selected_root()
    from kbx_tui.tools.servers.engine_worker import EngineWorker

    return EngineWorker(partial(open_kb, root), allow_writes=allow_writes)


def selected_root() -> Path:
    """Return the root of the knowledge base that the options select. Raises as `open_kb` does."""
    from kbx_tui.base_discovery import find_base

    return find_base(selected_folder())


def selected_folder() -> Path | None:
    """Return the folder given by `--kb` or KBX_ROOT, if any."""
    from kbx_tui.settings_file import knowledge_base_from_environment

    return global_options().kb or knowledge_base_from_environment()


def warn_if_outdated(kb: KnowledgeBase) -> None:
    """Print a message when files are newer than the index."""
    if count := kb.count_newer_files():
        files = format_count(count, "file")
        say(f"{files} changed since the last run; `kbx index` updates the index")

"""Which knowledge base a command works on. Loads the engine only when asked to open it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.cli.running import say, session

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase


def open_kb() -> KnowledgeBase:
    """Open the knowledge base the options name.

    Raises NotFound, also when there is nothing to search in it, and ConfigError.
    """
    from kbx_tui.api import KnowledgeBase

    return KnowledgeBase(named_base(), notice=say)


def named_base() -> Path:
    """Return the root of the knowledge base the options name. Raises NotFound as `open_kb`."""
    from kbx_tui.base_discovery import find_base

    return find_base(given_base())


def given_base() -> Path | None:
    """Return the folder that an option or the environment names."""
    from kbx_tui.config import knowledge_base_from_environment

    return session().kb or knowledge_base_from_environment()

"""Opens the knowledge base that a command works on. Loads the engine only when called."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.cli.base_command import global_options
from kbx_tui.cli.output import say
from kbx_tui.errors import ConfigError

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.tools.engine_worker import EngineWorker


def open_kb(root: Path | None = None) -> KnowledgeBase:
    """Open the knowledge base at `root`, or else at `selected_root()`.

    Raises NotFound when there is none or it has no markdown, ConfigError and NotTrusted.
    """
    from kbx_tui.api import KnowledgeBase

    return KnowledgeBase(root or selected_root(), notice=say, trust=global_options().trust)


def open_worker(*, allow_writes: bool, warm: bool) -> EngineWorker:
    """Return the worker of a server, which keeps the index up to date.

    The first call opens the knowledge base, or with `warm` the connection of a client. Raises
    NotFound and ConfigError at once, where the user sees them; an agent would not.
    """
    root = selected_root(may_be_empty=True)
    trust = global_options().trust  # read here: the worker's thread has no options
    from kbx_tui.tools.engine_worker import EngineWorker

    def opened() -> KnowledgeBase:
        from kbx_tui.api import KnowledgeBase

        return KnowledgeBase(root, notice=say, trust=trust)

    return EngineWorker(opened, allow_writes=allow_writes, background=True, warms=warm)


def selected_root(*, may_be_empty: bool = False) -> Path:
    """Return the root of the knowledge base that the options select. Raises as `open_kb` does.

    `may_be_empty` accepts one without markdown.
    """
    from kbx_tui.base_discovery import find_base

    return find_base(selected_folder(), may_be_empty=may_be_empty)


def selected_folder() -> Path | None:
    """Return the folder given by `--kb` or KBX_ROOT, if any.

    Raises ConfigError where `--kb` is given more than once, which only the app and a search take.
    """
    from kbx_tui.settings_file import knowledge_base_from_environment

    given = selected_folders()
    if len(given) > 1:
        raise ConfigError(
            "--kb is given more than once, but only the app and `kbx search` take several"
            " knowledge bases; start a server for each"
        )
    return given[0] if given else knowledge_base_from_environment()


def selected_folders() -> list[Path]:
    return list(dict.fromkeys(global_options().kb))


def warn_if_outdated(kb: KnowledgeBase) -> None:
    """Print a message when files, or the entities of kbx.toml, are newer than the index."""
    from kbx_tui.api.session import outdated_notes

    for note in outdated_notes(kb.count_newer_files(), entities=kb.entities_outdated()):
        say(note)


ALLOCATIONS_BEFORE_COLLECTION = 1_000_000
"""More allocations than a search makes; indexing makes more and so stays bounded in memory.

Chosen by the experiment "garbage collection in one-shot commands" in docs/quality.md.
"""


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Raise the collection threshold inside the block, and freeze what is alive at its end.

    Each collection would scan every loaded object and free none; freezing keeps the interpreter
    from scanning them again at exit.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS_BEFORE_COLLECTION, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.freeze()

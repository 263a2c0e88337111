"""Opens and creates knowledge bases, and completes the names of folders."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.errors import KbxError
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.api.session import Notice
    from kbx_tui.base_trust import TrustRequest


class Bases:
    """Knowledge bases on this machine. Methods do I/O: call them off the event loop."""

    writes = True
    """Whether bases may be changed, and their indexes are kept up to date."""

    def __init__(self, trusted: Collection[Path | None] = ()) -> None:
        self._trusted = trusted

    def open(self, root: Path, notice: Notice = lambda text: None) -> KnowledgeBase:
        from kbx_tui.api import KnowledgeBase

        return KnowledgeBase(root, notice=notice, trust=root in self._trusted)

    def questions(self, root: Path) -> tuple[TrustRequest, ...]:
        """Return requests not allowed yet; none if declined and the base opens without them."""
        from kbx_tui.base_trust import is_declined, requests_of, ungranted
        from kbx_tui.settings_file import load_settings

        requests = ungranted(root, requests_of(root, load_settings(root)))
        is_open = not any(request.blocks for request in requests)
        return () if is_open and is_declined(root, requests) else requests

    def answer(self, root: Path, requests: Sequence[TrustRequest], *, allowed: bool) -> None:
        from kbx_tui.base_trust import decline, grant

        (grant if allowed else decline)(root, requests)

    def demo(self) -> Path:
        from kbx_tui.demo import install_demo

        return install_demo()

    def existing(self, folder: str) -> Path:
        from kbx_tui.base_discovery import find_base

        return find_base(Path(folder).expanduser())

    def new(self, folder: str) -> Path:
        from kbx_tui.base_discovery import create_base
        from kbx_tui.base_trust import trust_made_here

        root = create_base(Path(folder).expanduser())
        with suppress(KbxError):  # the base exists, and asks for trust when it needs it
            trust_made_here(root)
        return root


def is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def complete_folder(typed: str, limit: int = 50) -> Sequence[str]:
    """Return folders whose paths begin with `typed`, each with a slash at the end; `~` is kept."""
    path = Path(typed) if typed else Path()
    is_complete = typed.endswith("/") or not typed
    parent, prefix = (path, "") if is_complete else (path.parent, path.name)
    try:
        names = sorted(
            entry.name
            for entry in parent.expanduser().iterdir()
            if entry.name.startswith(prefix)
            and entry.is_dir()
            and (prefix.startswith(".") or not entry.name.startswith("."))
            and safe_line(entry.name) == entry.name
        )
    except (OSError, RuntimeError, ValueError):  # RuntimeError: `~name` with an unknown user
        return ()
    start = typed if is_complete else typed[: len(typed) - len(prefix)]
    return [f"{start}{name}/" for name in names[:limit]]

"""Opens the app. The only module of the command line that loads Textual."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Literal

from kbx_tui.cli.base_command import (
    InternalError,
    global_options,
    selected_folder,
    selected_folders,
    selected_root,
)
from kbx_tui.ending import on_signal
from kbx_tui.errors import KbxError, NotFound

SMOKE_SIZE = (80, 24)


def open_app() -> None:
    """Open the app on the knowledge base, or the several, that the options select.

    Without one, the app asks which to open. Raises KbxError.
    """
    if len(folders := selected_folders()) > 1:
        from kbx_tui.base_discovery import find_base

        roots = list(dict.fromkeys(find_base(folder).resolve() for folder in folders))
        run_app(roots[0], together=roots if len(roots) > 1 else ())
        return
    try:
        root = selected_root()
    except NotFound as error:
        if selected_folder() is not None or not has_terminal():
            raise
        run_app(None, why=str(error))
    else:
        run_app(root)


def run_app(
    root: Path | None,
    why: str = "",
    drafts: Path | None = None,
    tour: Literal["no", "first", "always"] = "no",
    together: Sequence[Path] = (),
) -> None:
    """Run the app on the knowledge base at `root`; None makes it ask for one and show `why`.

    A file of `drafts` opens the dedup mode; `tour` and `together` as in `KbxApp`. Raises KbxError
    without a terminal.
    """
    if not has_terminal():
        raise KbxError("the app needs a terminal; `kbx search QUERY` works without one")
    from rich.console import Console

    from kbx_tui.tui.app import KbxApp
    from kbx_tui.user_files import log_path, logger, open_log

    open_log()
    app = KbxApp(
        root, why=why, drafts=drafts, trust=global_options().trust, tour=tour, together=together
    )
    captured = StringIO()
    if not global_options().debug:  # Textual would print a traceback
        app.error_console = Console(file=captured, width=1_000)
    with on_signal(app.stop_from_thread):
        app.run()
    if app.return_code:
        logger().error("%s", captured.getvalue())
        raise InternalError(f"{last_error(captured.getvalue())} (details in {log_path()})")


def last_error(tracebacks: str) -> str:
    """Return the last `SomeError: message` of the tracebacks that Textual printed."""
    errors = re.findall(r"^\w*[a-z]\w*: .*$", tracebacks, flags=re.MULTILINE)
    return errors[-1].strip() if errors else "the app ended with an error"


def compose_headless(root: Path) -> int:
    import asyncio

    from kbx_tui.tui.app import KbxApp

    async def compose() -> int:
        app = KbxApp(root)
        async with app.run_test(size=SMOKE_SIZE) as pilot:
            await pilot.pause()
            return len(app.screen.query("*"))

    return asyncio.run(compose())


def has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()

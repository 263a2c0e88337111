"""Opening the app. Textual is loaded here and nowhere else on the command line."""

from __future__ import annotations

import asyncio
import re
import sys
from io import StringIO
from pathlib import Path

from kbx_tui.cli.opening import given_base, named_base
from kbx_tui.cli.running import InternalError, session
from kbx_tui.errors import KbxError, NotFound

SMOKE_SIZE = (80, 24)


def open_app() -> None:
    """Open the app on the knowledge base the options name.

    Where none is named and none is here, the app asks which one. Raises KbxError.
    """
    try:
        root = named_base()
    except NotFound as error:
        if given_base() is not None or not has_terminal():
            raise
        run_app(None, why=str(error))
    else:
        run_app(root)


def run_app(root: Path | None, why: str = "", drafts: Path | None = None) -> None:
    """Open the app on the knowledge base at `root`; with None it asks, and says `why`.

    With a file of `drafts` it opens in the dedup mode. Raises KbxError without a terminal.
    """
    if not has_terminal():
        raise KbxError("the app needs a terminal; `kbx search QUERY` works without one")
    from rich.console import Console

    from kbx_tui.log_file import log_path, logger, open_log
    from kbx_tui.tui.app import KbxApp

    open_log()
    app = KbxApp(root, why=why, drafts=drafts)
    written = StringIO()
    if not session().debug:  # Textual would print a traceback
        app.error_console = Console(file=written, width=1_000)
    app.run()
    if app.ended_by:
        sys.exit(128 + app.ended_by)  # as shells count
    if app.return_code:
        logger().error("%s", written.getvalue())
        raise InternalError(f"{last_error(written.getvalue())} (more in {log_path()})")


def last_error(tracebacks: str) -> str:
    """Return the last `SomeError: what it says` among the tracebacks that Textual draws."""
    errors = re.findall(r"^\w*[a-z]\w*: .*$", tracebacks, flags=re.MULTILINE)
    return errors[-1].strip() if errors else "the app ended with an error"


def compose_headless(root: Path) -> int:
    """Compose the app without a terminal and return how many widgets it shows."""
    from kbx_tui.tui.app import KbxApp

    async def compose() -> int:
        app = KbxApp(root)
        async with app.run_test(size=SMOKE_SIZE) as pilot:
            await pilot.pause()
            return len(app.screen.query("*"))

    return asyncio.run(compose())


def has_terminal() -> bool:
    """Tell whether a person sits in front of it."""
    return sys.stdin.isatty() and sys.stdout.isatty()

"""Opening the app. Textual is loaded here and nowhere else on the command line."""

from __future__ import annotations

import asyncio
import re
import sys
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.cli.opening import find_base
from kbx_tui.cli.running import InternalError, session
from kbx_tui.errors import KbxError

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

SMOKE_SIZE = (80, 24)


def open_app() -> None:
    """Open the app on the knowledge base the options name."""
    run_app(find_base())


def run_app(root: Path) -> None:
    """Open the app on the knowledge base at `root`. Raises KbxError without a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise KbxError("the app needs a terminal; `kbx search QUERY` works without one")
    from rich.console import Console

    from kbx_tui.tui.app import KbxApp

    app = KbxApp(open_kb=lambda: _opened(root))
    written = StringIO()
    if not session().debug:  # Textual would print a traceback
        app.error_console = Console(file=written, width=1_000)
    app.run()
    if app.return_code:
        raise InternalError(last_error(written.getvalue()))


def last_error(tracebacks: str) -> str:
    """Return the last `SomeError: what it says` among the tracebacks that Textual draws."""
    errors = re.findall(r"^\w*[a-z]\w*: .*$", tracebacks, flags=re.MULTILINE)
    return errors[-1].strip() if errors else "the app ended with an error"


def compose_headless(root: Path) -> int:
    """Compose the app without a terminal and return how many widgets it shows."""
    from kbx_tui.tui.app import KbxApp

    async def compose() -> int:
        app = KbxApp(open_kb=lambda: _opened(root))
        async with app.run_test(size=SMOKE_SIZE) as pilot:
            await pilot.pause()
            return len(app.screen.query("*"))

    return asyncio.run(compose())


def _opened(root: Path) -> KnowledgeBase:
    from kbx_tui.api import KnowledgeBase

    return KnowledgeBase(root)

"""Runs the app for one visitor of a web server, which communicates over stdin and stdout."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from kbx_tui.ending import install, leave, on_signal
from kbx_tui.system import limit_memory

COLORS = {"COLORTERM": "truecolor", "TERM": "xterm-256color"}
"""Describes the terminal in the browser, unless the server sets other values."""


def main() -> NoReturn:
    install()
    options = _options()
    if options.memory_bytes is not None:
        limit_memory(options.memory_bytes)
    for name, value in COLORS.items():
        os.environ.setdefault(name, value)
    from kbx_tui.tui.visitor.visitor_app import VisitorApp
    from kbx_tui.user_files import open_log

    open_log()
    app = VisitorApp(options.kb, allow_writes=options.allow_writes, scheme=options.scheme)
    with on_signal(app.stop_from_thread):
        app.run()
    leave(app.return_code or 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m kbx_tui.tui.visitor",
        description="The app for one visitor of a web server, on stdin and stdout.",
        allow_abbrev=False,
    )
    parser.add_argument("--kb", type=Path, action="append", required=True, help="a base to show")
    parser.add_argument("--memory-bytes", type=int, help="the most private data to use")
    parser.add_argument("--allow-writes", action="store_true", help="let the visitor write")
    parser.add_argument(
        "--scheme", choices=("light", "dark"), default="dark", help="what the system prefers"
    )
    return parser.parse_args(sys.argv[1:])


if __name__ == "__main__":
    main()

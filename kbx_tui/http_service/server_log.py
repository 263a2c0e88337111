"""What servers write besides answers: the log file, and one line of a warning on the terminal.

Libraries quote headers as they were sent, and anyone who can connect would write lines; so of them
only errors are kept, in the log file.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kbx_tui.log_file import logger

LIBRARIES = ("aiohttp", "asyncio", "mcp", "uvicorn")


def log_libraries() -> None:
    """Write errors of the libraries, with their tracebacks, to the log file, once that is open."""
    for name in LIBRARIES:
        library = logging.getLogger(name)
        library.parent = logger()
        library.setLevel(logging.ERROR)


def show_warnings(say: Callable[[str], object]) -> None:
    """Call `say` with each warning and error of this program, without its traceback."""
    logger().addHandler(_Lines(say))


class _Lines(logging.Handler):
    def __init__(self, say: Callable[[str], object]) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] == logger().name:  # not of a library
            self._say(record.getMessage())

"""The log file of the app: what went wrong, with where, for whoever has to mend it."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

from platformdirs import user_log_path

LOG_NAME = "kbx-tui.log"
LOG_BYTES = 1_000_000
"""The file is begun anew at this size; one older one is kept."""


def log_path() -> Path:
    """Return where the log is: `KBX_LOG_DIR`, else the user's log folder."""
    given = os.environ.get("KBX_LOG_DIR", "")
    folder = Path(given).expanduser() if given else user_log_path("kbx-tui", appauthor=False)
    return folder / LOG_NAME


def logger() -> logging.Logger:
    """Return the logger of the app. Writes nothing until `open_log`."""
    log = logging.getLogger("kbx_tui")
    log.propagate = False
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    return log


def open_log() -> None:
    """Write the log from now on; a disk that refuses it is no reason not to work."""
    path, log = log_path(), logger()
    if any(isinstance(handler, RotatingFileHandler) for handler in log.handlers):
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)

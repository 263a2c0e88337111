"""Files of the user that belong to no single base: the state and cache folders, and the log."""

from __future__ import annotations

import logging
import os
import re
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

from platformdirs import user_cache_path, user_log_path, user_state_path


def user_state_folder() -> Path:
    """Return `KBX_STATE_DIR`, else the state folder of the user's system."""
    if configured := os.environ.get("KBX_STATE_DIR", ""):
        return Path(configured).expanduser()
    return user_state_path("kbx-tui", appauthor=False)


def user_cache_folder() -> Path:
    """Return `KBX_CACHE_DIR`, else the cache folder of the user's system."""
    if configured := os.environ.get("KBX_CACHE_DIR", ""):
        return Path(configured).expanduser()
    return user_cache_path("kbx-tui", appauthor=False)


LOG_NAME = "kbx-tui.log"
LOG_BYTES = 1_000_000
"""Size at which the log is rotated; one older file is kept."""
LOG_FORMAT = "%(asctime)s %(levelname)s %(module)s:%(lineno)d %(message)s"
LOG_RECORD = re.compile(
    r"^(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d+ "
    r"(?P<level>[A-Z]+) (?P<module>\w+):(?P<line>\d+) ",
    re.MULTILINE,
)
"""The beginning of a record of that format."""


def log_path() -> Path:
    """Return the path of the log, in `KBX_LOG_DIR` or the user's log folder."""
    if configured := os.environ.get("KBX_LOG_DIR"):
        return Path(configured).expanduser() / LOG_NAME
    return user_log_path("kbx-tui", appauthor=False) / LOG_NAME


def logger() -> logging.Logger:
    """Return the logger of the app, which writes nothing before `open_log`."""
    log = logging.getLogger("kbx_tui")
    log.propagate = False
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    return log


def open_log() -> None:
    """Start writing the log. Errors are ignored: the app works without a log."""
    path, log = log_path(), logger()
    if any(isinstance(handler, RotatingFileHandler) for handler in log.handlers):
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
        handler.setFormatter(logging.Formatter(LOG_FORMAT))
        log.addHandler(handler)
        log.setLevel(logging.INFO)

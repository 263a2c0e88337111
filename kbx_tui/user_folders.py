"""Folders of the user that hold what belongs to no single base."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_state_path


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

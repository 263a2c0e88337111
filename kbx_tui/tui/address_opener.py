"""Opens an address with the program that the desktop has for it."""

from __future__ import annotations

import subprocess
import sys

OPENERS = {"darwin": "open", "win32": "explorer"}
"""Programs that open an address, by platform; `xdg-open` elsewhere."""


def open_address(address: str) -> str:
    """Open an address beside the app; return a sentence that says so, or why it cannot be."""
    program, quiet = OPENERS.get(sys.platform, "xdg-open"), subprocess.DEVNULL
    try:
        subprocess.Popen(
            [program, address], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
    except OSError as error:
        return f"{program} cannot be started: {error.strerror or error}"
    return "opened in Obsidian"

"""Opens the page in the browser of this machine."""

from __future__ import annotations

import os
import webbrowser

from kbx_tui.web.private_folder import private_folder


def open_browser(link: str, port: int) -> bool:
    """Open a link; return whether there is a browser. The link is in a file of the user's alone.

    Every user of the machine can list the command lines of programs, and so a link given as an
    argument. Raises ConfigError and OSError.
    """
    name = f"{port}.html"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with private_folder() as folder:
        descriptor = os.open(name, flags, 0o600, dir_fd=folder.descriptor)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={link}">')
    return webbrowser.open((folder.path / name).as_uri())

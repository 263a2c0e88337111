"""Opens the page in the browser of this machine."""

from __future__ import annotations

import os
import webbrowser

from kbx_tui.web.link_service import link_socket


def open_browser(link: str, port: int) -> None:
    """Open a link. It reaches the browser in a file that only the user may read.

    Every user of the machine can list the command lines of programs, and so a link given as an
    argument.
    """
    file = link_socket(port).with_suffix(".html")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8") as opened:
        opened.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={link}">')
    webbrowser.open(file.as_uri())

"""Another link of a running server, for a second device.

The server listens on a socket in the user's state folder, which only the user may open.
"""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.user_folders import user_state_folder

ANSWER_SECONDS = 5.0
LINK_BYTES = 4_000


def link_socket(port: int) -> Path:
    """Return the path of the socket of the server on `port`."""
    return user_state_folder() / "web" / f"{port}.sock"


async def serve_links(port: int, new_link: Callable[[], str]) -> asyncio.Server:
    """Give a new link to whoever connects to the socket of this port.

    Raises ConfigError if the socket cannot be made.
    """
    path = link_socket(port)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(new_link().encode())
        writer.close()

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)  # the socket can be opened by others until its mode is set
        server = await asyncio.start_unix_server(answer, path)
        path.chmod(0o600)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"the socket {path} for more links cannot be made: {reason}") from error
    return server


def ask_for_link(port: int) -> str:
    """Return a new link of the server on `port`. Raises KbxError if none is running."""
    path = link_socket(port)
    failure = KbxError(f"no `kbx web` of yours is running on port {port}; --port names another")
    if not path.exists() or not _is_ours(path):
        raise failure
    with socket.socket(socket.AF_UNIX) as asked:
        asked.settimeout(ANSWER_SECONDS)
        try:
            asked.connect(str(path))
            link = b""
            while (part := asked.recv(LINK_BYTES)) and len(link) < LINK_BYTES:
                link += part
        except OSError as error:
            raise failure from error
    return link.decode()


def _is_ours(path: Path) -> bool:
    """Return whether a path is a socket that this user has made."""
    status = path.lstat()
    return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid()

"""Another link of a running server, for a second device.

The server listens on a socket in the user's state folder, which only the user may open. Its name
has the address and the port: servers on different addresses may have the same port.
"""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.removal import remove_link_socket
from kbx_tui.web.listening import Listening, numeric_address
from kbx_tui.web.private_folder import PrivateFolder, private_folder

ANSWER_SECONDS = 5.0
LINK_BYTES = 4_000


@asynccontextmanager
async def links_served(listening: Listening, new_link: Callable[[], str]) -> AsyncIterator[None]:
    """Give a new link to whoever connects to the socket of this server, within the block.

    Raises ConfigError if the socket cannot be made.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(new_link().encode())
        writer.close()

    with private_folder() as folder:
        name = f"{listening.address}-{listening.port}.sock"
        try:
            server = await asyncio.start_unix_server(answer, folder.address(name))
            os.chmod(name, 0o600, dir_fd=folder.descriptor)
        except (OSError, ValueError) as error:  # ValueError: a path that is too long
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(
                f"the socket {folder.path / name} for more links cannot be made: {reason}; "
                "KBX_STATE_DIR names another folder"
            ) from error
        try:
            yield
        finally:
            server.close()
            with suppress(OSError):  # Python 3.13 has removed it already
                remove_link_socket(name, folder.descriptor)


def ask_for_link(port: int, host: str | None = None) -> str:
    """Return a new link of the server on `port`, of several of that on `host`.

    Raises KbxError if none of them is running, or if several are and `host` does not say which.
    """
    with private_folder() as folder:
        links = {
            address: link
            for name in folder.names()
            if (address := name.removesuffix(f"-{port}.sock")) != name
            if host is None or address == numeric_address(host)
            if (link := _ask(folder, name))
        }
    if len(links) > 1:
        which = " or ".join(f"--host {address}" for address in links)
        raise KbxError(f"several `kbx web` of yours are running on port {port}: {which} says which")
    for link in links.values():
        return link
    raise KbxError(f"no `kbx web` of yours is running on port {port}; --port names another")


def _ask(folder: PrivateFolder, name: str) -> str:
    """Return what the server behind a socket answers; empty if none does."""
    link = b""
    with socket.socket(socket.AF_UNIX) as asked, suppress(OSError):
        if not _is_ours(folder, name):
            return ""
        asked.settimeout(ANSWER_SECONDS)
        asked.connect(folder.address(name))
        while (part := asked.recv(LINK_BYTES)) and len(link) < LINK_BYTES:
            link += part
    return link.decode()


def _is_ours(folder: PrivateFolder, name: str) -> bool:
    """Return whether a file is a socket that this user has made. Raises OSError."""
    status = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
    return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid()

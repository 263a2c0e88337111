"""Links that are valid once, the visitors who came by them, and further links for other devices.

Links and cookies are in memory: when the server ends, all are void. For a second device the server
listens on a socket in the user's state folder, which only the user may open. Its name has the
address and the port: servers on different addresses may have the same port.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import socket
import stat
import sys
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.removal import remove_link_socket
from kbx_tui.user_files import user_state_folder
from kbx_tui.web.listening import Listening, numeric_address

Clock = Callable[[], float]
"""Seconds; only differences count."""


class Visitors:
    """The valid links, and the visitors who used one. Only digests of secrets are kept."""

    def __init__(
        self, link_seconds: float, visitor_seconds: float, clock: Clock = time.monotonic
    ) -> None:
        self._link_seconds, self._visitor_seconds, self._clock = (
            link_seconds, visitor_seconds, clock,
        )  # fmt: skip
        self._links: dict[bytes, float] = {}
        """When the link of a token expires, by the digest of the token."""
        self._visitors: dict[bytes, float] = {}
        """When the cookie of a visitor expires, by the digest of its value."""

    def new_token(self) -> str:
        token = secrets.token_urlsafe(32)
        self._links[_digest(token)] = self._clock() + self._link_seconds
        return token

    def enter(self, token: str) -> str | None:
        """Use up a token; return the cookie of a new visitor, or None if it is not valid."""
        expires = self._links.pop(_digest(token), None)
        if expires is None or expires <= self._clock():
            return None
        cookie = secrets.token_urlsafe(32)
        self._visitors[_digest(cookie)] = self._clock() + self._visitor_seconds
        return cookie

    def visitor(self, cookie: str) -> str | None:
        """Return the public name of the visitor with this cookie, or None if it is unknown.

        Digests are compared, so the time it takes says nothing about the cookies that are valid.
        """
        digest = _digest(cookie)
        expires = self._visitors.get(digest)
        if expires is None or expires <= self._clock():
            self._visitors.pop(digest, None)
            return None
        return digest.hex()


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


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


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """The open folder. What is reached through it cannot be put elsewhere by a link."""

    path: Path
    descriptor: int

    def names(self) -> list[str]:
        with os.scandir(self.descriptor) as entries:
            return sorted(entry.name for entry in entries)

    def address(self, name: str) -> str:
        """Return a path of a file in it for the address of a socket, which is short.

        Addresses have at most about 100 bytes. Where the system cannot name an open folder, the
        path of the folder is used, however long it is.
        """
        folder = f"/proc/self/fd/{self.descriptor}" if sys.platform == "linux" else self.path
        return f"{folder}/{name}"


@contextmanager
def private_folder() -> Iterator[PrivateFolder]:
    """Open the folder, made if need be. Raises ConfigError if that fails, or if it is a link."""
    path = user_state_folder() / "web"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise _unusable(path, error.strerror) from error
    try:
        if os.fstat(descriptor).st_uid != os.getuid():
            raise _unusable(path, "it belongs to another user")
        if stat.S_IMODE(os.fstat(descriptor).st_mode) != 0o700:
            os.fchmod(descriptor, 0o700)  # a socket can be opened by others until its mode is set
        yield PrivateFolder(path, descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: Path, reason: str | None) -> ConfigError:
    return ConfigError(
        f"the folder {path} of `kbx web` cannot be used: {reason}; move it away, or set "
        "KBX_STATE_DIR to another folder"
    )


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

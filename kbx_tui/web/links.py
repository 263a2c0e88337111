"""Where the server listens, its one-time links for visitors, and further links for other devices.

Links and cookies are kept in memory, and become invalid when the server ends. For a second device,
the server listens on a socket in the user's state folder, which only the user may open. Its name
contains address and port, because servers on different addresses may have the same port.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import socket
import ssl
import stat
import sys
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.http_service.hosts import (
    HostRules,
    host_rules,
    ipv4_of_localhost,
    is_loopback,
    listen_on,
)
from kbx_tui.removal import remove_link_socket
from kbx_tui.user_files import user_state_folder

WAITING_CONNECTIONS = 64
DEFAULT_PORTS = {"http": 80, "https": 443}
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*")
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Listening:
    """A listening socket, and how browsers reach it."""

    socket: socket.socket
    tls: ssl.SSLContext | None
    rules: HostRules
    path: str
    """Path of the page without the last slash: empty, or for example `/kbx`."""
    url: str
    """Address of the page, with the last slash."""

    @property
    def address(self) -> str:
        return str(self.socket.getsockname()[0])

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])


def listen(
    host: str,
    port: int,
    *,
    base_url: str = "",
    certificate: tuple[Path, Path] | None = None,
    insecure_bind: bool = False,
) -> Listening:
    """Listen on `host`; port 0 picks a free port.

    `base_url` is the path, or the full address, at which a proxy serves the page; `certificate` is
    the files of a certificate and its key. Raises ConfigError for invalid arguments, and for a host
    that other machines can reach, unless the traffic is encrypted or `insecure_bind` is set.
    """
    public, path = _parse_base_url(base_url)
    if not (is_loopback(host) or certificate or insecure_bind):
        raise ConfigError(
            f"--host {host} can be reached by other machines, and what is sent would not be "
            "encrypted: give --certfile and --keyfile, or --insecure-bind in a network that you "
            "trust"
        )
    tls = None if certificate is None else _tls(*certificate)
    bound = listen_on(host, port, waiting=WAITING_CONNECTIONS, option="--port")
    rules = host_rules(host, secure=tls is not None, public_url=public)
    name = f"[{host}]" if ":" in host else host
    if name in ("0.0.0.0", "[::]"):
        name = socket.gethostname()
    origin = public or f"{rules.scheme}://{name}:{bound.getsockname()[1]}"
    return Listening(bound, tls, rules, path, f"{origin}{path}/")


def numeric_address(host: str) -> str:
    """Return the address at which a server on `host` listens; empty for an unknown host."""
    try:
        return str(socket.getaddrinfo(ipv4_of_localhost(host), None)[0][4][0])
    except (OSError, ValueError):  # ValueError: part of the name is too long
        return ""


def _parse_base_url(base_url: str) -> tuple[str, str]:
    """Return origin (empty if it has none) and path of `--base-url`. Raises ConfigError."""
    with suppress(ValueError):  # invalid brackets or port
        parts = urlsplit(base_url)
        name, port, path = parts.hostname, parts.port, parts.path.rstrip("/")
        is_page = not (parts.query or parts.fragment or {".", ".."} & set(path.split("/")))
        if is_page and _PATH.fullmatch(path):
            if not (parts.scheme or parts.netloc):
                return "", path
            if parts.scheme in DEFAULT_PORTS and name and _HOST.fullmatch(parts.netloc):
                host = parts.netloc.lower()
                if port == DEFAULT_PORTS[parts.scheme]:
                    host = host.removesuffix(f":{port}")  # browsers omit it
                return f"{parts.scheme}://{host}", path
    raise ConfigError(
        f"--base-url {base_url} is neither a path such as /kbx nor an address such as "
        "https://notes.example.org/kbx"
    )


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise ConfigError(
            f"the certificate {certificate} and its key {key} cannot be used: {reason}"
        ) from error
    return context


def _no_password() -> str:
    raise ValueError("the key has a password")


Clock = Callable[[], float]
"""Returns seconds, of which only differences matter."""


class Visitors:
    """The valid links, and the visitors who used one. Only digests of secrets are kept."""

    def __init__(
        self, link_seconds: float, visitor_seconds: float, clock: Clock = time.monotonic
    ) -> None:
        self._link_seconds, self._visitor_seconds = link_seconds, visitor_seconds
        self._clock = clock
        self._links: dict[bytes, float] = {}
        """Time at which each link expires, by digest of its token."""
        self._visitors: dict[bytes, float] = {}
        """Time at which each visitor's cookie expires, by digest of its value."""

    def new_token(self) -> str:
        token = secrets.token_urlsafe(32)
        self._links[_digest(token)] = self._clock() + self._link_seconds
        return token

    def enter(self, token: str) -> str | None:
        """Use up a token; return the cookie of a new visitor, or None if the token is not valid."""
        expires = self._links.pop(_digest(token), None)
        if expires is None or expires <= self._clock():
            return None
        cookie = secrets.token_urlsafe(32)
        self._visitors[_digest(cookie)] = self._clock() + self._visitor_seconds
        return cookie

    def visitor(self, cookie: str) -> str | None:
        """Return the public name of the visitor with this cookie, or None if it is unknown.

        Digests are compared, so the time taken reveals nothing about valid cookies.
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
    """Within the block, answer each connection to the socket with a link. Raises ConfigError."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(new_link().encode())
        writer.close()

    with private_folder() as folder:
        name = f"{listening.address}-{listening.port}.sock"
        try:
            server = await asyncio.start_unix_server(answer, folder.address(name))
            os.chmod(name, 0o600, dir_fd=folder.descriptor)
        except (OSError, ValueError) as error:  # ValueError: the path is too long
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(
                f"the socket {folder.path / name} for more links cannot be made: {reason}; "
                "KBX_STATE_DIR names another folder"
            ) from error
        try:
            yield
        finally:
            server.close()
            with suppress(OSError):  # Python 3.13 and newer have already removed it
                remove_link_socket(name, folder.descriptor)


def ask_for_link(port: int, host: str | None = None) -> str:
    """Return a new link from the server on `port`, and on `host` if there are several.

    Raises KbxError if no such server is running, or if several are and `host` does not say which.
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
        status = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
        if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
            return ""  # it is not of a server of this user
        asked.settimeout(ANSWER_SECONDS)
        asked.connect(folder.address(name))
        while (part := asked.recv(LINK_BYTES)) and len(link) < LINK_BYTES:
            link += part
    return link.decode()


@dataclass(frozen=True, slots=True)
class PrivateFolder:
    """The open folder. Access through its descriptor cannot be redirected by a symbolic link."""

    path: Path
    descriptor: int

    def names(self) -> list[str]:
        with os.scandir(self.descriptor) as entries:
            return sorted(entry.name for entry in entries)

    def address(self, name: str) -> str:
        """Return the path of a file in it, short if possible: addresses have at most 100 bytes."""
        folder = f"/proc/self/fd/{self.descriptor}" if sys.platform == "linux" else self.path
        return f"{folder}/{name}"


@contextmanager
def private_folder() -> Iterator[PrivateFolder]:
    """Open the folder, created if necessary. Raises ConfigError if that fails, or for a link."""
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
            os.fchmod(descriptor, 0o700)  # others can open a socket until its mode is set
        yield PrivateFolder(path, descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: Path, reason: str | None) -> ConfigError:
    return ConfigError(
        f"the folder {path} of `kbx web` cannot be used: {reason}; move it away, or set "
        "KBX_STATE_DIR to another folder"
    )


def open_browser(link: str, port: int) -> bool:
    """Open a link; return whether there is a browser. The link is passed in a private file.

    Every user of the machine can list command lines, and would see a link passed as an argument.
    Raises ConfigError and OSError.
    """
    name = f"{port}.html"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with private_folder() as folder:
        descriptor = os.open(name, flags, 0o600, dir_fd=folder.descriptor)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={link}">')
    return webbrowser.open((folder.path / name).as_uri())

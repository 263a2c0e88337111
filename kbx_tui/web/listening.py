"""Where the server listens, and the addresses it is reached at."""

from __future__ import annotations

import re
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from kbx_tui.errors import ConfigError
from kbx_tui.http_service.hosts import (
    HostRules,
    host_rules,
    ipv4_of_localhost,
    is_loopback,
    listen_on,
)

WAITING_CONNECTIONS = 64
DEFAULT_PORTS = {"http": 80, "https": 443}
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*")
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Listening:
    """A socket that listens, and how browsers reach it."""

    socket: socket.socket
    tls: ssl.SSLContext | None
    rules: HostRules
    path: str
    """Path of the page without the last slash: empty, or `/kbx`."""
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
    """Listen on `host`; port 0 picks a free one.

    `base_url` is the path, or the whole address, under which a proxy serves the page;
    `certificate` the files of a certificate and of its key. Raises ConfigError for what is invalid,
    and for a host that other machines can reach, unless what is sent is encrypted or
    `insecure_bind` is set.
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
    """Return the address at which a server on `host` listens; empty for one that is unknown."""
    try:
        return str(socket.getaddrinfo(ipv4_of_localhost(host), None)[0][4][0])
    except (OSError, ValueError):  # ValueError: a part of a name that is too long
        return ""


def _parse_base_url(base_url: str) -> tuple[str, str]:
    """Return origin, empty if it has none, and path of `--base-url`. Raises ConfigError."""
    try:
        parts = urlsplit(base_url)
        name, port = parts.hostname, parts.port
    except ValueError as error:  # brackets, or a port that is none
        raise _bad_base_url(base_url) from error
    path = parts.path.rstrip("/")
    is_valid = (
        _PATH.fullmatch(path)
        and not parts.query
        and not parts.fragment
        and not {".", ".."} & set(path.split("/"))
    )
    if is_valid and not (parts.scheme or parts.netloc):
        return "", path
    if not (is_valid and parts.scheme in DEFAULT_PORTS and name and _HOST.fullmatch(parts.netloc)):
        raise _bad_base_url(base_url)
    host = parts.netloc.lower()
    if port == DEFAULT_PORTS[parts.scheme]:
        host = host.removesuffix(f":{port}")  # browsers leave it out
    return f"{parts.scheme}://{host}", path


def _bad_base_url(base_url: str) -> ConfigError:
    return ConfigError(
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

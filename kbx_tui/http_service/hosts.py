"""Which Host and Origin a request may carry. Pure.

Any page in a browser can send requests to any address, and a name that it controls can be made to
resolve to this machine (DNS rebinding). So a request must name a host that is ours, and one that a
page sends must come from our page.
"""

from __future__ import annotations

import errno
import ipaddress
import re
import socket
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from kbx_tui.errors import ConfigError

LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
_HOST = re.compile(r"(?:\[([^\[\]@%\s]+)\]|([^\[\]@:/?#\\\s]+))(?::([0-9]{0,5}))?")
SAFE_FETCH_SITES = frozenset(("same-origin", "none"))
"""Values of Sec-Fetch-Site with which our own page, or the address line, sends requests."""


@dataclass(frozen=True, slots=True)
class HostRules:
    scheme: str
    """`http` or `https`, as the browser sees it."""
    names: frozenset[str]
    """Names and addresses, in lower case, that are accepted with any port: it may be forwarded."""
    any_address: bool = False
    """Whether every numeric address is accepted: DNS rebinding works only with names."""
    public: str = ""
    """Host and port of `--base-url`, if it has them."""

    def accepts_host(self, host: str) -> bool:
        """Return whether a Host header names this server."""
        if self.public and host.lower() == self.public:
            return True
        name = _host_name(host)
        if name is None:
            return False
        return name in self.names or (self.any_address and _address(name) is not None)

    def accepts_origin(self, origin: str, host: str) -> bool:
        """Return whether a request to `host` with this Origin comes from a page of this server."""
        scheme, _, origin_host = origin.lower().partition("://")
        ours = {host.lower(), self.public} - {""}
        return scheme == self.scheme and origin_host in ours


def host_rules(host: str, *, secure: bool, public_url: str = "") -> HostRules:
    """Return the rules of a server on `host`, which a proxy may serve at `public_url`."""
    public = urlsplit(public_url) if public_url else None
    names = {*LOOPBACK_NAMES, host.lower()}
    everywhere = not is_loopback(host)
    if everywhere:
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    scheme = public.scheme if public else ("https" if secure else "http")
    return HostRules(scheme, frozenset(names), everywhere, public.netloc.lower() if public else "")


def refusal(
    rules: HostRules, headers: Iterable[tuple[str, str]], *, navigates: bool, from_page: bool
) -> str | None:
    """Return why a request is refused, if it is.

    `headers` are names, in any letter case, and values; a name may occur more than once.
    `navigates`: the request may come from a link on any page. `from_page`: only a page of ours
    sends it, so it must have an Origin.
    """
    values: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in headers:
        values[name.lower()].append(value)
    if len(values["host"]) != 1:
        return "a request without a host, or with several"
    (host,), origins = values["host"], values["origin"]
    if not rules.accepts_host(host):
        return "this server is not known by that name; --base-url gives it another"
    if from_page and not origins:
        return "a request without an origin"
    if not all(rules.accepts_origin(origin, host) for origin in origins):
        return "a request of another page"
    if not (navigates or SAFE_FETCH_SITES.issuperset(values["sec-fetch-site"])):
        return "a request of another page"
    return None


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server that listens on `host`."""
    return host == "localhost" or ((address := _address(host)) is not None and address.is_loopback)


def _host_name(host: str) -> str | None:
    """Return the name in a Host header, in lower case, without port and brackets."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).lower() if found and int(found[3] or 0) < 65_536 else None


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def ipv4_of_localhost(host: str) -> str:
    """Return the address that `localhost` stands for here, and other hosts as they are."""
    return "127.0.0.1" if host == "localhost" else host


def listen_on(host: str, port: int, *, waiting: int, option: str) -> socket.socket:
    """Return a socket that listens on an address; port 0 picks a free one.

    `waiting` connections wait at most to be accepted, and `option` names the port on the command
    line. Raises ConfigError for an address of another machine or a port that is taken.
    """
    host_option = option.replace("port", "host")
    if not host:  # which the system takes for all addresses
        raise ConfigError(f"{host_option} is empty; name an address, such as 127.0.0.1")
    address = ipv4_of_localhost(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # With the protocol named, asyncio sets TCP_NODELAY on connections; without, the second part of
    # each answer waits until the client acknowledges the first, which it delays.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(waiting)
    except (TypeError, UnicodeError) as error:
        listening.close()
        raise ConfigError(f"{host_option} {host} is no address and no name of a host") from error
    except OSError as error:
        listening.close()
        is_port = error.errno in (errno.EADDRINUSE, errno.EACCES, errno.EPERM)
        raise ConfigError(
            f"port {port} of {host} cannot be used: {error.strerror}; "
            f"name another {option if is_port else host_option}"
        ) from error
    return listening

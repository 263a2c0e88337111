"""The sockets that servers of this program listen on."""

from __future__ import annotations

import errno
import socket

from kbx_tui.errors import ConfigError


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

"""The sockets that servers of this program listen on."""

from __future__ import annotations

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
    address = ipv4_of_localhost(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # With the protocol named, asyncio sets TCP_NODELAY on connections; without, the second part of
    # each answer waits until the client acknowledges the first, which it delays.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(waiting)
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"port {port} of {host} cannot be used: {error.strerror}; name another {option}"
        ) from error
    return listening

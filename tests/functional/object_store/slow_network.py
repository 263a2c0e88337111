"""A network between clients and a server on loopback: slower, or gone."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

BLOCK = 1 << 18


@contextmanager
def slow_network(server: str, seconds: float = 0.0) -> Iterator[str]:
    """Yield another endpoint of a server, `http://127.0.0.1:1234`; it is gone afterwards.

    Each request, or part of one that comes alone, arrives `seconds` later.
    """
    port = int(server.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        ended = threading.Event()
        threading.Thread(
            target=_accept, args=(listening, port, seconds, ended), daemon=True
        ).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        ended.set()
        listening.shutdown(socket.SHUT_RDWR)


def _accept(listening: socket.socket, port: int, seconds: float, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            client = listening.accept()[0]
        except OSError:
            return
        server = socket.create_connection(("127.0.0.1", port))
        for each in (client, server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, target, delay in ((client, server, seconds), (server, client, 0.0)):
            arguments = (source, target, delay, ended)
            threading.Thread(target=_forward, args=arguments, daemon=True).start()


def _forward(
    source: socket.socket, target: socket.socket, seconds: float, ended: threading.Event
) -> None:
    with suppress(OSError):
        while (data := source.recv(BLOCK)) and not ended.is_set():
            if seconds:
                time.sleep(seconds)
            target.sendall(data)
    for each in (source, target):
        with suppress(OSError):
            each.close()

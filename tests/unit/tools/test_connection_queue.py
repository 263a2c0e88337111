"""Connections that wait for a worker, with real sockets."""

import asyncio
import socket
import sys
from contextlib import suppress
from typing import Any

import pytest

from kbx_tui.tools import serve_http
from kbx_tui.tools.serve_http import MAX_UNCONFIRMED, ConnectionQueue, HttpWorker

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="connections cannot be handed over")

REQUEST = b"POST /mcp HTTP/1.1\r\n\r\n"


def make_worker(name: str = "worker 0") -> tuple[HttpWorker, socket.socket]:
    """Return a worker without a process, and the socket at which it receives connections."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    no_process: Any = None
    return HttpWorker(name, no_process, ours, is_ready=True), theirs


def connect(queue: ConnectionQueue) -> socket.socket:
    client, accepted = socket.socketpair()
    client.settimeout(10)
    accepted.setblocking(False)
    client.sendall(REQUEST)
    queue.add(accepted)
    return client


async def test_connections_wait_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve_http, "WAIT_SECONDS", 0.2)
    refused: list[None] = []
    loop, waiting = asyncio.get_running_loop(), list[float]()
    call_later = loop.call_later

    def record(delay: float, *arguments: Any) -> asyncio.TimerHandle:
        waiting.append(delay)
        return call_later(delay, *arguments)

    monkeypatch.setattr(loop, "call_later", record)
    queue = ConnectionQueue(list, lambda: refused.append(None))
    clients = [connect(queue) for _ in range(60)]
    assert waiting == [0.2] * 60  # each waits from its arrival on
    for client in clients:
        assert (await asyncio.to_thread(client.recv, 100)).startswith(b"HTTP/1.1 503")
        client.close()
    assert len(refused) == 60


async def test_connection_that_waits_goes_to_the_first_worker_that_is_ready() -> None:
    worker, receiver = make_worker()
    worker.is_ready = False
    queue = ConnectionQueue(lambda: [worker], lambda: pytest.fail("refused"))
    with connect(queue), receiver:
        worker.is_ready = True
        queue.hand_over()
        _, descriptors, _, _ = socket.recv_fds(receiver, 1, 1)
        with socket.socket(fileno=descriptors[0]) as received:
            assert received.recv(100) == REQUEST
        worker.confirmed()
        assert (worker.connections, len(worker.unconfirmed)) == (1, 0)
        worker.control.close()


async def test_worker_that_confirms_nothing_gets_no_more_connections() -> None:
    """Each connection that is not confirmed stays open here, and takes a descriptor."""
    hanging, of_hanging = make_worker("worker 0")
    working, of_working = make_worker("worker 1")
    working.given = 1_000
    queue = ConnectionQueue(lambda: [hanging, working], lambda: pytest.fail("refused"))
    clients = [connect(queue) for _ in range(MAX_UNCONFIRMED + 5)]
    assert (len(hanging.unconfirmed), working.connections) == (MAX_UNCONFIRMED, 1_005)
    for each in (*clients, *hanging.unconfirmed, *working.unconfirmed, of_hanging, of_working):
        each.close()
    hanging.control.close()
    working.control.close()


async def test_workers_take_turns_where_connections_are_short() -> None:
    workers, receivers = zip(*(make_worker(f"worker {number}") for number in range(2)), strict=True)
    queue = ConnectionQueue(lambda: workers, lambda: pytest.fail("refused"))
    for _ in range(6):
        connect(queue).close()
        for worker in workers:
            while worker.unconfirmed:
                worker.confirmed()
                worker.closed += 1
    assert [worker.given for worker in workers] == [3, 3]
    for worker, receiver in zip(workers, receivers, strict=True):
        worker.control.close()
        receiver.close()


async def test_connections_are_cut_once_the_server_ends() -> None:
    queue = ConnectionQueue(list, lambda: pytest.fail("refused"))
    waiting = connect(queue)
    queue.close()
    late = connect(queue)
    for client in (waiting, late):
        with client, suppress(ConnectionResetError):
            assert client.recv(100) == b""

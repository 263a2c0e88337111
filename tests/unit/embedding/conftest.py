import socket

import pytest

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import open_embedder


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The bundled model, loaded once as it is never modified."""
    return open_embedder()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every connection and name lookup fail as without a network."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

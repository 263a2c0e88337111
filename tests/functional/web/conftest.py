"""One server for the tests of a file, and a state folder short enough for a socket."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.web.running import Running, running

pytest.importorskip("aiohttp", reason="needs the extra `web`")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server whose sessions are the stub, with limits that a test can wait for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBX_STATE_DIR", str(tmp_path_factory.mktemp("web")))
        patch.setenv("KBX_LOG_DIR", str(tmp_path_factory.mktemp("log")))
        with running() as server:
            yield server


@pytest.fixture
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder of a server of this test."""
    folder = tmp_path / "state"
    monkeypatch.setenv("KBX_STATE_DIR", str(folder))
    return folder

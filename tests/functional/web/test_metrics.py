"""Health and metrics of `kbx web`, on a port of their own."""

import json
import sys
from pathlib import Path

import aiohttp
import pytest

from kbx_tui import ConfigError
from kbx_tui.http_service.monitor import MonitorPort, listen_for_monitoring
from kbx_tui.tools.engine_process import sent_as_lines
from tests.functional.web.running import SHORT, running, stranger, visitor

pytest.importorskip("prometheus_client", reason="needs the extra `metrics`")

INDEX = {"generation": 7, "pages": 3, "chunks": 5, "indexed_at": 1.0e9}


@pytest.fixture
def reporting(tmp_path: Path) -> list[str]:
    """A process that reports an index and then waits."""
    sent = tmp_path / "report"
    with sent.open("wb") as file:
        sent_as_lines(file.fileno())("index", INDEX)
    code = f"import sys; print({sent.read_text()!r}, flush=True); sys.stdin.read()"
    return [sys.executable, "-S", "-c", code]


async def read(port: MonitorPort, path: str, **headers: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as client:
        answer = await client.get(port.url.replace("/metrics", path), headers=headers)
        return answer.status, await answer.text()


async def test_sessions_requests_and_indices_are_counted(
    state_folder: Path, reporting: list[str]
) -> None:
    port = listen_for_monitoring("127.0.0.1", 0)
    with running(followers=[reporting], monitor=port) as served:
        while (answer := await read(port, "/readyz"))[0] == 503:
            pass
        assert json.loads(answer[1]) == {
            "ready": True,
            "generation": 7,
            "processes": 2,
            "generations": {"indexer 0": 7},
        }
        async with visitor(served) as known, stranger() as unknown:
            await known.open()
            await unknown.get(served.url)
            _, text = await read(port, "/metrics")
        for line in (
            "kbx_sessions 1.0",
            f"kbx_sessions_limit {SHORT.sessions}.0",
            'kbx_http_requests_total{route="enter",status="200"} 1.0',
            'kbx_http_requests_total{route="page",status="401"} 1.0',
            'kbx_http_requests_total{route="socket",status="101"} 1.0',
            'kbx_index_pages{process="indexer 0"} 3.0',
            'kbx_processes{process="sessions"} 1.0',
        ):
            assert line in text.splitlines()
        assert "_created" not in text
        assert served.token() not in text
        assert await read(port, "/healthz") == (200, "ok\n")
        assert (await read(port, "/"))[0] == 404
        for headers in ({"Host": "evil.example"}, {"Origin": served.origin}):
            assert (await read(port, "/metrics", **headers))[0] == 403
        async with visitor(served) as known:  # its own port says nothing of this
            assert (await known.client.get(f"{served.url}metrics")).status == 404


def test_address_of_the_metrics_is_loopback_unless_it_is_named() -> None:
    port = listen_for_monitoring("localhost", 0)
    assert not port.is_open_to_others
    taken = int(port.url.split(":")[2].split("/")[0])
    with pytest.raises(ConfigError, match=f"port {taken} of 127.0.0.1 cannot be used"):
        listen_for_monitoring("127.0.0.1", taken)
    port.socket.close()
    everywhere = listen_for_monitoring("0.0.0.0", 0)
    assert everywhere.is_open_to_others
    everywhere.socket.close()
    with pytest.raises(ConfigError, match=r"cannot be used.*name another --metrics-host"):
        listen_for_monitoring("192.0.2.1", 1)
    with pytest.raises(ConfigError, match="--metrics-host is empty"):  # it would be everywhere
        listen_for_monitoring("", 0)
    with pytest.raises(ConfigError, match="no name of a host"):
        listen_for_monitoring("é" * 70, 0)

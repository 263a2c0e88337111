"""`kbx index --engine ray` where it cannot run: one sentence, and nothing is changed."""

from __future__ import annotations

import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kbx_tui.bulk import ray_session
from tests.command_line import CommandLine

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray has no wheel for this system")
RAY = ("index", "--engine", "ray", "--yes")


def test_missing_package_is_named_with_its_extra(
    kbx: CommandLine, fresh_demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    run = kbx(*RAY, "--kb", str(fresh_demo))
    assert run.code == 5
    assert 'needs the package ray: pip install "kbx-tui[ray]"' in run.err
    assert not (fresh_demo / ".kbx" / "index").exists()


def test_options_of_ray_need_the_engine(kbx: CommandLine, fresh_demo: Path) -> None:
    for option in (("--ray-workers", "2"), ("--ray-address", "auto")):
        run = kbx("index", *option, "--kb", str(fresh_demo))
        assert run.code == 2
        assert "need --engine ray" in run.err


@needs_ray
@pytest.mark.parametrize("address", ["nonsense", "ray://host:10001", "host:port", ":1"])
def test_address_of_another_form_is_refused(
    kbx: CommandLine, fresh_demo: Path, address: str
) -> None:
    run = kbx(*RAY, "--ray-address", address, "--kb", str(fresh_demo))
    assert run.code == 2
    assert f"must be HOST:PORT, or auto on a machine of a cluster, not {address}" in run.err


@needs_ray
def test_address_where_nothing_listens_is_named(kbx: CommandLine, fresh_demo: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        run = kbx(*RAY, "--ray-address", address, "--kb", str(fresh_demo))
    assert run.code == 5
    assert f"no Ray cluster answers at {address} (Connection refused)" in run.err


@needs_ray
def test_silent_address_is_given_up_after_a_time(
    kbx: CommandLine, fresh_demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_session, "JOIN_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        run = kbx(*RAY, "--ray-address", address, "--kb", str(fresh_demo))
    assert run.code == 5
    assert f"cannot use the Ray cluster at {address} (no answer within 0 s)" in run.err

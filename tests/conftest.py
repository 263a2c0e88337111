"""What every room of tests may use: copies of the demo, one of them indexed once per run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kbx_tui import KnowledgeBase
from kbx_tui.demo.install import SHIPPED, shipped_files

OURS = ("KBX_ROOT", "KBX_DEMO_DIR", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "_KBX_COMPLETE")

# A laden machine is no failure: examples have no deadline, budgets stand in the tests.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def copy_demo(folder: Path) -> Path:
    """Copy the demo's files to `folder` and return it."""
    for path in shipped_files():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SHIPPED / path, target)
    return folder


@pytest.fixture(scope="session")
def demo_kb_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, indexed with the bundled model. Shared by all tests: read it only."""
    folder = copy_demo(tmp_path_factory.mktemp("demo") / "larkwater")
    with KnowledgeBase(folder) as kb:
        kb.index()
    return folder


@pytest.fixture
def demo_copy(demo_kb_path: Path, tmp_path: Path) -> Path:
    """The indexed demo once more, to change at will."""
    return shutil.copytree(demo_kb_path, tmp_path / "larkwater")


@pytest.fixture
def fresh_demo(tmp_path: Path) -> Path:
    """The demo without an index, to change at will."""
    return copy_demo(tmp_path / "larkwater")


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """No variable of ours leaks in, nothing is written to a folder of whoever runs this."""
    for name in OURS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / "data-home"))
    monkeypatch.setenv("KBX_LOG_DIR", str(tmp_path_factory.getbasetemp() / "log"))
    monkeypatch.setenv("KBX_STATE_DIR", str(tmp_path / "state"))

"""The demo for tests of the app, without the state that earlier tests left."""

import gc
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

import kbx_tui.demo
from kbx_tui.api import KnowledgeBase
from kbx_tui.tui.app_state import BASE_FILE
from tests.hostile_base import write_hostile_base

HISTORY = Path(".kbx", "queries.jsonl")

JUDGMENTS = Path(".kbx", "judgments.jsonl")


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test write to the clipboard of who runs it."""
    for name in ("TMUX", "STY", "DISPLAY", "WAYLAND_DISPLAY", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture(autouse=True)
def process_of_its_own(own_collector: None) -> None:
    """Let each test run an app as if it were alone in its process."""


MODULES_PER_COLLECTION = 2
"""Modules of tests whose garbage is collected at once: a collection visits all that is imported."""
_modules = count()


@pytest.fixture(scope="module", autouse=True)
def collected() -> None:
    """Collect what the tests before have left, since those here do not."""
    if next(_modules) % MODULES_PER_COLLECTION == 0:
        gc.collect()


@pytest.fixture
def demo(demo_kb_path: Path) -> Iterator[Path]:
    """The indexed demo; read-only."""
    files = (demo_kb_path / BASE_FILE, demo_kb_path / HISTORY)
    for file in files:
        file.unlink(missing_ok=True)
    yield demo_kb_path
    for file in files:
        file.unlink(missing_ok=True)


@pytest.fixture
def judged_demo(demo_copy: Path) -> Path:
    """A copy of the indexed demo with the 12 judged queries that it is installed with."""
    shipped = Path(kbx_tui.demo.__file__).parent / JUDGMENTS.name
    shutil.copyfile(shipped, demo_copy / JUDGMENTS)
    return demo_copy


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed base full of hostile text; read-only."""
    root = write_hostile_base(tmp_path_factory.mktemp("hostile"))
    with KnowledgeBase(root) as kb:
        kb.index()
    return root

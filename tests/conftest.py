"""Fixtures for all tests: the command line, and copies of the demo."""

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from kbx_tui import KnowledgeBase
from kbx_tui.demo import SHIPPED, shipped_files
from kbx_tui.index.ownership import IDS
from tests.command_line import CommandLine
from tests.memory_folder import memory_folder
from tests.trusting import copy_base
from tests.usual_signals import restore_signals

TESTS = Path(__file__).parent

SLOW = (
    "contract/test_imports.py",
    "contract/test_parity.py",
    "contract/test_similarity_json.py",
    "contract/test_transcripts.py",
    "functional/bulk/",
    "functional/cli/test_demo.py",
    "functional/cli/test_eval.py",
    "functional/cli/test_failures.py",
    "functional/cli/test_index.py",
    "functional/cli/test_terminal.py",
    "functional/index/test_build.py",
    "functional/index/test_build_interruption.py",
    "functional/index/test_watch.py",
    "functional/privacy/",
    "functional/tools/test_hostile_calls.py",
    "functional/tools/test_index_keeper.py",
    "functional/tools/test_jsonl.py",
    "functional/tools/test_mcp.py",
    "functional/tools/test_mcp_workers.py",
    "functional/tools/test_mcp_http.py",
    "functional/tui/",
    "functional/web/",
    "functional/test_state_files.py",
    "functional/writing/test_crash_safety.py",
    "functional/writing/test_door.py",
    "functional/writing/test_doors_agree.py",
    "snapshots/",
    "terminal/",
    "unit/embedding/test_server.py",
    "unit/tui/explore/test_present_why.py",
)
"""Terminals, many processes, runs of indexing, the whole app, screenshots, long property tests."""

OUR_VARIABLES = (
    "KBX_ROOT",
    "KBX_TOKEN",
    "KBX_DEMO_DIR",
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "_KBX_COMPLETE",
)

if "KBX_TESTS_STATE" not in os.environ:  # workers inherit it
    os.environ["KBX_TESTS_STATE"] = tempfile.mkdtemp(prefix="kbx-tests-", dir=memory_folder())
    atexit.register(shutil.rmtree, os.environ["KBX_TESTS_STATE"], ignore_errors=True)
STATE = Path(os.environ["KBX_TESTS_STATE"])
"""State folder of fixtures that several tests share, and whose indexes all tests may open."""
os.environ["KBX_STATE_DIR"] = str(STATE)

if (in_memory := memory_folder()) is not None:  # workers inherit it
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(in_memory))

# A slow machine must not fail property tests: examples have no deadline. There are fewer of them
# than usual, as each run of the tests draws others.
settings.register_profile(
    "patient", max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")


def copy_demo(folder: Path) -> Path:
    """Copy the demo's files to `folder` and return it."""
    for path in shipped_files():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SHIPPED / path, target)
    return folder


@pytest.fixture
def kbx(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """A function that runs the command line with its arguments."""
    return CommandLine(capsys)


def pytest_configure() -> None:
    """Let tests of signals pass in a background job, too."""
    restore_signals()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without any test that `-m` chooses: every worker would import them all."""
    if TESTS not in collection_path.parents:
        return None
    name = collection_path.relative_to(TESTS).as_posix() + "/" * collection_path.is_dir()
    chosen = config.option.markexpr
    if chosen == "not slow and not packaging":
        return name.startswith((*SLOW, "packaging/")) or None
    if chosen == "slow" and name.endswith(".py") and not name.startswith(SLOW):
        return "mark.slow" not in collection_path.read_text(encoding="utf-8") or None
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow files and folders, which `uv run pytest` leaves out."""
    for item in items:
        if item.path.relative_to(TESTS).as_posix().startswith(SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def one_thread_embeds() -> Iterator[None]:
    """Embed texts with the model that queries have loaded; workers of pytest take every core."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kbx_tui.embedding.local.usable_cores", lambda: 1)
        yield


@pytest.fixture(scope="session")
def demo_kb_path(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The demo, indexed once per run. Each worker has a copy, shared by its tests: read-only.

    Even a search notes beside the index what it compared, so workers cannot share one folder.
    """
    shared, copy = tmp_path_factory.getbasetemp(), tmp_path_factory.mktemp("demo") / "larkwater"
    if worker_id != "master":  # a worker of pytest-xdist, whose folder is below the shared one
        shared = shared.parent
    indexed = shared / "indexed-demo" / "larkwater"
    with FileLock(shared / "demo.lock"):
        if not indexed.exists():
            with KnowledgeBase(copy_demo(indexed)) as kb:
                kb.index()
    return copy_base(indexed, copy)


@pytest.fixture
def demo_copy(demo_kb_path: Path, tmp_path: Path) -> Path:
    """A copy of the indexed demo that a test may change, without what apps remember of it."""
    remembered = shutil.ignore_patterns("app.json", "queries.*")
    return copy_base(demo_kb_path, tmp_path / "larkwater", ignore=remembered)


@pytest.fixture
def fresh_demo(tmp_path: Path) -> Path:
    """A copy of the demo without an index that a test may change."""
    return copy_demo(tmp_path / "larkwater")


@pytest.fixture
def own_collector() -> Iterator[None]:
    """Let an app collect its own garbage only, and restore what it changes of the collector.

    An app has a process of its own, where it collects while idle. Here that would search all
    objects of the tests as well, many times in each test.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


@pytest.fixture(autouse=True)
def isolated_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Hide the environment of the developer, and write to none of their folders."""
    for name in OUR_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / "data-home"))
    monkeypatch.setenv("KBX_LOG_DIR", str(tmp_path_factory.getbasetemp() / "log"))
    (STATE / IDS).mkdir(exist_ok=True)
    state = Path(tempfile.mkdtemp(dir=STATE))  # unlike `mktemp`, looks at no other test's folder
    monkeypatch.setenv("KBX_STATE_DIR", str(state))
    (state / IDS).symlink_to(STATE / IDS)  # tests copy indexes of one another
    monkeypatch.setenv("KBX_CACHE_DIR", str(tmp_path / "cache"))

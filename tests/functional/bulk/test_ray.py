"""Indexing with Ray gives the index of a single process, also when it was killed on the way.

In one test, as Ray takes seconds to start.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest

from kbx_tui import KnowledgeBase, Progress
from kbx_tui.bulk import ray_workers
from kbx_tui.bulk.ray_workers import QUEUE, RayEngine
from kbx_tui.index.array_file import map_arrays
from kbx_tui.index.build.workers import TEXTS_PER_TASK
from kbx_tui.index.lexical.postings import WORDS
from kbx_tui.index.store import Store
from kbx_tui.index.stored_records import BODIES, DOCUMENTS
from kbx_tui.removal import INDEX_TABLES, RAY_FOLDER, remove_ray_folder
from tests.functional.bulk import killed_build

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None, reason="Ray has no wheel for this system"
)  # it must not be imported here: the build sets variables before it does that

WORKERS = 2
QUESTIONS = ("what has Grace been working on?", "rollback", "who decided about the database?")


def rows_of(base: Path, table: str) -> list[str]:
    rows = Store(str(base / ".kbx" / "index")).table(table).search().to_arrow().to_pylist()
    return sorted(map(repr, rows))


def search(base: Path, question: str) -> Any:
    with KnowledgeBase(base) as kb:
        return kb.search(question).results


@pytest.fixture
def ray_folder() -> Iterator[Path]:
    """A folder for Ray, with a short name, as it makes sockets there."""
    folder = ray_workers._make_folder()
    yield folder
    remove_ray_folder(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed with SIGKILL")
def test_killed_build_resumes_to_the_index_of_a_single_process(
    demo_kb_path: Path,
    fresh_demo: Path,
    tmp_path: Path,
    ray_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedded = tmp_path / "embedded"
    killed = subprocess.run(
        [sys.executable, killed_build.__file__, str(fresh_demo), str(embedded), str(ray_folder)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (killed.returncode, killed.stdout, killed.stderr) == (-9, "", "")
    stored = [row["text_hash"] for row in vectors_of(fresh_demo)]
    assert len(stored) == len(set(stored)) >= killed_build.KILL_PROGRAM
    finished = Counter(embedded.read_text("ascii").split())
    assert finished.keys() >= set(stored)
    in_flight = WORKERS * QUEUE * TEXTS_PER_TASK
    assert finished.total() - len(stored) <= 2 * in_flight  # of the worker, and of the program

    addresses: set[str] = set()

    def look(progress: Progress) -> None:
        if progress.stage == "vectors" and not addresses:
            addresses.update(listening_addresses())

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for module in ("kbx_tui", "msgspec", "numpy"):  # a clone, of which no worker may run a file
        (fresh_demo / f"{module}.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(fresh_demo)
    with KnowledgeBase(fresh_demo) as kb:
        report = kb.index(look, engine=RayEngine(workers=WORKERS))
    assert report.finished
    assert (report.embedded, report.reused) == (report.vectors - len(stored), len(stored))
    assert addresses
    assert {address.removeprefix("::ffff:") for address in addresses} <= {"127.0.0.1", "::1"}
    assert not list(tmp_path.glob(f"{RAY_FOLDER}*"))

    for table in set(INDEX_TABLES) - {"meta"}:
        assert rows_of(fresh_demo, table) == rows_of(demo_kb_path, table)
    for name in (WORDS.name, BODIES.name, "vectors.bin"):
        assert content_of(fresh_demo, name) == content_of(demo_kb_path, name), name
    assert documents_of(fresh_demo) == documents_of(demo_kb_path)
    for question in QUESTIONS:
        assert search(fresh_demo, question) == search(demo_kb_path, question)


def content_of(base: Path, name: str) -> bytes:
    """Return a file of an index without its digest, which begins with the id of the index."""
    return (base / ".kbx" / "index" / name).read_bytes()[:-4]


def documents_of(base: Path) -> dict[str, bytes]:
    """Return each array of documents.bin but `state`, the id of the run that it fits."""
    arrays = map_arrays(base / ".kbx" / "index", DOCUMENTS.name, DOCUMENTS.format_tag)
    assert arrays is not None
    return {name: array.tobytes() for name, array in arrays.items() if name != "state"}


def vectors_of(base: Path) -> list[dict[str, str]]:
    store = Store(str(base / ".kbx" / "index"))
    rows: list[dict[str, str]] = store.rows("vectors", ["text_hash"]).to_pylist()
    return rows


def listening_addresses() -> set[str]:
    """Return the addresses at which the processes of Ray, and this one, accept connections."""
    this = psutil.Process()
    return {
        connection.laddr.ip
        for process in (this, *this.children(recursive=True))
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }

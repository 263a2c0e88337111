"""An index run killed at any moment leaves a searchable index, and the next run completes it."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kbx_tui import IndexFault, IndexLocked, KnowledgeBase
from kbx_tui.index.build.writer_lock import OWNER, is_being_written, writer_lock
from kbx_tui.removal import INDEX_TABLES
from tests.functional.vaults import FILES, store_of, stored_rows, write_vault
from tests.trusting import copy_base

INDEX = """
import sys
from kbx_tui import KnowledgeBase
def report(progress):
    print(progress.stage, progress.done, flush=True)
KnowledgeBase(sys.argv[1]).index(report)
"""


def many_files(root: Path, count: int = 60) -> Path:
    write_vault(root)
    return write_vault(
        root,
        {
            f"memory/notes/n{number:03}.md": f"# Note {number}\n\nAlice Chen on topic {number}.\n"
            for number in range(count)
        },
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The base of `many_files`, indexed by a run that nothing interrupts; read-only."""
    root = many_files(tmp_path_factory.mktemp("whole") / "base")
    KnowledgeBase(root).index()
    return root


@pytest.fixture
def base(whole: Path, tmp_path: Path) -> Path:
    return copy_base(whole, tmp_path / "base")


def killed_at(stage: str, base: Path, code: str = INDEX) -> None:
    """Index in another process, and kill it when it reports a stage."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(base)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    next(line for line in process.stdout if line.startswith(stage))
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def content(base: Path) -> dict[str, list[str]]:
    return {name: stored_rows(base, name) for name in INDEX_TABLES}


@pytest.mark.parametrize("stage", ["reading 0", "entities", "text index", "chunks", "vectors 0"])
def test_after_kill_9_in_any_stage_the_next_run_completes_the_index(
    whole: Path, tmp_path: Path, stage: str
) -> None:
    killed = many_files(tmp_path)
    killed_at(stage, killed)
    assert len(KnowledgeBase(killed).search("topic", limit=5).results) == 5
    KnowledgeBase(killed).index()
    assert content(killed) == content(whole)


@pytest.mark.parametrize("stage", ["reading 0", "chunks", "vectors 0"])
def test_after_kill_9_in_a_full_run_the_next_run_completes_the_index(
    base: Path, stage: str
) -> None:
    before = content(base)
    killed_at(stage, base, INDEX.replace("(report)", "(report, full=True)"))
    kb = KnowledgeBase(base)
    assert kb.search("topical", fast=True, limit=5).results  # found by its stem
    assert kb.index().embedded <= 1
    assert content(base) == before


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_check_accepts_chunks_of_older_versions_until_the_next_run(
    base: Path, is_cancelled: bool
) -> None:
    write_vault(base, {"memory/notes/n000.md": "# Note 0\n\nA zorkmid.\n"})
    (base / "memory" / "notes" / "n001.md").unlink()
    kb, stages = KnowledgeBase(base), list[str]()
    if is_cancelled:
        kb.index(
            lambda progress: stages.append(progress.stage), cancelled=lambda: "chunks" in stages
        )
    else:
        kb.index(fast=True)
    left = set(store_of(base).column("chunks", "version"))
    assert len(left - set(store_of(base).column("documents", "version"))) == 2
    assert kb.check(read_data=True).faults == ()
    kb.index()
    documents = store_of(base).column("documents", "version")
    assert set(store_of(base).column("chunks", "version")) == set(documents)


def test_what_a_killed_writer_leaves_does_not_count_as_writing(tmp_path: Path) -> None:
    base = many_files(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", INDEX, str(base)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert is_being_written(base)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    owner = base / ".kbx" / OWNER
    assert owner.exists()
    assert not is_being_written(base)
    assert not owner.exists()


def test_asking_whether_the_index_is_written_disturbs_no_writer(tmp_path: Path) -> None:
    base = write_vault(tmp_path)
    assert not is_being_written(base)
    with writer_lock(base):
        assert is_being_written(base)
        assert is_being_written(base)
        assert (base / ".kbx" / OWNER).exists()
    assert not is_being_written(base)
    with writer_lock(base, wait=False):
        pass


def test_waiting_for_another_writer_can_be_cancelled(tmp_path: Path) -> None:
    base, asked = write_vault(tmp_path), iter([False, True])
    with writer_lock(base), pytest.raises(IndexLocked, match="when it has finished"):
        KnowledgeBase(base).index(cancelled=lambda: next(asked))
    assert next(asked, None) is None
    assert KnowledgeBase(base).index().finished


def test_a_second_writer_waits_for_the_first(tmp_path: Path) -> None:
    base = many_files(tmp_path)
    first, second = (
        subprocess.Popen([sys.executable, "-c", INDEX, str(base)], stdout=subprocess.DEVNULL)
        for _ in range(2)
    )
    assert (first.wait(), second.wait()) == (0, 0)
    assert KnowledgeBase(base).index().embedded == 0
    assert KnowledgeBase(base).status().documents == len(FILES) + 60


def test_searches_work_while_another_process_writes(base: Path) -> None:
    write_vault(base, {f"memory/notes/m{n}.md": f"# M{n}\n\nA zorkmid.\n" for n in range(40)})
    process = subprocess.Popen([sys.executable, "-c", INDEX, str(base)], stdout=subprocess.DEVNULL)
    reader, searches = KnowledgeBase(base), 0
    while process.poll() is None:
        reader.refresh()
        assert reader.search("topic", limit=3).results
        searches += 1
    assert process.returncode == 0
    assert searches
    reader.refresh()
    assert len(reader.search("zorkmid", limit=50, fast=True).results) == 40


def test_a_full_disk_is_an_index_fault_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = write_vault(tmp_path)
    KnowledgeBase(base).index()
    write_vault(base, {"memory/notes/new.md": "# New\n\nA zorkmid.\n"})

    def full(*_: object) -> None:
        raise OSError("LanceError(IO): No space left on device (os error 28)")

    with monkeypatch.context() as patched:
        patched.setattr("lancedb.table.LanceTable.add", full)
        with pytest.raises(IndexFault, match="no space left"):
            KnowledgeBase(base).index()
    assert KnowledgeBase(base).search("soup", fast=True).results
    KnowledgeBase(base).index()
    assert KnowledgeBase(base).search("zorkmid", fast=True).results

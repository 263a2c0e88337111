"""Watching reports changed files in batches, and nothing else."""

import queue
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KbxError, KnowledgeBase, NotFound
from kbx_tui.knowledge.vault import walked_folder
from tests.functional.vaults import write_vault

PATIENCE = 10.0
"""Seconds until a test gives up; generous, for a busy machine."""


class Watching:
    """A base that is watched in its own thread."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.batches: queue.Queue[frozenset[str]] = queue.Queue()
        self.raised: Exception | None = None
        self.stopped, listed = threading.Event(), threading.Event()

        def note_listed(root: Path) -> Path:  # called first after the files were listed
            listed.set()
            return walked_folder(root)

        monkeypatch.setattr("kbx_tui.index.build.file_changes.walked_folder", note_listed)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert listed.wait(PATIENCE)  # from now on every change is reported

    def _run(self) -> None:
        try:
            KnowledgeBase(self.root).watch(self.batches.put, stopped=self.stopped)
        except Exception as error:
            self.raised = error

    def next(self) -> frozenset[str]:
        """Return the next batch."""
        return self.batches.get(timeout=PATIENCE)

    def until(self, path: str) -> set[str]:
        """Return everything reported up to the batch that contains `path`."""
        reported: set[str] = set()
        while path not in reported:
            reported |= self.next()
        return reported

    def join(self) -> None:
        """Wait until watching has ended."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def end(self) -> None:
        """Stop watching."""
        self.stopped.set()
        self.join()


@pytest.fixture(params=["memory", "plain"])
def watching(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Watching]:
    files = {"memory/notes/a.md": "# A\n", "memory/people/b.md": "# B\n"}
    if request.param == "plain":
        files = {path.removeprefix("memory/"): text for path, text in files.items()}
    watched = Watching(write_vault(tmp_path / "base", files), monkeypatch)
    yield watched
    watched.end()
    assert watched.raised is None


def prefix(watching: Watching) -> str:
    return "memory/" if (watching.root / "memory").exists() else ""


def test_written_added_and_deleted_files_are_reported(watching: Watching) -> None:
    notes = watching.root / prefix(watching) / "notes"
    (notes / "a.md").write_text("# A, again\n")
    assert watching.next() == {f"{prefix(watching)}notes/a.md"}
    (notes / "new.md").write_text("# New\n")
    assert watching.next() == {f"{prefix(watching)}notes/new.md"}
    (notes / "new.md").unlink()
    assert watching.next() == {f"{prefix(watching)}notes/new.md"}


def test_a_burst_of_changes_is_reported_in_at_most_two_batches(watching: Watching) -> None:
    folder = watching.root / prefix(watching) / "meetings" / "2026" / "03"
    folder.mkdir(parents=True)
    for number in range(40):
        (folder / f"{number}.md").write_text("# Meeting\n")
    expected = {f"{prefix(watching)}meetings/2026/03/{number}.md" for number in range(40)}
    reported = watching.next()
    assert reported == expected or reported | watching.next() == expected


def test_moving_a_folder_reports_its_files(watching: Watching) -> None:
    above = watching.root / prefix(watching)
    (above / "notes").rename(above / "ideas")
    assert watching.next() == {f"{prefix(watching)}notes/a.md", f"{prefix(watching)}ideas/a.md"}
    (above / "ideas" / "a.md").write_text("# A, elsewhere\n")
    assert watching.next() == {f"{prefix(watching)}ideas/a.md"}


def test_a_file_replaced_by_an_editor_is_reported(watching: Watching) -> None:
    file = watching.root / prefix(watching) / "notes" / "a.md"
    swap = file.with_name(".a.md.swp")
    swap.write_text("# A, saved\n")
    swap.replace(file)
    assert watching.next() == {f"{prefix(watching)}notes/a.md"}


def test_files_outside_the_base_are_not_reported(watching: Watching) -> None:
    above = watching.root / prefix(watching)
    write_vault(
        above,
        {
            ".hidden/x.md": "x", "node_modules/x.md": "x", ".kbx/index/x.md": "x",
            "picture.png": "x", "notes/b.txt": "x", "notes/.c.md": "x",
        },
    )  # fmt: skip
    (above / "notes" / "a.md").write_text("# A, again\n")
    assert watching.until(f"{prefix(watching)}notes/a.md") == {f"{prefix(watching)}notes/a.md"}


def test_newly_ignored_files_are_reported_with_the_gitignore_file(watching: Watching) -> None:
    above = watching.root / prefix(watching)
    (above / ".gitignore").write_text("notes/\n")
    assert watching.next() == {f"{prefix(watching)}.gitignore", f"{prefix(watching)}notes/a.md"}
    (above / "notes" / "a.md").write_text("# Ignored\n")
    (above / "people" / "b.md").write_text("# B, again\n")
    reported = watching.until(f"{prefix(watching)}people/b.md")
    assert reported == {f"{prefix(watching)}people/b.md"}


def test_settings_and_suppressions_are_reported(watching: Watching) -> None:
    (watching.root / "kbx.toml").write_text("[search]\nhierarchy_alpha = 0.7\n")
    assert watching.next() == {"kbx.toml"}
    write_vault(watching.root, {".kbx/entity-suppressions.json": "{}"})
    assert watching.next() == {".kbx/entity-suppressions.json"}


def test_a_file_created_and_deleted_at_once_is_not_reported(watching: Watching) -> None:
    notes = watching.root / prefix(watching) / "notes"
    (notes / "draft.md").write_text("short-lived")
    (notes / "draft.md").unlink()
    (notes / "a.md").write_text("# A, again\n")
    assert watching.next() == {f"{prefix(watching)}notes/a.md"}


def test_a_folder_that_replaces_another_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = write_vault(tmp_path / "base", {"memory/a.md": "# A\n"})
    watching = Watching(base, monkeypatch)
    try:
        memory = watching.root / "memory"
        memory.rename(watching.root / "old")
        write_vault(watching.root, {"memory/b.md": "# B\n"})
        assert {"memory/a.md", "memory/b.md"} <= watching.until("memory/b.md")
        (memory / "c.md").write_text("# C\n")
        assert watching.until("memory/c.md") == {"memory/c.md"}
    finally:
        watching.end()


def test_deleting_the_root_raises_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching = Watching(write_vault(tmp_path / "base", {"a.md": "# A\n"}), monkeypatch)
    shutil.rmtree(watching.root)
    watching.join()
    assert isinstance(watching.raised, NotFound)
    assert str(watching.root) in str(watching.raised)


def test_a_system_error_explains_how_to_raise_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> Iterator[set[tuple[object, str]]]:
        raise OSError("OS file watch limit reached. about ['/base']")
        yield set()

    monkeypatch.setattr("watchfiles.watch", refuse)
    kb = KnowledgeBase(write_vault(tmp_path, {"a.md": "# A\n"}))
    with pytest.raises(KbxError, match=r"limit reached.*max_user_watches"):
        kb.watch(lambda paths: None, stopped=threading.Event())


def test_errors_of_the_callback_are_raised(tmp_path: Path) -> None:
    kb = KnowledgeBase(write_vault(tmp_path, {"a.md": "# A\n"}))
    stopped, called = threading.Event(), threading.Event()

    def changed(paths: frozenset[str]) -> None:
        called.set()
        raise RuntimeError("from the callback")

    def touch() -> None:
        while not called.wait(0.2):
            (tmp_path / "a.md").write_text(f"# A {time.monotonic()}\n")

    writer = threading.Thread(target=touch)
    writer.start()
    try:
        with pytest.raises(RuntimeError, match="from the callback"):
            kb.watch(changed, stopped=stopped)
    finally:
        called.set()
        writer.join()

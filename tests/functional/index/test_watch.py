"""Files that change on disk are told, in bundles, and nothing else is."""

from __future__ import annotations

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
"""Seconds until a test gives up: a laden machine is no failure."""


class Watching:
    """A base that is watched in a thread of its own."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.told: queue.Queue[frozenset[str]] = queue.Queue()
        self.raised: Exception | None = None
        self.stopped, listed = threading.Event(), threading.Event()

        def say_so(root: Path) -> Path:  # what it asks for first, once it has listed all files
            listed.set()
            return walked_folder(root)

        monkeypatch.setattr("kbx_tui.index.build.watch.walked_folder", say_so)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert listed.wait(PATIENCE)  # from now on everything is told

    def _run(self) -> None:
        try:
            KnowledgeBase(self.root).watch(self.told.put, stopped=self.stopped)
        except Exception as error:
            self.raised = error

    def next(self) -> frozenset[str]:
        """Return the next bundle."""
        return self.told.get(timeout=PATIENCE)

    def until(self, path: str) -> set[str]:
        """Return all that is told up to a bundle that names `path`."""
        told: set[str] = set()
        while path not in told:
            told |= self.next()
        return told

    def join(self) -> None:
        """Wait until it has ended."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def end(self) -> float:
        """Stop and return how long that took."""
        began = time.monotonic()
        self.stopped.set()
        self.join()
        return time.monotonic() - began


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


def test_a_file_that_is_written_added_or_deleted_is_told(watching: Watching) -> None:
    notes = watching.root / prefix(watching) / "notes"
    (notes / "a.md").write_text("# A, again\n")
    assert watching.next() == {f"{prefix(watching)}notes/a.md"}
    (notes / "new.md").write_text("# New\n")
    assert watching.next() == {f"{prefix(watching)}notes/new.md"}
    (notes / "new.md").unlink()
    assert watching.next() == {f"{prefix(watching)}notes/new.md"}


def test_a_burst_is_told_in_one_or_two_bundles(watching: Watching) -> None:
    folder = watching.root / prefix(watching) / "meetings" / "2026" / "03"
    folder.mkdir(parents=True)
    for number in range(40):
        (folder / f"{number}.md").write_text("# Meeting\n")
    expected = {f"{prefix(watching)}meetings/2026/03/{number}.md" for number in range(40)}
    told = watching.next()
    assert told == expected or told | watching.next() == expected


def test_a_folder_that_is_moved_tells_what_it_holds(watching: Watching) -> None:
    above = watching.root / prefix(watching)
    (above / "notes").rename(above / "ideas")
    assert watching.next() == {f"{prefix(watching)}notes/a.md", f"{prefix(watching)}ideas/a.md"}
    (above / "ideas" / "a.md").write_text("# A, elsewhere\n")
    assert watching.next() == {f"{prefix(watching)}ideas/a.md"}


def test_an_editor_that_replaces_the_file_is_heard(watching: Watching) -> None:
    file = watching.root / prefix(watching) / "notes" / "a.md"
    swap = file.with_name(".a.md.swp")
    swap.write_text("# A, saved\n")
    swap.replace(file)
    assert watching.next() == {f"{prefix(watching)}notes/a.md"}


def test_what_is_not_part_of_the_base_is_not_told(watching: Watching) -> None:
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


def test_what_becomes_ignored_is_told_with_the_file_that_ignores_it(watching: Watching) -> None:
    above = watching.root / prefix(watching)
    (above / ".gitignore").write_text("notes/\n")
    assert watching.next() == {f"{prefix(watching)}.gitignore", f"{prefix(watching)}notes/a.md"}
    (above / "notes" / "a.md").write_text("# Nobody sees this\n")
    (above / "people" / "b.md").write_text("# B, again\n")
    told = watching.until(f"{prefix(watching)}people/b.md")
    assert told == {f"{prefix(watching)}people/b.md"}


def test_settings_and_suppressions_are_told(watching: Watching) -> None:
    (watching.root / "kbx.toml").write_text("[search]\nhierarchy_alpha = 0.7\n")
    assert watching.next() == {"kbx.toml"}
    write_vault(watching.root, {".kbx/entity-suppressions.json": "{}"})
    assert watching.next() == {".kbx/entity-suppressions.json"}


def test_nothing_is_told_when_nothing_is_different(watching: Watching) -> None:
    notes = watching.root / prefix(watching) / "notes"
    (notes / "draft.md").write_text("gone at once")
    (notes / "draft.md").unlink()
    (notes / "a.md").write_text("# A, again\n")
    assert watching.next() == {f"{prefix(watching)}notes/a.md"}


def test_it_returns_within_a_second_when_it_is_stopped(watching: Watching) -> None:
    assert watching.end() < 1.0


def test_a_folder_put_in_the_place_of_another_is_watched(
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


def test_a_root_that_vanishes_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching = Watching(write_vault(tmp_path / "base", {"a.md": "# A\n"}), monkeypatch)
    shutil.rmtree(watching.root)
    watching.join()
    assert isinstance(watching.raised, NotFound)
    assert str(watching.root) in str(watching.raised)


def test_a_system_that_cannot_watch_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> Iterator[set[tuple[object, str]]]:
        raise OSError("OS file watch limit reached. about ['/base']")
        yield set()

    monkeypatch.setattr("watchfiles.watch", refuse)
    kb = KnowledgeBase(write_vault(tmp_path, {"a.md": "# A\n"}))
    with pytest.raises(KbxError, match=r"limit reached.*max_user_watches"):
        kb.watch(lambda paths: None, stopped=threading.Event())


def test_an_error_of_who_listens_comes_through(tmp_path: Path) -> None:
    kb = KnowledgeBase(write_vault(tmp_path, {"a.md": "# A\n"}))
    stopped, heard = threading.Event(), threading.Event()

    def listen(paths: frozenset[str]) -> None:
        heard.set()
        raise RuntimeError("not ours")

    def touch() -> None:
        while not heard.wait(0.2):
            (tmp_path / "a.md").write_text(f"# A {time.monotonic()}\n")

    writer = threading.Thread(target=touch)
    writer.start()
    try:
        with pytest.raises(RuntimeError, match="not ours"):
            kb.watch(listen, stopped=stopped)
    finally:
        heard.set()
        writer.join()

"""Places where nothing can be written: a full disk, and folders that are read-only."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.faults.campaign import Skipped, ask, differences, judged, pages_of
from kbx_tui import KbxError, KnowledgeBase
from kbx_tui.drafting.drafts import new_draft
from tests.trusting import copy_base

DISK_MB = 24
MOST_FREE = 600_000
"""Bytes left on the full disk, at most."""
FACT = "Plays the cello in the evening"


def fill_disk(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
    """Use the base on a disk with hardly a byte left; with space again, all is well.

    Every page is as before or as after a whole write. Needs the rights to mount.
    """
    with _small_disk(base.with_name("disk")) as disk:
        for _ in range(tries):
            root = disk / "base"
            shutil.rmtree(root, ignore_errors=True)
            copy_base(base, root)
            with KnowledgeBase(root) as kb:
                kb.index()
            before, usual, filler = pages_of(root), ask(root)[0], disk / "filler"
            free = chance.choice((0, chance.randrange(MOST_FREE)))
            with filler.open("wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(4096))
            os.truncate(filler, max(filler.stat().st_size - free, 0))
            wrong = [f"full, {free:,} bytes left: {one}" for one in _used(root, before)]
            filler.unlink()
            yield wrong + [f"with space again: {one}" for one in _recovered(root, before, usual)]


def forbid_writing(base: Path, tries: int, chance: random.Random) -> Iterator[list[str]]:
    """Use the base where it cannot be written: answers stay, and a write is refused.

    Read-only mounts for root, who may write everything else, and folders without rights for others.
    """
    mounts = os.geteuid() == 0
    with _small_disk(base.with_name("disk")) if mounts else _itself(base.parent) as disk:
        for _ in range(tries):
            root = disk / "read-only"
            copy_base(base, root)
            with KnowledgeBase(root) as kb:
                kb.index()
            before, usual = pages_of(root), ask(root)[0]
            files = {path for path in root.rglob("*") if path.is_file()}
            _set_writable(disk if mounts else root, mounts, False)
            try:
                wrong = _used(root, before)
                if ask(root)[0] != usual:
                    wrong.append("other answers")
                if {path for path in root.rglob("*") if path.is_file()} != files:
                    wrong.append("files came or went")
            finally:
                _set_writable(disk if mounts else root, mounts, True)
            wrong += [f"writable again: {one}" for one in _recovered(root, before, usual)]
            shutil.rmtree(root)
            yield [f"read-only: {one}" for one in wrong]


def _used(root: Path, before: dict[str, bytes]) -> list[str]:
    """Use everything; return what failed with anything but a KbxError, or changed a page."""
    with KnowledgeBase(root) as kb:
        actions: dict[str, Callable[[], object]] = {
            "status": kb.status,
            "search": lambda: kb.search("budget"),
            "opening": lambda: kb.documents.opened("memory/notes/on-budget.md"),
            "saving drafts": lambda: kb.drafts.save([new_draft("grows roses")]),
            "labelling": lambda: kb.drafts.label("one", "other", same=True),
            "adding": lambda: kb.memory_add(FACT, entity="Alice Chen", force=True),
            "undo": kb.undo,
            "index": kb.index,
            "index --full": lambda: kb.index(full=True),
            "searching again": lambda: kb.search("budget"),
        }
        wrong = [f"{name}: {failed}" for name, do in actions.items() if (failed := judged(do))]
    for path, data in pages_of(root).items():
        if (
            b"".join(line for line in data.splitlines(True) if FACT.encode() not in line)
            != before[path]
        ):
            wrong.append(f"{path} has a content it never had")
    return wrong


def _recovered(root: Path, before: dict[str, bytes], usual: object) -> list[str]:
    """Return what is wrong once the base can be written again."""
    wrong = []
    try:
        with KnowledgeBase(root) as kb:
            with suppress(KbxError):
                while True:
                    kb.undo()
            kb.index()
        if changed := differences(pages_of(root), before):
            wrong.append(f"not restored: {changed}")
        if ask(root)[0] != usual:
            wrong.append("other answers")
        if left := [path.name for path in (root / ".kbx").iterdir() if "index." in path.name]:
            wrong.append(f"left behind: {left}")
    except Exception as error:  # whatever it is, the campaign has found it
        wrong.append(f"{type(error).__name__}: {error}")
    return wrong


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """Mount a small file system of its own. Raises Skipped where that is not allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        raise Skipped("only root may mount a small disk to fill")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def _itself(folder: Path) -> Iterator[Path]:
    yield folder


def _set_writable(place: Path, mounts: bool, writable: bool) -> None:
    if mounts:
        mode = "rw" if writable else "ro"
        subprocess.run(["mount", "-o", f"remount,{mode}", str(place)], check=True)
        return
    for path in [place, *place.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200 if writable else path.stat().st_mode & ~0o222)

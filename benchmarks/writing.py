"""Test writing under kills, races and a full disk, and time checks and writes.

    python -m benchmarks.writing kills [--kills 200] [--seed 1]
    python -m benchmarks.writing race [--facts 200]
    python -m benchmarks.writing disk FOLDER
    python -m benchmarks.writing speed BASE [--drafts 100]

`kills` and `race` write into temporary folders, `disk` fills FOLDER, which should be a small file
system of its own (`mount -t tmpfs -o size=2m tmpfs FOLDER`), `speed` works on a copy of BASE.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.common import copy_of, median, row
from kbx_tui import KnowledgeBase
from kbx_tui.drafting.deciding import decide
from kbx_tui.drafting.drafts import new_draft
from kbx_tui.editing import journal
from kbx_tui.editing.fact_edits import AddFact, apply_fact_edit
from kbx_tui.editing.file_edits import FileEdit, undo, write_files
from kbx_tui.editing.journal import finish_interrupted, read_file
from kbx_tui.errors import WriteFault

PAGES = tuple(f"memory/people/p{number}.md" for number in range(5))
START = b"# Somebody\r\n\r\n## Recent Facts\r\n- [2026-01-01] first  \r\n\r\n## Notes\r\nlast line"
OWNER = "person:somebody"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    killing = commands.add_parser("kills")
    killing.add_argument("--kills", type=int, default=200)
    killing.add_argument("--seed", type=int, default=1)
    killing.set_defaults(run=lambda given: kills(given.kills, given.seed))
    racing = commands.add_parser("race")
    racing.add_argument("--facts", type=int, default=200)
    racing.set_defaults(run=lambda given: race(given.facts))
    filling = commands.add_parser("disk")
    filling.add_argument("folder", type=Path)
    filling.set_defaults(run=lambda given: disk(given.folder))
    timing = commands.add_parser("speed")
    timing.add_argument("base", type=Path)
    timing.add_argument("--drafts", type=int, default=100)
    timing.set_defaults(run=lambda given: speed(given.base, given.drafts))
    writing = commands.add_parser("write-on")  # the process that `kills` kills
    writing.add_argument("root", type=Path)
    writing.add_argument("name")
    writing.add_argument("facts", type=int)
    writing.add_argument("--batch", action="store_true")
    writing.set_defaults(
        run=lambda given: write_on(given.root, given.name, given.facts, given.batch)
    )
    given = parser.parse_args()
    given.run(given)


def write_on(root: Path, name: str, facts: int, batch: bool) -> None:
    """Append facts one write at a time, printing each when it is done."""
    finish_interrupted(root)
    for number in range(facts):
        text = f"{name} {number}"
        edits = []
        for path in PAGES if batch else PAGES[:1]:
            before = read_file(root, path) or b""
            edits.append(FileEdit(path, before, _with(path, before, text), _again(path, text)))
        outcome = write_files(root, edits, text)
        if outcome.failed:
            sys.exit(str(next(iter(outcome.failed.values()))))
        print(text, flush=True)


def kills(count: int, seed: int) -> None:
    """Kill writers at random moments; no file may be half-written afterwards."""
    chance = random.Random(seed)
    interrupted = acknowledged = 0
    for number in range(count):
        batch = number % 2 == 1
        with tempfile.TemporaryDirectory() as folder:
            root = _started(Path(folder))
            writer = _writer(root, f"kill {number}", 10_000, batch)
            if writer.stdout is None:
                sys.exit("the writer has no output")
            seen = chance.randint(1, 4)
            for _ in range(seen):
                writer.stdout.readline()  # it is writing now
            time.sleep(chance.uniform(0.0, 0.02))
            writer.send_signal(signal.SIGKILL)
            said = seen + sum(1 for _ in writer.stdout)
            writer.wait()
            pending = (root / journal.PENDING).exists()
            interrupted += pending
            _require_whole_lines(root)
            finish_interrupted(root)
            done = journal.entries(root)
            acknowledged += said
            pages = {path: (root / path).read_bytes() for path in PAGES}
            for path in PAGES if batch else PAGES[:1]:
                written_lines = pages[path].count(f"kill {number}".encode())
                if written_lines != len(done) or written_lines < said:
                    sys.exit(f"{path}: {written_lines} facts, {len(done)} writes, {said} said")
            left = list(root.rglob("*.kbx-edit"))
            if left:
                sys.exit(f"left over: {left}")
            while any(not entry.undone for entry in journal.entries(root) if not entry.undoes):
                undo(root)
            if any((root / path).read_bytes() != START for path in PAGES):
                sys.exit("undo did not restore the bytes")
    row("kills, half of them during batches of 5 files", f"{count}")
    row("of these in the middle of a write", f"{interrupted}")
    row("writes acknowledged, all there, all undone", f"{acknowledged}")


def race(facts: int) -> None:
    """Write one file from two processes at once."""
    with tempfile.TemporaryDirectory() as folder:
        root = _started(Path(folder))
        began = time.perf_counter()
        writers = [_writer(root, name, facts, False) for name in ("one", "other")]
        for writer in writers:
            writer.communicate()
        lines = (root / PAGES[0]).read_bytes().split(b"\r\n")
        found = [line for line in lines if b" one " in line or b" other " in line]
        row(f"two processes, {facts} facts each", f"{len(set(found))} facts in the file")
        row("milliseconds per write", f"{(time.perf_counter() - began) * 500 / facts:.1f}")
        rest = b"\r\n".join(line for line in lines if line not in found)
        if len(set(found)) != 2 * facts or rest != START:
            sys.exit(1)


def disk(folder: Path) -> None:
    """Write to a full disk: every file must stay as it was, with the reason reported."""
    root = _started(folder / "base")
    small = [FileEdit(PAGES[0], START, START + b"\r\n")]
    write_files(root, small, "before the disk is full")
    undo(root)
    edits = [FileEdit(path, START, START + b"\r\n- more " + b"x" * 50_000) for path in PAGES]
    filler = folder / "filler"
    for free in (0, 16_384, 400_000):  # no journal; half a journal; no room for the files
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(os.urandom(4096))
        os.truncate(filler, max(filler.stat().st_size - free, 0))
        try:
            outcome = write_files(root, edits, "full")
            reason = str(next(iter(outcome.failed.values()), "written"))
        except WriteFault as error:
            reason = str(error)
        row(f"disk with {free:,} bytes left", reason)
        if any((root / path).read_bytes() != START for path in PAGES):
            sys.exit("a file was changed")
        filler.unlink()
    again = write_files(root, edits, "again")
    row("with space again", f"{len(again.paths)} files written")
    if len(again.paths) != len(PAGES):
        sys.exit(1)


def speed(base: Path, count: int) -> None:
    """Time a check of many drafts, a write, and a check that finds what was written."""
    with copy_of(base, keep_index=True) as copy, KnowledgeBase(copy) as kb:
        names = [one.name for one in kb.entities.find("", 50) if one.path]
        kb.memory_similar("warm up")
        drafts = [
            new_draft(f"{names[n % len(names)]} wants plan {n} of the quarter to be shorter")
            for n in range(count)
        ]
        began = time.perf_counter()
        checks = kb.drafts.check(drafts)
        row(f"{count} drafts checked at once", f"{time.perf_counter() - began:.2f} s")
        began = time.perf_counter()
        for _ in range(100):
            for check in checks:
                decide(check, 0.8)
        row("all drafts decided again", f"{(time.perf_counter() - began) * 10:.2f} ms")
        taken = []
        for number in range(5):
            began = time.perf_counter()
            kb.memory_add(f"Plays instrument {number * 7}", entity=names[0], force=True)
            taken.append((time.perf_counter() - began) * 1000)
        row("one fact checked, written and indexed", f"{median(taken):.0f} ms")
        began = time.perf_counter()
        (found, *_) = kb.memory_similar("Plays instrument 28", entity=names[0])
        row(f"the next check ({found.relation})", f"{(time.perf_counter() - began) * 1000:.0f} ms")


def _writer(root: Path, name: str, facts: int, batch: bool) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.writing", "write-on", str(root), name, str(facts)]
    return subprocess.Popen(
        [*command, *(["--batch"] if batch else [])], stdout=subprocess.PIPE, encoding="utf-8"
    )


def _started(root: Path) -> Path:
    for path in PAGES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(START)
    return root


def _with(path: str, data: bytes, text: str) -> bytes:
    return apply_fact_edit(path, data, AddFact(OWNER, "fact", text, "2026-01-02"))


def _again(path: str, text: str) -> Callable[[bytes], bytes]:
    return lambda data: _with(path, data, text)


def _require_whole_lines(root: Path) -> None:
    """Exit unless every page begins and ends as before, with whole lines between."""
    head, tail = START.split(b"\r\n\r\n## Notes")
    for path in PAGES:
        data = (root / path).read_bytes()
        middle = data.removeprefix(head).removesuffix(b"\r\n\r\n## Notes" + tail)
        lines = middle.split(b"\r\n")[1:]
        if len(middle) + len(START) != len(data) or not all(
            line.startswith(b"- [2026-01-02] ") for line in lines
        ):
            sys.exit(f"half-written: {path}: {data!r}")


if __name__ == "__main__":
    main()

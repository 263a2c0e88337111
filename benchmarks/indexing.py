"""Time indexing, compared with embedding the same texts with the bare model.

    python -m benchmarks.indexing BASE [--keep FOLDER]

BASE is any folder of markdown; it is copied first. Prints seconds per stage, the ratio to the bare
model, a second run without changes, a run after one edit, and sizes. `--keep` saves the copy with
its index for `benchmarks.searching`.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

from benchmarks.common import copy_of, peak_mb, row
from kbx_tui import IndexReport, KnowledgeBase
from kbx_tui.embedding.local import open_embedder
from kbx_tui.index.store import Store, index_uri


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--no-bare", action="store_true", help="leave the bare model out")
    options = parser.parse_args()
    with copy_of(options.base) as base:
        kb = KnowledgeBase(base)
        report = timed("first run", kb)
        describe(report)
        unchanged = timed("unchanged run", KnowledgeBase(base))
        row("  texts embedded", str(unchanged.embedded))
        page = min(file for file in base.rglob("*.md") if file.is_file())
        page.write_bytes(page.read_bytes() + b"\nOne more line.\n")
        edited = timed("one file edited", KnowledgeBase(base))
        row("  texts embedded", str(edited.embedded))
        if not options.no_bare:
            compare_with_bare_model(kb, report)
        row("peak memory of this process", f"{peak_mb():.0f} MB")
        if options.keep:
            shutil.copytree(base, options.keep, dirs_exist_ok=True)


def timed(label: str, kb: KnowledgeBase) -> IndexReport:
    began = time.perf_counter()
    report = kb.index()
    row(label, f"{time.perf_counter() - began:.2f} s")
    return report


def describe(report: IndexReport) -> None:
    row("documents, chunks", f"{report.documents}, {report.chunks}")
    row("entities, facts, links", f"{report.entities}, {report.facts}, {report.links}")
    row("texts embedded", str(report.embedded))
    row("files with problems", str(len(report.problems)))
    row("index on disk", f"{report.size_bytes / 1e6:.1f} MB")
    for stage, seconds in report.seconds.items():
        row(f"  {stage}", f"{seconds:.2f} s")


def compare_with_bare_model(kb: KnowledgeBase, report: IndexReport) -> None:
    store = Store(index_uri(kb.root, kb.settings))
    texts = list(
        dict.fromkeys(
            text
            for name, column in (("chunks", "text"), ("entities", "profile"), ("facts", "text"))
            for text in store.rows(name, [column])[column].to_pylist()
        )
    )
    embedder = open_embedder(kb.settings.embedding.model)
    embedder.embed(["warm up"] * 8)
    began = time.perf_counter()
    embedder.embed(texts)
    bare = time.perf_counter() - began
    row("bare model on the same texts", f"{bare:.2f} s ({len(texts) / bare:.0f} texts/s)")
    row("indexing / bare model", f"{report.seconds['total'] / bare:.3f}")


if __name__ == "__main__":
    main()

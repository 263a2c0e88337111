"""The reader's thread ends with the reader, after the reads already started."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kbx_tui.index.table_reader import TableReader

PATIENCE = 60.0


def reader_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "kbx-reader"}


def open_reader(base: Path) -> tuple[TableReader, set[threading.Thread]]:
    before, reader = reader_threads(), TableReader(str(base / ".kbx" / "index"))
    assert len(reader.rows("entities", ["id"], "id != ''")) > 10
    return reader, reader_threads() - before


def drop(holder: list[TableReader]) -> None:
    """Remove the last reference to the reader."""
    holder.clear()
    gc.collect()


@pytest.mark.parametrize(
    "end", [lambda holder: holder[0].close(), drop], ids=["closed", "garbage-collected"]
)
def test_the_thread_ends_with_the_reader(
    demo_kb_path: Path, end: Callable[[list[TableReader]], None]
) -> None:
    reader, threads = open_reader(demo_kb_path)
    holder = [reader]
    del reader
    end(holder)
    for thread in threads:
        thread.join(PATIENCE)
    assert threads
    assert not any(thread.is_alive() for thread in threads)


def test_reads_in_progress_are_finished_when_the_reader_is_closed(demo_kb_path: Path) -> None:
    reader, _ = open_reader(demo_kb_path)
    pages = len(reader.rows("documents", ["path"], "path != ''"))
    futures = [reader.start_reading("documents", ["path", "body"], "path != ''") for _ in range(20)]
    reader.close()
    assert {len(future.result(PATIENCE)) for future in futures} == {pages}


def test_a_closed_reader_can_be_used_again(demo_kb_path: Path) -> None:
    reader, _ = open_reader(demo_kb_path)
    reader.close()
    reader.close()
    assert len(reader.rows("entities", ["id"], "id != ''")) > 10
    reader.close()

"""What reads the tables for a search ends with whoever asked, and not before its answer."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kbx_tui.index.reader import Reader

PATIENCE = 60.0


def readers() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name == "kbx-reader"}


def a_reader_of(base: Path) -> tuple[Reader, set[threading.Thread]]:
    before, reader = readers(), Reader(str(base / ".kbx" / "index"))
    assert len(reader.rows("entities", ["id"], "id != ''")) > 10
    return reader, readers() - before


def let_go(reader: list[Reader]) -> None:
    reader.clear()
    gc.collect()


@pytest.mark.parametrize("end", [lambda held: held[0].close(), let_go], ids=["closed", "let go"])
def test_its_thread_ends(demo_kb_path: Path, end: Callable[[list[Reader]], None]) -> None:
    reader, threads = a_reader_of(demo_kb_path)
    held = [reader]
    del reader
    end(held)
    for thread in threads:
        thread.join(PATIENCE)
    assert threads
    assert not any(thread.is_alive() for thread in threads)


def test_a_read_that_has_begun_is_answered_when_it_is_closed(demo_kb_path: Path) -> None:
    reader, _ = a_reader_of(demo_kb_path)
    pages = len(reader.rows("documents", ["path"], "path != ''"))
    begun = [reader.begin("documents", ["path", "body"], "path != ''") for _ in range(20)]
    reader.close()
    assert {len(one.result(PATIENCE)) for one in begun} == {pages}


def test_a_closed_one_may_be_used_again(demo_kb_path: Path) -> None:
    reader, _ = a_reader_of(demo_kb_path)
    reader.close()
    reader.close()
    assert len(reader.rows("entities", ["id"], "id != ''")) > 10
    reader.close()

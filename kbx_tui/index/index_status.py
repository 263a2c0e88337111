"""The state of the index: what it holds and which files changed since. Read-only."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from kbx_tui.config import Settings
from kbx_tui.index.build.file_changes import find_changes
from kbx_tui.index.rows import problems_from
from kbx_tui.index.snapshot import generation_of
from kbx_tui.index.store import Store, index_uri
from kbx_tui.knowledge.records import Problem
from kbx_tui.knowledge.vault import list_files

Change = Literal["new", "changed", "deleted"]


@dataclass(frozen=True, slots=True)
class Status:
    """The state of one knowledge base and its index."""

    root: Path
    index_path: str
    indexed: bool = False
    indexed_at: str = ""
    """Local time at which a run last changed the text, ISO; empty without an index."""
    model: str = ""
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    facts: int = 0
    links: int = 0
    vectors: int = 0
    vector_share: float = 0.0
    """Share of the distinct texts to embed that have a vector, 0..1."""
    size_bytes: int = 0
    generation: int = 0
    stale: tuple[tuple[str, Change], ...] = ()
    """Files that differ from the index, by path."""
    problems: tuple[Problem, ...] = ()
    """Files that could not be read completely."""


def read_status(root: Path, settings: Settings) -> Status:
    """Compare the files with the index by content.

    Raises IndexForeign for another schema version.
    """
    store = Store(index_uri(root, settings))
    changes = find_changes(root, store, settings)
    stale: list[tuple[str, Change]] = [
        *((path, "new") for path in changes.added),
        *((path, "changed") for path in changes.changed),
        *((path, "deleted") for path in changes.deleted),
    ]
    if not store.exists():
        return Status(root, store.uri, stale=tuple(sorted(stale)), problems=tuple(changes.problems))
    store.check_compatible()
    meta = store.meta()
    return Status(
        root=root,
        index_path=store.uri,
        indexed=True,
        indexed_at=_local_time(meta.get("indexed_at")),
        model=str(meta["model"]),
        vector_share=_vector_share(store),
        size_bytes=store.size_bytes(),
        generation=generation_of(store.versions()),
        stale=tuple(sorted(stale)),
        problems=(*changes.problems, *stored_problems(store)),
        **store.counts(),
    )


def count_newer_files(root: Path, settings: Settings) -> int:
    """Return how many files were modified since the last run or are missing; 0 without an index.

    Goes by modification time, which is much faster than comparing content as `read_status` does.
    """
    store = Store(index_uri(root, settings))
    if not store.exists():
        return 0
    since = store.finished_at()
    files, newer = list_files(root, settings.index.exclude), 0
    for file in files:
        with suppress(OSError):
            newer += os.stat(file).st_mtime > since  # noqa: PTH116 - faster than Path
    return newer + max(0, store.count("documents") - len(files))


def stored_problems(store: Store) -> list[Problem]:
    """Return the problems noted when the documents in the index were parsed."""
    table = store.rows("documents", ["problems"], "problems != '[]'")
    return [problem for text in table["problems"].to_pylist() for problem in problems_from(text)]


def _vector_share(store: Store) -> float:
    texts = {
        text_hash
        for name in ("chunks", "entities", "facts")
        for text_hash in store.column(name, "text_hash")
    }
    embedded = texts.intersection(store.column("vectors", "text_hash"))
    return len(embedded) / len(texts) if texts else 1.0


def _local_time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")

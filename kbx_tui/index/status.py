"""What the index holds and what of it is out of date; reads, never writes."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from kbx_tui.config import Settings
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
    indexed: bool
    indexed_at: str
    """Local time of the last finished text stage, ISO, empty when there is no index."""
    model: str
    documents: int
    chunks: int
    entities: int
    facts: int
    links: int
    vectors: int
    vector_share: float
    """Share of the distinct texts to embed that have a vector, 0..1."""
    size_bytes: int
    generation: int
    stale: tuple[tuple[str, Change], ...]
    """Files that differ from the index, by path."""
    problems: tuple[Problem, ...]
    """Files that could not be read, or not wholly."""


def read_status(root: Path, settings: Settings) -> Status:
    """Compare files and index by content. Raises IndexForeign for another schema version."""
    from kbx_tui.index.build.text_stage import find_changes  # reads markdown; a quick look does not

    store = Store(index_uri(root, settings))
    changes = find_changes(root, store, settings)
    stale: list[tuple[str, Change]] = [
        *((path, "new") for path in changes.added),
        *((path, "changed") for path in changes.changed),
        *((path, "deleted") for path in changes.deleted),
    ]
    if not store.exists():
        return Status(
            root=root, index_path=store.uri, indexed=False, indexed_at="", model="",
            documents=0, chunks=0, entities=0, facts=0, links=0, vectors=0, vector_share=0.0,
            size_bytes=0, generation=0, stale=tuple(sorted(stale)),
            problems=tuple(changes.problems),
        )  # fmt: skip
    store.require()
    meta = store.meta()
    own = store.rows("documents", ["problems"], "problems != '[]'")["problems"].to_pylist()
    return Status(
        root=root,
        index_path=store.uri,
        indexed=True,
        indexed_at=_local_time(meta.get("indexed_at")),
        model=str(meta["model"]),
        documents=store.count("documents"),
        chunks=store.count("chunks"),
        entities=store.count("entities"),
        facts=store.count("facts"),
        links=store.count("links"),
        vectors=store.count("vectors"),
        vector_share=_vector_share(store),
        size_bytes=store.size_bytes(),
        generation=generation_of(store.versions()),
        stale=tuple(sorted(stale)),
        problems=(*changes.problems, *(p for text in own for p in problems_from(text))),
    )


def count_newer_files(root: Path, settings: Settings) -> int:
    """Return how many files were written since the last run, or are missing: a quick look.

    By time of writing, not by content as `read_status` does; 0 without an index.
    """
    store = Store(index_uri(root, settings))
    if not store.exists():
        return 0
    since = store.finished_at()
    files, newer = list_files(root, settings.index.exclude), 0
    for file in files:
        with suppress(OSError):
            newer += os.stat(file).st_mtime > since  # noqa: PTH116 - thousands, before a prompt
    return newer + max(0, store.count("documents") - len(files))


def _vector_share(store: Store) -> float:
    wanted = {
        found
        for name in ("chunks", "entities", "facts")
        for found in store.rows(name, ["text_hash"])["text_hash"].to_pylist()
    }
    have = set(store.rows("vectors", ["text_hash"])["text_hash"].to_pylist())
    return len(wanted & have) / len(wanted) if wanted else 1.0


def _local_time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")

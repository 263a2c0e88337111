"""The state of the index: what it holds and which files changed since. Read-only."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from kbx_tui.config import Settings
from kbx_tui.errors import IndexDamaged
from kbx_tui.index.build.file_changes import find_changes
from kbx_tui.index.derived_files import BODIES, LISTS, WORDS, vectors_file
from kbx_tui.index.entity_settings import are_outdated
from kbx_tui.index.files.excluded_files import excluded_files, template_problems
from kbx_tui.index.files.file_hashes import FileHashes
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.integrity.noted_state import find_damage
from kbx_tui.index.rows import problems_from
from kbx_tui.index.snapshot import generation_of
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.coverage import read_coverage
from kbx_tui.knowledge.records import Problem
from kbx_tui.knowledge.vault import list_files, walk

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
    """Share of the texts that can be found by meaning, 0..1 (`index/vectors/coverage.py`)."""
    without_vector: int = 0
    """Number of texts that cannot be found by meaning yet."""
    size_bytes: int = 0
    generation: int = 0
    stale: tuple[tuple[str, Change], ...] = ()
    """Files that differ from the index, by path."""
    problems: tuple[Problem, ...] = ()
    """Files that could not be read completely."""
    damage: tuple[str, ...] = ()
    """A sentence for each damage to the index; the next run repairs it."""
    entities_outdated: bool = False
    """Whether `[entities]` of kbx.toml has changed since the last run."""
    published: str = ""
    """Which version is read of which object store, in words; empty for the base's own index."""


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """One generation of an index, in a few numbers that are read within milliseconds."""

    generation: int
    pages: int
    chunks: int
    indexed_at: float | None
    """When a run last changed the text, in seconds since 1970."""


def read_summary(store: Store, generation: int) -> IndexSummary:
    """Return what an index holds at this generation. Raises IndexFault."""
    changed = store.meta().get("indexed_at")
    pages, chunks = store.count("documents"), store.count("chunks")
    return IndexSummary(generation, pages, chunks, None if changed is None else float(changed))


def read_status(root: Path, store: Store, settings: Settings) -> Status:
    """Compare the files with the index by content.

    Raises IndexForeign for another schema version.
    """
    damage: list[str] = []
    try:
        if store.exists():
            damage = find_damage(store)
            if not damage:
                return _status(root, store, settings)
    except IndexDamaged as error:
        damage = [str(error)]
    walked = walk(root, excluded_files(root, settings.index))
    return Status(
        root,
        store.uri,
        stale=tuple(sorted((file.path, "new") for file in walked.files)),
        problems=(*walked.problems, *template_problems(root, settings.index)),
        damage=tuple(damage),
    )


def _status(root: Path, store: Store, settings: Settings) -> Status:
    """Return the status of an undamaged index."""
    store.check_compatible()
    changes = find_changes(root, store, settings)
    stale: list[tuple[str, Change]] = [
        *((path, "new") for path in changes.added),
        *((path, "changed") for path in changes.changed),
        *((path, "deleted") for path in changes.deleted),
    ]
    meta = store.meta()
    model, dimension = str(meta.get("model", "")), int(meta.get("dimension", 0))
    for file in (WORDS, BODIES, vectors_file(model, dimension), LISTS):
        file.map(store)  # compares it with its digests
    coverage = read_coverage(store)
    return Status(
        root=root,
        index_path=store.uri,
        indexed=True,
        indexed_at=local_time(meta.get("indexed_at")),
        model=model,
        vector_share=coverage.share,
        without_vector=coverage.missing,
        size_bytes=store.size_bytes(),
        generation=generation_of(store.versions()),
        stale=tuple(sorted(stale)),
        entities_outdated=are_outdated(meta, settings),
        problems=(*changes.problems, *stored_problems(store)),
        damage=tuple(
            f"{name} is damaged and not used; `kbx index` writes it again"
            for name in sorted(store.damaged_files)
        ),
        published="",
        **store.counts(),
    )


def count_newer_files(root: Path, settings: Settings) -> int:
    """Return how many files are new, changed or gone since the last run; 0 without an index.

    Compares content, but reads only files that changed since they were last compared, and remembers
    the outcome. `read_status` reads all of them.
    """
    store = Store(index_uri(root, settings))
    if not store.exists():
        return 0
    indexed = store.mapping("documents", "path", "content_hash")
    known, newer = FileHashes(root), 0
    files = list_files(root, excluded_files(root, settings.index))
    for path, file in files.items():
        with suppress(OSError):
            newer += known.hash_of(path, file) != indexed.get(path)
    known.save(files)
    return newer + len(indexed.keys() - files)


def stored_problems(store: Store) -> list[Problem]:
    """Return the problems noted when the documents in the index were parsed."""
    table = store.rows("documents", ["problems"], "problems != '[]'")
    return [problem for text in table["problems"].to_pylist() for problem in problems_from(text)]


def local_time(seconds: float | None) -> str:
    """Return seconds since 1970 as local time, ISO; empty for None."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")

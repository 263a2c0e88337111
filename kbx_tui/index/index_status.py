"""The state of an index: its contents, files changed since, and questions before an index run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from kbx_tui.config import Settings
from kbx_tui.errors import IndexDamaged, IndexFault, NotConfirmed
from kbx_tui.formatting import format_count
from kbx_tui.index.build.file_changes import FileHashes, find_changes
from kbx_tui.index.excluded_files import excluded_files, template_problems
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.noted_state import find_damage
from kbx_tui.index.snapshot import generation_of, indexed_versions
from kbx_tui.index.store import Store, stored_problems
from kbx_tui.index.tables import document_version
from kbx_tui.index.vectors.stored_vectors import Coverage, count_texts, read_coverage
from kbx_tui.index.versions import hash_array
from kbx_tui.knowledge.fields import CORE_ENTITY_TYPES
from kbx_tui.knowledge.records import Problem
from kbx_tui.knowledge.vault import (
    CONFIG_NAME,
    describe_system_folder,
    list_files,
    suppression_problems,
    walk,
    walked_folder,
)

Change = Literal["new", "changed", "deleted"]


@dataclass(frozen=True, slots=True)
class Status:
    """The state of one knowledge base and its index."""

    root: Path
    index_path: str
    indexed: bool = False
    indexed_at: str = ""
    """Local ISO time at which an index run last changed the text; empty without an index."""
    model: str = ""
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    facts: int = 0
    links: int = 0
    vectors: int = 0
    vector_share: float = 0.0
    """Share of the texts that can be found by meaning, 0..1 (`index/vectors/stored_vectors.py`)."""
    without_vector: int = 0
    size_bytes: int = 0
    generation: int = 0
    stale: tuple[tuple[str, Change], ...] = ()
    problems: tuple[Problem, ...] = ()
    damage: tuple[str, ...] = ()
    """A sentence for each fault of a damaged index; the next run repairs it."""
    entities_outdated: bool = False
    published: str = ""
    """A description of the version and object store in use; empty for the base's own index."""


@dataclass(frozen=True, slots=True)
class IndexSummary:
    generation: int
    pages: int
    chunks: int
    indexed_at: float | None
    """When an index run last changed the text, in seconds since 1970."""


def read_summary(store: Store, generation: int) -> IndexSummary:
    changed = store.meta().get("indexed_at")
    pages, chunks = store.count("documents"), store.count("chunks")
    return IndexSummary(generation, pages, chunks, None if changed is None else float(changed))


def read_status(root: Path, store: Store, settings: Settings) -> Status:
    """Compare the files with the index by content. Raises IndexForeign for another schema."""
    damage: list[str] = []
    if words := store.foreign_words():
        damage = [f"{words}; {store.foreign_advice()}"]
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
    from kbx_tui.index.check_index import map_derived_files  # parses markdown: searches avoid it

    store.check_compatible()
    changes = find_changes(root, store, settings)
    stale: list[tuple[str, Change]] = [
        *((path, "new") for path in changes.added),
        *((path, "changed") for path in changes.changed),
        *((path, "deleted") for path in changes.deleted),
    ]
    meta = store.meta()
    map_derived_files(store)  # compares each file with its digest
    coverage = read_coverage(store)
    return Status(
        root=root,
        index_path=store.uri,
        indexed=True,
        indexed_at=local_time(meta.get("indexed_at")),
        model=str(meta.get("model", "")),
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


def newer_files(root: Path, settings: Settings) -> Collection[str]:
    """Return the paths of files that differ from the index; none without an index.

    Unlike `read_status`, it reads only files that changed since they were last compared.
    """
    store = Store(index_uri(root, settings))
    if not store.exists():
        return ()
    files = list_files(root, excluded_files(root, settings.index))
    return _stale(root, files, indexed_versions(store))


def _stale(root: Path, files: Mapping[str, str], versions: Mapping[str, str]) -> dict[str, Change]:
    """Return the files that differ from these document versions; remember hashes of files read."""
    known, stale = FileHashes(root), dict[str, Change]()
    for path, file in files.items():
        with suppress(OSError):
            if document_version(path, known.hash_of(path, file)) != versions.get(path):
                stale[path] = "changed" if path in versions else "new"
    if versions:
        known.save(files)
    return stale | dict.fromkeys(versions.keys() - files.keys(), "deleted")


def local_time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class IndexOverview:
    documents: tuple[str, ...] = ()
    stale: tuple[tuple[str, Change], ...] = ()
    problems: tuple[Problem, ...] = ()
    templates: tuple[Problem, ...] = ()
    unembedded: tuple[tuple[str, int], ...] = ()
    """Path and number of texts of each document with texts not yet searchable by meaning."""
    vector_share: float = 0.0
    published: str = ""
    size_bytes: int = 0
    indexed_at: str = ""


def read_overview(root: Path, store: Store, settings: Settings) -> IndexOverview:
    walked = walk(root, excluded_files(root, settings.index))
    versions = indexed_versions(store) if store.exists() else {}
    files = {file.path: str(file.absolute) for file in walked.files}
    overview = IndexOverview(
        stale=tuple(sorted(_stale(root, files, versions).items())),
        problems=(*walked.problems, *suppression_problems(root)),
        templates=tuple(template_problems(root, settings.index)),
    )
    if not versions:
        return overview
    documents = store.rows("documents", ["version", "path"])
    texts, missing, profiles = count_texts(store, hash_array(documents["version"]))
    coverage = Coverage(int(texts.sum()), int(missing.sum())) + profiles
    lacking = np.flatnonzero(missing)
    paths = documents["path"].take(lacking).to_pylist()
    return replace(
        overview,
        documents=tuple(sorted(versions)),
        problems=(*overview.problems, *stored_problems(store)),
        unembedded=tuple(sorted(zip(paths, missing[lacking].tolist(), strict=True))),
        vector_share=coverage.share,
        size_bytes=store.size_bytes(),
        indexed_at=local_time(store.meta().get("indexed_at")),
    )


def entity_types(settings: Settings) -> frozenset[str]:
    return CORE_ENTITY_TYPES | frozenset(settings.entities.types)


def noted_settings(settings: Settings) -> dict[str, Any]:
    topics = msgspec.json.decode(msgspec.json.encode(settings.entities))
    del topics["types"]
    return {"entity_types": sorted(entity_types(settings)), "entity_topics": topics}


def are_outdated(meta: Mapping[str, Any], settings: Settings) -> bool:
    """Return whether an index with this `meta` was made with other settings."""
    return any(meta.get(key, value) != value for key, value in noted_settings(settings).items())


def entities_outdated(root: Path, settings: Settings) -> bool:
    store = Store(index_uri(root, settings))
    return store.exists() and are_outdated(store.meta(), settings)


ASK_ABOVE = 2_000
"""Most new files that are indexed without confirmation."""
COUNTED_AT_MOST = 100_000
"""Number of files at which counting stops: a whole disk may hold millions."""


@dataclass(frozen=True, slots=True)
class IndexQuestion:
    root: Path
    new_files: int
    """Number of markdown files not in the index; `COUNTED_AT_MOST` means that many or more."""
    folder: str
    """What kind of system folder the root is, in words; empty if it is not one."""
    is_first: bool
    foreign: str = ""
    """A clause about an index that is there and is not opened; empty if none is."""

    @property
    def count(self) -> str:
        more = "more than " * (self.new_files >= COUNTED_AT_MOST)
        return f"{more}{format_count(self.new_files, 'markdown file')}"

    @property
    def sentence(self) -> str:
        if self.folder:
            return f"{self.root} is {self.folder} and holds {self.count}"
        hint = f"; {self.foreign}, `kbx trust` opens it if it is yours" if self.foreign else ""
        return f"{self.root} holds {self.count} that are not indexed yet{hint}"


def index_question(root: Path, settings: Settings) -> IndexQuestion | None:
    """Return what to ask before a run that compares all files; None if nothing.

    Up to `ASK_ABOVE` new files need no question, except in a system folder that is neither indexed
    nor marked as a base by kbx.toml or memory/. Moved files are not new. Raises NotFound and
    ConfigError.
    """
    store = Store(index_uri(root, settings))
    try:
        indexed = set(store.column("documents", "path")) if store.exists() else set()
    except IndexFault:
        return None  # the run itself repairs the index or reports why it cannot
    found = list_files(root, excluded_files(root, settings.index), limit=COUNTED_AT_MOST)
    gone = 0 if len(found) >= COUNTED_AT_MOST else len(indexed - found.keys())
    new_files = max(len(found.keys() - indexed) - gone, 0)
    is_marked = (root / CONFIG_NAME).is_file() or walked_folder(root) != root
    folder = "" if indexed or is_marked else describe_system_folder(root)
    if not new_files or not (folder or new_files > ASK_ABOVE):
        return None
    return IndexQuestion(root, new_files, folder, not indexed, store.foreign_words())


def refusal_to_index(question: IndexQuestion) -> NotConfirmed:
    return NotConfirmed(
        f"{question.sentence}; `kbx index --yes` indexes them, --kb names another folder"
    )

"""The state of an index: what it holds, which files changed since, and what to ask before a run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
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
from kbx_tui.index.load_snapshot import indexed_versions
from kbx_tui.index.noted_state import find_damage
from kbx_tui.index.snapshot import generation_of
from kbx_tui.index.store import Store
from kbx_tui.index.tables import document_version, problems_from
from kbx_tui.index.vectors.vector_matrix import Coverage, count_texts, read_coverage
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
    """Local time at which a run last changed the text, ISO; empty without an index."""
    model: str = ""
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    facts: int = 0
    links: int = 0
    vectors: int = 0
    vector_share: float = 0.0
    """Share of the texts that can be found by meaning, 0..1 (`index/vectors/vector_matrix.py`)."""
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
    from kbx_tui.index.check_index import map_derived_files  # parses markdown: not for a search

    store.check_compatible()
    changes = find_changes(root, store, settings)
    stale: list[tuple[str, Change]] = [
        *((path, "new") for path in changes.added),
        *((path, "changed") for path in changes.changed),
        *((path, "deleted") for path in changes.deleted),
    ]
    meta = store.meta()
    map_derived_files(store)  # compares each with its digest
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


def count_newer_files(root: Path, settings: Settings) -> int:
    """Return how many files are new, changed or gone since the last run; 0 without an index.

    Compares content, but reads only files that changed since they were last compared, and remembers
    the outcome. `read_status` reads all of them.
    """
    store = Store(index_uri(root, settings))
    if not store.exists():
        return 0
    indexed, known, newer = indexed_versions(store), FileHashes(root), 0
    files = list_files(root, excluded_files(root, settings.index))
    for path, file in files.items():
        with suppress(OSError):
            newer += document_version(path, known.hash_of(path, file)) != indexed.get(path)
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


@dataclass(frozen=True, slots=True)
class IndexOverview:
    """The state of an index; without one, only the files to index."""

    documents: tuple[str, ...] = ()
    """Paths of the documents in the index, sorted."""
    stale: tuple[tuple[str, Change], ...] = ()
    """Files that differ from the index, by path."""
    problems: tuple[Problem, ...] = ()
    """Files that could not be read completely."""
    templates: tuple[Problem, ...] = ()
    """Folders of templates and template notes, which are left out on purpose."""
    unembedded: tuple[tuple[str, int], ...] = ()
    """Documents with texts that cannot be found by meaning yet, by path, and how many."""
    vector_share: float = 0.0
    """Share of the texts that can be found by meaning, 0..1."""
    published: str = ""
    """Which version is read of which object store, in words; empty for the base's own index."""
    size_bytes: int = 0
    indexed_at: str = ""
    """Local time at which a run last changed the text, ISO; empty without an index."""


def read_overview(root: Path, store: Store, settings: Settings) -> IndexOverview:
    """Compare the files with the index by content. Raises IndexFault, NotFound and ConfigError."""
    walked = walk(root, excluded_files(root, settings.index))
    problems = [*walked.problems, *suppression_problems(root)]
    templates = tuple(template_problems(root, settings.index))
    indexed: dict[str, str] = {}
    if store.exists():
        indexed = store.mapping("documents", "path", "content_hash")
    known, stale = FileHashes(root), dict[str, Change]()
    files = {file.path: str(file.absolute) for file in walked.files}
    for path, file in files.items():
        with suppress(OSError):
            if known.hash_of(path, file) != indexed.get(path):
                stale[path] = "changed" if path in indexed else "new"
    stale |= dict.fromkeys(indexed.keys() - files.keys(), "deleted")
    if not indexed:
        return IndexOverview(
            stale=tuple(sorted(stale.items())), problems=tuple(problems), templates=templates
        )
    known.save(files)
    documents = store.rows("documents", ["version", "path"])
    texts, missing, profiles = count_texts(store, hash_array(documents["version"]))
    coverage = Coverage(int(texts.sum()), int(missing.sum())) + profiles
    lacking = np.flatnonzero(missing)
    paths = documents["path"].take(lacking).to_pylist()
    return IndexOverview(
        documents=tuple(sorted(indexed)),
        stale=tuple(sorted(stale.items())),
        problems=(*problems, *stored_problems(store)),
        templates=templates,
        unembedded=tuple(sorted(zip(paths, missing[lacking].tolist(), strict=True))),
        vector_share=coverage.share,
        size_bytes=store.size_bytes(),
        indexed_at=local_time(store.meta().get("indexed_at")),
    )


def entity_types(settings: Settings) -> frozenset[str]:
    """Return the kinds whose pages are entities."""
    return CORE_ENTITY_TYPES | frozenset(settings.entities.types)


def noted_settings(settings: Settings) -> dict[str, Any]:
    """Return what the index notes of `[entities]`, as JSON values."""
    topics = msgspec.json.decode(msgspec.json.encode(settings.entities))
    del topics["types"]
    return {"entity_types": sorted(entity_types(settings)), "entity_topics": topics}


def are_outdated(meta: Mapping[str, Any], settings: Settings) -> bool:
    """Return whether an index with these notes was made under other settings.

    False for one that was made before they were noted.
    """
    return any(meta.get(key, value) != value for key, value in noted_settings(settings).items())


def entities_outdated(root: Path, settings: Settings) -> bool:
    """Return whether `[entities]` changed since the last run; False without an index."""
    store = Store(index_uri(root, settings))
    return store.exists() and are_outdated(store.meta(), settings)


ASK_ABOVE = 2_000
"""New files above which a run is to be confirmed."""
COUNTED_AT_MOST = 100_000
"""Files after which counting ends: a whole disk may hold millions."""


@dataclass(frozen=True, slots=True)
class IndexQuestion:
    """What the user should know before a run."""

    root: Path
    new_files: int
    """Markdown files that the index lacks; `COUNTED_AT_MOST` stands for that many or more."""
    folder: str
    """What kind of folder of the system the root is, in words; else empty."""
    is_first: bool
    """Whether nothing of the base has been indexed yet."""

    @property
    def count(self) -> str:
        """The number of new files in words: `34,057 markdown files`."""
        more = "more than " * (self.new_files >= COUNTED_AT_MOST)
        return f"{more}{format_count(self.new_files, 'markdown file')}"

    @property
    def sentence(self) -> str:
        """What would be indexed, without a full stop."""
        if self.folder:
            return f"{self.root} is {self.folder} and holds {self.count}"
        return f"{self.root} holds {self.count} that are not indexed yet"


def index_question(root: Path, settings: Settings) -> IndexQuestion | None:
    """Return what to ask before a run that compares all files; None if it may just begin.

    That is so for up to `ASK_ABOVE` new files, and for a folder of the system only once it has been
    indexed, or marked as a base by a kbx.toml or a folder memory/. Files that moved are not new.
    Raises NotFound and ConfigError.
    """
    store = Store(index_uri(root, settings))
    try:
        indexed = set(store.column("documents", "path")) if store.exists() else set()
    except IndexFault:
        return None  # the run itself mends it, or says why it cannot
    found = list_files(root, excluded_files(root, settings.index), limit=COUNTED_AT_MOST)
    gone = 0 if len(found) >= COUNTED_AT_MOST else len(indexed - found.keys())
    new_files = max(len(found.keys() - indexed) - gone, 0)
    is_marked = (root / CONFIG_NAME).is_file() or walked_folder(root) != root
    folder = "" if indexed or is_marked else describe_system_folder(root)
    if not new_files or not (folder or new_files > ASK_ABOVE):
        return None
    return IndexQuestion(root, new_files, folder, is_first=not indexed)


def refusal_to_index(question: IndexQuestion) -> NotConfirmed:
    """Return the error for a caller that cannot ask."""
    return NotConfirmed(
        f"{question.sentence}; `kbx index --yes` indexes them, --kb names another folder"
    )

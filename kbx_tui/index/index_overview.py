"""What the Index mode shows of an index: documents, and the files that need attention. Read-only.

Faster than `read_status`: files that have not changed since they were last compared are not read,
and nothing is looked for that is damaged.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kbx_tui.config import Settings
from kbx_tui.index.columns.versions import hash_array
from kbx_tui.index.files.excluded_files import excluded_files, template_problems
from kbx_tui.index.files.file_hashes import FileHashes
from kbx_tui.index.index_status import Change, local_time, stored_problems
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.coverage import Coverage, count_texts
from kbx_tui.knowledge.entities.suppressions import suppression_problems
from kbx_tui.knowledge.records import Problem
from kbx_tui.knowledge.vault import walk


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

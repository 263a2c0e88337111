"""The differences between the files and the index, by content hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kbx_tui.config import Settings
from kbx_tui.index.files.excluded_files import excluded_files, template_problems
from kbx_tui.index.files.file_hashes import FileHashes
from kbx_tui.index.store import Store
from kbx_tui.knowledge.entities.suppressions import suppression_problems
from kbx_tui.knowledge.records import Problem
from kbx_tui.knowledge.vault import VaultFile, Walk, locate, walk


@dataclass(slots=True)
class Changes:
    """The differences between the files and the index. Paths are root-relative."""

    hashes: dict[str, str]
    """Content hash of every readable file on disk."""
    indexed: dict[str, str]
    """Content hash of every document in the index before this run."""
    files: dict[str, Path]
    """Absolute path of each file, which may be spelled differently on disk than its path."""
    added: list[str]
    changed: list[str]
    deleted: list[str]
    moved: int
    """Deleted paths whose content reappears at an added path."""
    problems: list[Problem]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.deleted)


def find_changes(
    root: Path, store: Store, settings: Settings, only: Collection[str] | None = None
) -> Changes:
    """Compare the files, or `only` those at some paths, with the index.

    Reads each of them, and remembers its hash for faster comparisons.
    """
    indexed = store.mapping("documents", "path", "content_hash") if store.exists() else {}
    excluded = excluded_files(root, settings.index)
    walked = walk(root, excluded) if only is None else _located(root, only)
    problems, hashes = list(walked.problems), dict(indexed) if only is not None else {}
    problems += [*suppression_problems(root), *template_problems(root, settings.index)]
    for path in only or ():
        hashes.pop(path, None)
    known = FileHashes(root)
    for file in walked.files:
        try:
            hashes[file.path] = known.read(file.path, file.absolute)
        except OSError as error:
            problems.append(unreadable(file.path, error))
    known.save(hashes)
    added = [path for path in hashes if path not in indexed]
    deleted = [path for path in indexed if path not in hashes]
    added_hashes = Counter(hashes[path] for path in added)
    deleted_hashes = Counter(indexed[path] for path in deleted)
    return Changes(
        hashes=hashes,
        indexed=indexed,
        files={file.path: file.absolute for file in walked.files},
        added=added,
        changed=[path for path in hashes if path in indexed and indexed[path] != hashes[path]],
        deleted=deleted,
        moved=(added_hashes & deleted_hashes).total(),
        problems=problems,
    )


def unreadable(path: str, error: OSError) -> Problem:
    """Return the problem to list for a file that cannot be read."""
    return Problem(path, f"cannot be read: {error.strerror}", skipped=True)


def _located(root: Path, paths: Collection[str]) -> Walk:
    """Return the files at these paths that exist."""
    files = []
    for path in sorted(paths):
        with suppress(OSError, ValueError):
            files.append(VaultFile(path, locate(root, path)))
    return Walk(tuple(files), ())

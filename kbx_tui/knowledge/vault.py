"""Where a knowledge base begins and which files belong to it. No markdown file is opened here."""

from __future__ import annotations

import os
import unicodedata
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kbx_tui.errors import NotFound
from kbx_tui.knowledge.ignore_rules import IGNORING, Ignored
from kbx_tui.knowledge.records import Problem

CONFIG_NAME = "kbx.toml"
MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class VaultFile:
    """A markdown file of the knowledge base."""

    path: str
    """Root-relative, `/`, NFC: the key of its document."""
    absolute: Path
    """As the file system spells it."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What a knowledge base holds right now."""

    files: tuple[VaultFile, ...]
    """Sorted by path."""
    problems: tuple[Problem, ...]
    ignoring: tuple[VaultFile, ...] = ()
    """The ``.gitignore`` files that had a say, sorted by path."""


def find_root(start: Path | None = None, *, given: Path | None = None) -> Path:
    """Return the folder all paths are relative to.

    ``given`` is taken as it is. Else it is the nearest folder from ``start`` (default: the current
    one) upward with ``kbx.toml``, else the nearest that contains ``memory/``, else ``start``.
    Raises NotFound when the folder to begin with is none.
    """
    if given is not None:
        return _existing(given)
    start = _existing(Path.cwd() if start is None else start)
    upward = (start, *start.parents)
    for folder in upward:
        if (folder / CONFIG_NAME).is_file():
            return folder
    for folder in upward:
        if (folder / MEMORY).is_dir():
            return folder
    return start


def walked_folder(root: Path) -> Path:
    """Return the folder that is walked for the knowledge base at ``root``: the whole, or a part."""
    return root / MEMORY if (root / MEMORY).is_dir() else root


def walk(root: Path, exclude: Sequence[str] = ()) -> Walk:
    """List the markdown files below ``root``: names ending in ``.md``, in any letter case.

    Where ``memory/`` exists only it is walked. Left out are hidden entries, node_modules, virtual
    environments, what ``.gitignore`` files from the root down name, and the ``exclude`` patterns
    (same syntax). Links are followed inside the root; a linked folder is walked once, under its own
    name where it has one. What cannot be read becomes a Problem, an unusable pattern a ConfigError.
    """
    return _Walker(_existing(root), exclude).walk()


def list_files(root: Path, exclude: Sequence[str] = ()) -> list[str]:
    """Return the files that `walk` lists, as the file system spells them and in any order: quick.

    Raises as `walk`.
    """
    walker = _Walker(_existing(root), exclude)
    walker.walk_trees()
    return list(walker.files.values())


class _Walker:
    def __init__(self, root: Path, exclude: Sequence[str]) -> None:
        self._root = root
        self._prefix = f"{MEMORY}/" if walked_folder(root) != root else ""
        self._inside = {root.resolve(), (root / self._prefix).resolve()}
        self._ignored = Ignored(exclude)
        self.files: dict[str, str] = {}
        """By path, as the file system spells each."""
        self._ignoring: list[VaultFile] = []
        self._problems: list[Problem] = []
        self._linked: deque[tuple[str, str]] = deque()
        self._walked: set[tuple[int, int]] = set()

    def walk(self) -> Walk:
        self.walk_trees()
        return Walk(
            tuple(VaultFile(path, Path(self.files[path])) for path in sorted(self.files)),
            tuple(sorted(self._problems, key=lambda problem: (problem.path, problem.reason))),
            tuple(sorted(self._ignoring, key=lambda file: file.path)),
        )

    def walk_trees(self) -> None:
        if self._prefix:
            self._read_ignoring(self._root, "", spare=self._prefix)
        self._linked.append((str(self._root / self._prefix), self._prefix))
        while self._linked:  # links come last: a file is listed under its real folder if it can be
            self._tree(*self._linked.popleft())

    def _tree(self, top: str, top_prefix: str) -> None:
        waiting = [(top, top_prefix)]
        while waiting:
            folder, prefix = waiting.pop()
            entries = self._entries(folder, prefix)
            names = {entry.name for entry in entries}
            if "pyvenv.cfg" in names and prefix != self._prefix:
                continue
            if IGNORING in names:
                self._read_ignoring(Path(folder), prefix)
            for entry in entries:
                path = prefix + entry.name
                if entry.name.startswith(".") or entry.name == "node_modules":
                    continue
                if entry.is_symlink():
                    self._link(entry, path)
                elif entry.is_dir(follow_symlinks=False):
                    if not self._ignored.folder(path):
                        waiting.append((entry.path, path + "/"))
                elif _is_markdown(entry.name) and not self._ignored.file(path):
                    self._file(entry.path, path, regular=entry.is_file(follow_symlinks=False))

    def _read_ignoring(self, folder: Path, prefix: str, *, spare: str = "") -> None:
        if self._ignored.read_folder(folder, prefix, spare=spare):
            path = unicodedata.normalize("NFC", prefix + IGNORING)
            self._ignoring.append(VaultFile(path, folder / IGNORING))

    def _entries(self, folder: str, prefix: str) -> list[os.DirEntry[str]]:
        try:
            status = os.stat(folder)  # noqa: PTH116 - a fifth of the time of a Path, of thousands
            identity = (status.st_dev, status.st_ino)
            if identity in self._walked:
                return []
            self._walked.add(identity)
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(prefix.rstrip("/") or ".", f"folder cannot be read: {error.strerror}")
            return []

    def _link(self, entry: os.DirEntry[str], path: str) -> None:
        try:
            target = Path(entry.path).resolve(strict=True)
            is_folder = target.is_dir()
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop, before Python 3.13
            if _is_markdown(entry.name):
                reason = getattr(error, "strerror", None) or "it leads in a circle"
                self._skip(path, f"link cannot be followed: {reason}")
            return
        if not (is_folder or _is_markdown(entry.name)):
            return
        if self._ignored.folder(path) if is_folder else self._ignored.file(path):
            return
        if not any(target.is_relative_to(folder) for folder in self._inside):
            self._skip(path, "link leads out of the knowledge base")
        elif is_folder:
            self._linked.append((entry.path, path + "/"))
        else:
            self._file(entry.path, path, regular=target.is_file())

    def _file(self, absolute: str, path: str, *, regular: bool) -> None:
        key = path if path.isascii() else unicodedata.normalize("NFC", path)
        if not regular:
            self._skip(key, "is no regular file")
        elif not os.access(absolute, os.R_OK):
            self._skip(key, "cannot be read: no permission")
        elif not _is_text(key):
            self._skip(key, "file name is not valid text")
        elif key in self.files:
            self._skip(key, "another file has this name, written with other code points")
        else:
            self.files[key] = absolute

    def _skip(self, path: str, reason: str) -> None:
        shown = path.encode("utf-8", "replace").decode("utf-8")
        self._problems.append(Problem(shown, reason, skipped=True))


def _is_markdown(name: str) -> bool:
    return name[-3:].lower() == ".md"


def _is_text(path: str) -> bool:
    """Undecodable bytes of a name arrive as lone surrogates, which no index can store."""
    return path.isascii() or not any("\ud800" <= character <= "\udfff" for character in path)


def _existing(path: Path) -> Path:
    folder = path.expanduser().absolute()
    if ".." in folder.parts:
        folder = folder.resolve()
    if not folder.is_dir():
        raise NotFound(f"{folder} is not a folder; name an existing one")
    return folder


def locate(root: Path, path: str, exclude: Sequence[str] = ()) -> Path:
    """Return the file that `path`, root-relative and NFC, stands for.

    On disk its name may be spelled in parts (NFD); then it is looked for as `walk` does.
    Raises ValueError when it lies outside the root, FileNotFoundError when there is none.
    """
    file, parts = root / path, PurePosixPath(path).parts
    file.resolve().relative_to(root.resolve())
    if file.suffix.lower() != ".md" or any(part.startswith(".") for part in parts):
        raise FileNotFoundError(path)  # not for `walk`, so not for anyone who asks
    if file.exists():
        return file
    for found in walk(root, exclude).files:
        if found.path == path:
            return found.absolute
    raise FileNotFoundError(path)

"""Discovery of the root of a base and of its markdown files; what is left out, links included."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import unicodedata
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from kbx_tui.errors import NotFound
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.fields import texts_of
from kbx_tui.knowledge.path_patterns import GITIGNORE, MOST_RULES, IgnoreRules
from kbx_tui.knowledge.records import Problem
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.state_file import SIZE_LIMIT, decode_json, open_regular_file, read_at_most
from kbx_tui.system import open_flags, opened_path

CONFIG_NAME = "kbx.toml"
MEMORY = "memory"

MAX_BYTES = 256 * 1024 * 1024
MOST_FOLDERS = 200
"""Folders in one another that are walked: every pattern is compared at each slash of a path."""


@dataclass(frozen=True, slots=True)
class VaultFile:
    path: str
    absolute: Path


@dataclass(frozen=True, slots=True)
class Walk:
    files: tuple[VaultFile, ...]
    problems: tuple[Problem, ...]
    gitignores: tuple[VaultFile, ...] = ()


def find_root(start: Path | None = None, *, explicit: Path | None = None) -> Path:
    """Return the root of a knowledge base: the folder its paths are relative to.

    This is ``explicit`` if set. Else it is the nearest folder from ``start`` (default: the current
    one) upwards with a ``kbx.toml``, else the nearest with a ``memory/``, else ``start``.
    Raises NotFound if ``explicit`` or ``start`` is not a folder.
    """
    if explicit is not None:
        return _existing_folder(explicit)
    start = _existing_folder(Path.cwd() if start is None else start)
    upward = (start, *start.parents)
    for folder in upward:
        if (folder / CONFIG_NAME).is_file():
            return folder
    for folder in upward:
        if (folder / MEMORY).is_dir():
            return folder
    return start


def walked_folder(root: Path) -> Path:
    return root / MEMORY if (root / MEMORY).is_dir() else root


def walk(root: Path, exclude: Sequence[str] = ()) -> Walk:
    """Find the markdown files below ``root``: names ending in ``.md``, in any letter case.

    Walks only ``memory/`` if it exists. Skips hidden entries, ``node_modules``, virtual
    environments, everything ignored by a ``.gitignore`` at or below the root, and the ``exclude``
    patterns (same syntax). Follows links that stay inside the root and lead to nothing hidden; a
    linked folder is walked once, under its real path if that is reached too. Unreadable files are
    reported as problems.
    Raises NotFound if ``root`` is not a folder, ConfigError for an invalid pattern.
    """
    return _Walker(_existing_folder(root), exclude).walk()


def list_files(
    root: Path, exclude: Sequence[str] = (), *, limit: int | None = None
) -> dict[str, str]:
    """Return the absolute paths of the files that `walk` finds, by the paths of documents.

    Unsorted; at most a few more than `limit`. Raises like `walk`.
    """
    walker = _Walker(_existing_folder(root), exclude, limit)
    walker.walk_trees()
    return walker.files


class _Walker:
    def __init__(self, root: Path, exclude: Sequence[str], limit: int | None = None) -> None:
        self._root, self._limit = root, sys.maxsize if limit is None else limit
        self._prefix = f"{MEMORY}/" if walked_folder(root) != root else ""
        self._inside = {root.resolve(), (root / self._prefix).resolve()}
        self._rules = IgnoreRules(exclude)
        self.files: dict[str, str] = {}
        self._gitignores: list[VaultFile] = []
        self._problems: list[Problem] = []
        self._linked: deque[tuple[str, str]] = deque()
        self._walked: set[tuple[int, int]] = set()

    def walk(self) -> Walk:
        self.walk_trees()
        return Walk(
            tuple(VaultFile(path, Path(self.files[path])) for path in sorted(self.files)),
            tuple(sorted(self._problems, key=lambda problem: (problem.path, problem.reason))),
            tuple(sorted(self._gitignores, key=lambda file: file.path)),
        )

    def walk_trees(self) -> None:
        if self._prefix:
            self._read_gitignore(self._root, "", keep=self._prefix)
            if self._rules.ignores_file(self._prefix):
                return
        self._linked.append((str(self._root / self._prefix), self._prefix))
        while self._linked:  # links last, so that files are listed under their real folder
            self._walk_tree(*self._linked.popleft())
        if self._rules.are_cut:
            fault = f"only {MOST_RULES:,} patterns of all such files are used, the others left out"
            self._problems.append(Problem(GITIGNORE, fault))

    def _walk_tree(self, top: str, top_prefix: str) -> None:
        pending = [(top, top_prefix)]
        while pending and len(self.files) < self._limit:
            folder, prefix = pending.pop()
            if prefix.count("/") > MOST_FOLDERS:
                self._skip(prefix.rstrip("/"), f"folder is in more than {MOST_FOLDERS} others")
                continue
            entries = self._entries(folder, prefix)
            names = {entry.name for entry in entries}
            if "pyvenv.cfg" in names and prefix != self._prefix:
                continue
            if GITIGNORE in names:
                self._read_gitignore(Path(folder), prefix)
            for entry in entries:
                path = prefix + entry.name
                if entry.name.startswith(".") or entry.name == "node_modules":
                    continue
                if entry.is_symlink():
                    self._add_link(entry, path)
                elif entry.is_dir(follow_symlinks=False):
                    if not self._rules.ignores_file(path + "/"):
                        pending.append((entry.path, path + "/"))
                elif _is_markdown(entry.name) and not self._rules.ignores_file(path):
                    self._add_file(entry.path, path, regular=entry.is_file(follow_symlinks=False))

    def _read_gitignore(self, folder: Path, prefix: str, *, keep: str = "") -> None:
        if self._rules.read_folder(folder, prefix, keep=keep):
            path = unicodedata.normalize("NFC", prefix + GITIGNORE)
            self._gitignores.append(VaultFile(path, folder / GITIGNORE))

    def _entries(self, folder: str, prefix: str) -> list[os.DirEntry[str]]:
        try:
            status = os.stat(folder)  # noqa: PTH116 - much faster than Path.stat
            identity = (status.st_dev, status.st_ino)
            if identity in self._walked:
                return []
            self._walked.add(identity)
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(prefix.rstrip("/") or ".", f"folder cannot be read: {error.strerror}")
            return []

    def _add_link(self, entry: os.DirEntry[str], path: str) -> None:
        try:
            is_folder = entry.is_dir()  # fails for a long chain of links, each of which is followed
            target = Path(entry.path).resolve(strict=True)
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop, before Python 3.13
            if _is_markdown(entry.name):
                reason = getattr(error, "strerror", None) or "it is part of a loop"
                self._skip(path, f"link cannot be followed: {reason}")
            return
        if not (is_folder or _is_markdown(entry.name)):
            return
        if self._rules.ignores_file(f"{path}/" if is_folder else path):
            return
        inside = [target.relative_to(top) for top in self._inside if target.is_relative_to(top)]
        if not inside:
            self._skip(path, "link leads outside the knowledge base")
        elif all(_is_hidden("/".join(path.parts)) for path in inside):
            self._skip(path, "link leads to a hidden file or folder")
        elif is_folder:
            self._linked.append((entry.path, path + "/"))
        else:
            self._add_file(entry.path, path, regular=target.is_file())

    def _add_file(self, absolute: str, path: str, *, regular: bool) -> None:
        key = path if path.isascii() else unicodedata.normalize("NFC", path)
        if not regular:
            self._skip(key, "is not a regular file")
        elif not os.access(absolute, os.R_OK):
            self._skip(key, "cannot be read: permission denied")
        elif replace_surrogates(key) != key:  # what Python makes of invalid bytes
            self._skip(key, "file name is not valid text")
        elif key in self.files:
            self._skip(key, "another file has the same name in a different Unicode form")
        else:
            self.files[key] = absolute

    def _skip(self, path: str, reason: str) -> None:
        self._problems.append(Problem(replace_surrogates(path), reason, skipped=True))


def _is_markdown(name: str) -> bool:
    return name[-3:].lower() == ".md"


def _existing_folder(path: Path) -> Path:
    folder = path.expanduser().absolute()
    if ".." in folder.parts:
        folder = folder.resolve()
    if not folder.is_dir():
        raise NotFound(f"{folder} is not a folder; give an existing one")
    return folder


def resolve_links(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:  # before Python 3.13
        raise OSError(errno.ELOOP, "it is part of a loop of links", str(path)) from error


def read_page(file: Path, path: str) -> bytes:
    """Return the content of the file at `path` in a base, without blocking.

    It may have become a pipe or a device, or a link out of the base or to a hidden file, as may a
    folder above it. Raises OSError, also for a file that is not regular or larger than `MAX_BYTES`.
    """
    return _read_inside(file, path, MAX_BYTES, is_page=True)


def _read_inside(file: Path, path: str, limit: int, *, is_page: bool) -> bytes:
    with open_regular_file(file, limit=limit, follow_links=is_page) as stream:
        place = opened_path(stream.fileno())
        if place and (place != str(file) or _is_hidden(path)):  # a link on the way, or hidden
            root = file.parents[path.count("/")]
            fault = "it is outside the knowledge base"
            for folder in (root, root / MEMORY):
                if (within := _path_in(folder, place)) is not None:
                    if not (is_page and _is_hidden(within)):
                        break
                    fault = "it is a link to a hidden file, or is in a hidden folder"
            else:
                raise OSError(errno.EXDEV, fault, str(file))
        return read_at_most(stream, file, limit)


def _is_hidden(path: str) -> bool:
    """Return whether a file in a base is hidden: links must not lead to what `walk` leaves out."""
    return "/." in f"/{path}"


def _path_in(folder: Path, place: str) -> str | None:
    """Return the path of an open file in a folder, wherever that leads now; None outside it."""
    if place.startswith(f"{folder}/"):  # no link on the way
        return place[len(f"{folder}/") :]
    try:
        handle = os.open(folder, os.O_RDONLY | open_flags("O_PATH", "O_CLOEXEC"))
    except OSError:  # there is no `memory`
        return None
    try:
        above = opened_path(handle)
    finally:
        os.close(handle)
    if above is None:
        return ""
    above = f"{above.rstrip('/')}/"
    return place[len(above) :] if place.startswith(above) else None


def locate(root: Path, path: str, exclude: Sequence[str] = ()) -> Path:
    """Return the file on disk for a document path, which is relative to the root and NFC.

    Walks the knowledge base if the file system spells the name differently (NFD).
    Raises ValueError for a path outside the root, FileNotFoundError if there is no such document,
    OSError for a loop of links.
    """
    file, parts = root / path, PurePosixPath(path).parts
    resolve_links(file).relative_to(resolve_links(root))
    if file.suffix.lower() != ".md" or any(part.startswith(".") for part in parts):
        raise FileNotFoundError(path)  # `walk` does not list such files either
    if file.exists():
        return file
    for candidate in walk(root, exclude).files:
        if candidate.path == path:
            return candidate.absolute
    raise FileNotFoundError(path)


SYSTEM_TREES = (
    *("/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys"),
    *("/usr/bin", "/usr/include", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local/lib"),
    *("/usr/local/share", "/usr/sbin", "/usr/share", "/var/cache", "/var/log", "/nix/store"),
    *("/System", "/Library", "/Applications", "/private/etc", "/opt/homebrew"),
    *("C:/Windows", "C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData"),
)
SHARED_FOLDERS = (
    *("/dev", "/home", "/media", "/mnt", "/opt", "/run", "/srv", "/usr", "/usr/local"),
    *("/usr/src", "/var", "/var/lib", "/root", "/Users", "/Volumes", "/private", "/private/var"),
    "C:/Users",
)
TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm")
PACKAGE_FOLDERS = frozenset(
    {
        *("node_modules", "bower_components", "site-packages", "dist-packages", "__pycache__"),
        *(".cache", ".cargo", ".conda", ".gradle", ".m2", ".npm", ".nuget", ".nvm", ".pyenv"),
        *(".rbenv", ".rustup", ".venv", "Caches", "Caskroom", "Cellar"),
    }
)


def describe_system_folder(folder: Path) -> str:
    """Return what a folder is that hardly holds notes, `your home folder`; empty for others."""
    if folder == Path(folder.anchor):
        return "a whole disk"
    if folder == Path.home():
        return "your home folder"
    if folder in (*map(Path, TEMPORARY_FOLDERS), Path(tempfile.gettempdir())):
        return "a folder of temporary files"
    if PACKAGE_FOLDERS.intersection(folder.parts):
        return "a folder of a package manager or a cache"
    if folder in map(Path, SHARED_FOLDERS):
        return "a folder of the system"
    if any(folder.is_relative_to(tree) for tree in SYSTEM_TREES):
        return "a folder of the system"
    return ""


SUPPRESSION_FILES = ("memory/.kbx/entity-suppressions.json", ".kbx/entity-suppressions.json")


def load_suppressions(root: Path) -> dict[str, tuple[str, ...]]:
    """Return names or ids of entities, by the path of the document not to link to them.

    A file that cannot be read is left out; `suppression_problems` names it.
    """
    suppressed: dict[str, tuple[str, ...]] = {}
    for _, loaded in _read_files(root):
        if not isinstance(loaded, ValueError):
            for path, names in loaded.items():
                key = unicodedata.normalize("NFC", path)
                suppressed[key] = (*suppressed.get(key, ()), *texts_of(names))
    return suppressed


def suppression_problems(root: Path) -> list[Problem]:
    return [
        Problem(name, f"cannot be read: {loaded}", skipped=True)
        for name, loaded in _read_files(root)
        if isinstance(loaded, ValueError)
    ]


def _read_files(root: Path) -> Iterator[tuple[str, dict[str, Any] | ValueError]]:
    for name in SUPPRESSION_FILES:
        try:
            data = _read_inside(root / name, name, SIZE_LIMIT, is_page=False)
            yield name, decode_json(decode(data)[0], dict[str, Any])
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield name, ValueError(error.strerror or error)
        except ValueError as error:
            yield name, error

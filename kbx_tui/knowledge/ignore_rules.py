"""Rules for files to leave out: `.gitignore` files and the `exclude` patterns of the user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.errors import ConfigError
from kbx_tui.state_file import read_regular_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GITIGNORE = ".gitignore"


class IgnoreRules:
    """Ignore patterns collected while walking down a tree.

    The ``exclude`` patterns win over any ``.gitignore``; of those, the deepest that matches.
    """

    def __init__(self, exclude: Sequence[str] = ()) -> None:
        try:
            self._exclude = _compile(exclude) if exclude else None
        except ValueError as error:
            raise ConfigError(f"[index] exclude has an invalid pattern: {error}") from error
        self._specs: list[tuple[str, GitIgnoreSpec]] = []

    def read_folder(self, folder: Path, prefix: str, *, keep: str = "") -> bool:
        """Add the rules in the ``.gitignore`` of a folder; return whether it has one.

        ``prefix`` is its path relative to the root, ending with a slash. A file that would ignore
        the path ``keep``, the folder of the knowledge base, is skipped: many users keep their notes
        out of git.
        """
        try:
            data = read_regular_file(folder / GITIGNORE, follow_links=True)
            lines = data.decode("utf-8", "replace").splitlines()
        except OSError:
            return False
        spec = _compile_valid(lines)
        if not (keep and spec.match_file(keep)):
            self._specs.append((prefix, spec))
        return True

    def ignores_file(self, path: str) -> bool:
        """Return whether the rules leave out the file at ``path``, relative to the root."""
        if self._exclude is not None and self._exclude.match_file(path):
            return True
        for prefix, spec in reversed(self._specs):
            if path.startswith(prefix):
                is_ignored = spec.check_file(path[len(prefix) :]).include
                if is_ignored is not None:
                    return is_ignored
        return False

    def ignores_folder(self, path: str) -> bool:
        """Return whether the rules leave out everything below the folder at ``path``."""
        return self.ignores_file(path + "/")


def _compile_valid(lines: Sequence[str]) -> GitIgnoreSpec:
    """Compile the valid patterns only, as git does; pathspec would raise."""
    valid = []
    for line in lines:
        try:
            _compile([line])
        except ValueError:
            continue
        valid.append(line)
    return _compile(valid)


def _compile(lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # late: finding the root needs no patterns

    return GitIgnoreSpec.from_lines(lines)

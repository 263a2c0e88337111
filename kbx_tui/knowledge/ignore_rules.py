"""Which paths a walk leaves out: what `.gitignore` files say, and the user's own patterns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kbx_tui.errors import ConfigError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


IGNORING = ".gitignore"


class Ignored:
    """Patterns gathered on the way down; the deepest ``.gitignore`` that names a path decides."""

    def __init__(self, exclude: Sequence[str] = ()) -> None:
        try:
            self._exclude = _spec(exclude) if exclude else None
        except ValueError as error:
            raise ConfigError(f"[index] exclude holds an unusable pattern: {error}") from error
        self._specs: list[tuple[str, GitIgnoreSpec]] = []

    def read_folder(self, folder: Path, prefix: str, *, spare: str = "") -> bool:
        """Take in the ``.gitignore`` of the folder whose entries have paths with this prefix.

        Returns whether there is one.

        ``spare`` is the folder the knowledge base lies in. Many keep their notes out of git:
        patterns that hide all of it are not meant for us, and that file is passed over.
        """
        try:
            lines = (folder / IGNORING).read_text("utf-8", errors="replace").splitlines()
        except OSError:
            return False
        spec = _lenient(lines)
        if not (spare and spec.match_file(spare)):
            self._specs.append((prefix, spec))
        return True

    def file(self, path: str) -> bool:
        """Tell whether the file at this root-relative path is left out."""
        if self._exclude is not None and self._exclude.match_file(path):
            return True
        for prefix, spec in reversed(self._specs):
            if path.startswith(prefix):
                decided = spec.check_file(path[len(prefix) :]).include
                if decided is not None:
                    return decided
        return False

    def folder(self, path: str) -> bool:
        """Tell whether nothing below the folder at this root-relative path belongs to us."""
        return self.file(path + "/")


def _lenient(lines: Sequence[str]) -> GitIgnoreSpec:
    """Git passes over a pattern it cannot read; pathspec raises."""
    usable = []
    for line in lines:
        try:
            _spec([line])
        except ValueError:
            continue
        usable.append(line)
    return _spec(usable)


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # late: finding the root must not wait for it

    return GitIgnoreSpec.from_lines(lines)

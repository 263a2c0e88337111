"""Path filters: one definition of "in scope", and its translation to a where clause.

A prefix, with or without a final slash, is that folder or file and nothing beside it:
`memory/people` covers `memory/people/x.md`, not `memory/people_ops/x.md`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kbx_tui.errors import ConfigError


@dataclass(frozen=True, slots=True)
class PathFilter:
    """Documents at or below one path; empty means all."""

    prefix: str = ""
    """Root-relative, NFC, `/`, no slash at either end."""

    @classmethod
    def parse(cls, text: str | None, root: Path) -> PathFilter:
        """Read a path as a person gives it.

        `./` and absolute paths inside the root are normalised. Raises ConfigError when the path
        leads out of the root.
        """
        given = unicodedata.normalize("NFC", (text or "").strip())
        if not given:
            return cls()
        if Path(given).is_absolute():
            inside = _below(Path(given), root)
            if inside is None:
                raise ConfigError(f"path {text!r} is not inside {root}; give one below it")
            given = inside
        parts: list[str] = []
        for part in PurePosixPath(given).parts:
            if part == "..":
                if not parts:
                    raise ConfigError(f"path {text!r} leads out of {root}; give one below it")
                parts.pop()
            else:
                parts.append(part)
        return cls("/".join(parts))

    def matches(self, path: str) -> bool:
        """Tell whether a root-relative path is in scope."""
        return not self.prefix or path == self.prefix or path.startswith(self.prefix + "/")

    def where(self) -> str:
        """Return the where clause for a table with a `path` column, empty for all."""
        if not self.prefix:
            return ""
        below = quoted(self.prefix + "/")
        return f"(path = {quoted(self.prefix)} OR starts_with(path, {below}))"


def kinds_where(kinds: Sequence[str]) -> str:
    """Return the where clause for documents of the given kinds, empty for all."""
    return f"kind IN ({', '.join(quoted(kind) for kind in kinds)})" if kinds else ""


def both(*clauses: str) -> str:
    """Return the clauses joined with AND, empty ones left out."""
    return " AND ".join(clause for clause in clauses if clause)


def quoted(text: str) -> str:
    """Return a SQL string literal: only the single quote is special in one."""
    return "'" + text.replace("'", "''") + "'"


def _below(path: Path, root: Path) -> str | None:
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL, or simply elsewhere
        return None

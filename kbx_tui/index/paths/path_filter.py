"""Path filters: which documents a path selects, defined once for all pipelines. Pure.

A path, with or without a final slash, selects that folder or file only: `memory/people` selects
`memory/people/x.md`, not `memory/people_ops/x.md`. With wildcards (see `globs`) it selects the
files that match, and with a final slash everything below the folders that match.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from kbx_tui.errors import ConfigError
from kbx_tui.index.paths.globs import alternatives, is_glob, matcher, matches_everything

MAX_PATH = 4096
"""Characters of a path or glob as typed: the longest path of Linux."""


@dataclass(frozen=True, slots=True)
class PathFilter:
    """The documents selected by a path; all of them without a path."""

    text: str = ""
    """The path as typed, in NFC."""
    prefix: str = ""
    """The path read as one folder or file: root-relative, NFC, `/`, no slash at either end."""
    globs: tuple[str, ...] = ()
    """The path read as wildcards, in the same form; a final slash selects everything below."""

    @classmethod
    def parse(cls, text: str | None, root: Path) -> PathFilter:
        """Parse a path as typed by the user.

        Surrounding whitespace and a leading `./` or root are ignored. Raises ConfigError when it
        leads out of the root, is too long, or has too many alternatives.
        """
        typed = unicodedata.normalize("NFC", (text or "").strip())
        if not typed:
            return cls()
        if len(typed) > MAX_PATH:
            raise ConfigError(
                f"path {typed[:40] + '...'!r} has {len(typed):,} characters; "
                f"a path has at most {MAX_PATH:,}"
            )
        try:
            relative = _relative(typed, root)
            prefix = "/".join(_parts(relative))
            expanded = alternatives(relative)
            if expanded == (relative,) and not is_glob(relative):
                return cls(typed, prefix)
            globs = (_glob(_without_root(alternative, root)) for alternative in expanded)
            return cls(typed, prefix, tuple(dict.fromkeys(filter(None, globs))))
        except ValueError as error:
            raise ConfigError(
                f"path {typed!r} {error} the knowledge base {root.name}; give one below it"
            ) from error

    def among(self, paths: Sequence[str]) -> PathFilter:
        """Return the filter to apply to these document paths, which must be sorted.

        An existing folder or file of that exact name takes precedence over wildcards.
        """
        if not self.globs or not (_has(paths, self.prefix) or _has(paths, self.prefix + "/")):
            return self
        return replace(self, globs=())

    @property
    def is_all(self) -> bool:
        """True when every document is in scope, whatever its path."""
        if self.globs:
            return any(map(matches_everything, self.globs))
        return not self.prefix

    def matches(self, path: str) -> bool:
        """Return whether a root-relative path is in scope."""
        if self.globs:
            return matcher(self.globs).fullmatch(path) is not None
        return not self.prefix or path == self.prefix or path.startswith(self.prefix + "/")


def _has(paths: Sequence[str], path: str) -> bool:
    """Return whether `path` is one of the sorted paths or, with a final slash, a folder of one."""
    index = bisect_left(paths, path)
    candidate = paths[index] if index < len(paths) else ""
    return candidate.startswith(path) if path.endswith("/") else candidate == path


def _glob(text: str) -> str:
    """Return one alternative in the form of `PathFilter.globs`, empty when it names nothing."""
    parts = _parts(text)
    below = text.endswith(("/", "/.", "/..")) or text in (".", "..")
    if parts:
        return "/".join(parts) + "/" * below
    return "**" if below else ""


def _parts(text: str) -> list[str]:
    """Return the components of a relative path, with `.` and `..` resolved.

    Raises ValueError when it leads out of the root.
    """
    parts: list[str] = []
    for part in text.split("/"):
        if part == "..":
            if not parts:
                raise ValueError("leads out of")
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return parts


def _relative(text: str, root: Path) -> str:
    """Return a path relative to the root. Raises ValueError for an absolute path elsewhere."""
    rest = _without_root(text, root)
    if rest != text or not Path(text).is_absolute():
        return rest
    parts = text.split("/")
    literal = list(takewhile(lambda part: not (is_glob(part) or "{" in part), parts))
    try:  # the path may reach the root through a symbolic link
        inside = Path("/".join(literal) or "/").resolve().relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a NUL, or elsewhere
        raise ValueError("is not inside") from error
    return "/".join([unicodedata.normalize("NFC", inside.as_posix()), *parts[len(literal) :]])


def _without_root(text: str, root: Path) -> str:
    """Return a path without a leading root, whose name may contain wildcard characters."""
    start = unicodedata.normalize("NFC", root.as_posix()).rstrip("/")
    if text == start or text.startswith(start + "/"):
        return text[len(start) :].lstrip("/")
    return text

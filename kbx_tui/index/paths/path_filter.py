"""Path filters: one definition of "in scope" for every pipeline. Pure.

A path, with or without a final slash, is that folder or file and nothing beside it:
`memory/people` covers `memory/people/x.md`, not `memory/people_ops/x.md`. With wildcards (see
`globs`) it is the files that fit, and with a final slash what lies below the folders that fit.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from kbx_tui.errors import ConfigError
from kbx_tui.index.paths.globs import alternatives, is_exact_start, is_glob, matcher

EVERYTHING = "**"


@dataclass(frozen=True, slots=True)
class PathFilter:
    """Documents that a path lets in; without a path, all."""

    given: str = ""
    """As a person wrote it."""
    prefix: str = ""
    """Its reading as one folder or file: root-relative, NFC, `/`, no slash at either end."""
    globs: tuple[str, ...] = ()
    """Its reading as wildcards, in the same form; a final slash asks for what lies below."""

    @classmethod
    def parse(cls, text: str | None, root: Path) -> PathFilter:
        """Read a path as a person gives it.

        Blanks around it, `./` and the root before it do not matter. Raises ConfigError when it
        leads out of the root, or stands for too many paths.
        """
        given = unicodedata.normalize("NFC", (text or "").strip())
        try:
            inside = _inside(given, root)
            prefix = "/".join(_parts(inside))
            written_out = alternatives(inside)
            if written_out == (inside,) and not is_glob(inside):
                return cls(given, prefix)
            globs = (_glob(_without_root(one, root)) for one in written_out)
            return cls(given, prefix, tuple(dict.fromkeys(filter(None, globs))))
        except ValueError as error:
            raise ConfigError(f"path {given!r} {error} {root}; give one below it") from error

    def among(self, paths: Sequence[str]) -> PathFilter:
        """Return the reading that holds where these documents are, given in order.

        A folder or file that is really called so wins over wildcards.
        """
        if not self.globs or not (_has(paths, self.prefix) or _has(paths, self.prefix + "/")):
            return self
        return replace(self, globs=())

    @property
    def is_all(self) -> bool:
        """True when every document is in scope, whatever its path."""
        if self.globs:
            return any(is_exact_start("", glob) for glob in self.globs)
        return not self.prefix

    def matches(self, path: str) -> bool:
        """Tell whether a root-relative path is in scope."""
        if self.globs:
            return _matcher(self.globs).fullmatch(path) is not None
        return not self.prefix or path == self.prefix or path.startswith(self.prefix + "/")


@lru_cache(maxsize=64)
def _matcher(globs: tuple[str, ...]) -> re.Pattern[str]:
    return matcher(globs)


def _has(paths: Sequence[str], start: str) -> bool:
    """Tell whether `start` is one of the paths, or, with a final slash, a folder of one."""
    at = bisect_left(paths, start)
    found = paths[at] if at < len(paths) else ""
    return found.startswith(start) if start.endswith("/") else found == start


def _glob(text: str) -> str:
    """Return one alternative as `globs` holds it, empty when it names nothing."""
    parts = _parts(text)
    below = text.endswith(("/", "/.", "/..")) or text in (".", "..")
    if parts:
        return "/".join(parts) + "/" * below
    return EVERYTHING if below else ""


def _parts(text: str) -> list[str]:
    """Return folders and name of a relative path, `.` and `..` resolved.

    Raises ValueError when it leads out.
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


def _inside(text: str, root: Path) -> str:
    """Return a path without the root before it. Raises ValueError for one that is elsewhere."""
    rest = _without_root(text, root)
    if rest != text or not Path(text).is_absolute():
        return rest
    parts = text.split("/")
    named = list(takewhile(lambda part: not (is_glob(part) or "{" in part), parts))
    try:  # the root may go under another name, through a link
        found = Path("/".join(named) or "/").resolve().relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a NUL, or elsewhere
        raise ValueError("is not inside") from error
    return "/".join([unicodedata.normalize("NFC", found.as_posix()), *parts[len(named) :]])


def _without_root(text: str, root: Path) -> str:
    """Return a path that begins with the root as the rest of it: the root's name is no pattern."""
    start = unicodedata.normalize("NFC", root.as_posix()).rstrip("/")
    if text == start or text.startswith(start + "/"):
        return text[len(start) :].lstrip("/")
    return text

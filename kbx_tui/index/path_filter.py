"""Path filters: which documents a path selects, defined once for all pipelines. Pure.

A path, with or without a final slash, selects that folder or file only: `memory/people` selects
`memory/people/x.md`, not `memory/people_ops/x.md`. With wildcards it selects the files that match,
and with a final slash everything below the folders that match. `*` and `?` match inside a folder,
`**` across folders, and `**/` also matches nothing. `[1-3]` and `[!a]` match one character of a
name, `{a,b}` either alternative. Unclosed brackets and braces are literal, and so are characters in
brackets: `[[]`, `[*]`. A backslash has no special meaning.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import nsmallest
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, cast

from kbx_tui.errors import ConfigError
from kbx_tui.knowledge.folding import normalized
from kbx_tui.knowledge.path_patterns import Token, character_class, expression

MAX_PATH = 4096
"""Maximum length of a path or glob as typed: that of a path on Linux."""


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
        typed = normalized("NFC", (text or "").strip())
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
        if not self.globs or not holds(paths, self.prefix):
            return self
        return replace(self, globs=())

    def or_at_any_depth(self, paths: Sequence[str]) -> PathFilter:
        """Return this filter, or one for the folders at any depth whose path ends so.

        It is unchanged where one of the sorted document paths is that file or in that folder, for
        wildcards, and for a path that begins with `/` or `./`.
        """
        if not self.prefix or self.globs or self.text.startswith(("/", "./")):
            return self
        if holds(paths, self.prefix):
            return self
        return replace(self, globs=(f"**/{self.prefix}/",))

    @property
    def is_all(self) -> bool:
        if self.globs:
            return any(map(_STARS.fullmatch, self.globs))
        return not self.prefix

    def matches(self, path: str) -> bool:
        if self.globs:
            return matcher(self.globs).fullmatch(path) is not None
        return not self.prefix or path == self.prefix or path.startswith(self.prefix + "/")


def holds(paths: Sequence[str], path: str) -> bool:
    """Return whether `path` is one of the sorted paths, or a folder that one of them is in."""
    for place in (bisect_left(paths, path), bisect_left(paths, f"{path}/")):
        if place < len(paths) and f"{paths[place]}/".startswith(f"{path}/"):
            return True
    return False


def _glob(text: str) -> str:
    parts = _parts(text)
    below = text.endswith(("/", "/.", "/..")) or text in (".", "..")
    if parts:
        return "/".join(parts) + "/" * below
    return "**" if below else ""


def _parts(text: str) -> list[str]:
    """Return a relative path's components. Raises ValueError when it leads out of the root."""
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
    rest = _without_root(text, root)
    if rest != text or not Path(text).is_absolute():
        return rest
    parts = text.split("/")
    literal = list(takewhile(lambda part: not (is_glob(part) or "{" in part), parts))
    try:  # the path may reach the root through a symbolic link
        inside = Path("/".join(literal) or "/").resolve().relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a NUL, or elsewhere
        raise ValueError("is not inside") from error
    return "/".join([normalized("NFC", inside.as_posix()), *parts[len(literal) :]])


def _without_root(text: str, root: Path) -> str:
    """Return a path without a leading root, whose name may contain wildcard characters."""
    start = normalized("NFC", root.as_posix()).rstrip("/")
    if text == start or text.startswith(start + "/"):
        return text[len(start) :].lstrip("/")
    return text


MAX_ALTERNATIVES = 1000
"""Paths that one pattern may expand to: braces multiply."""
MAX_EXPANDED = 200_000
"""Characters of these paths together: compiling them takes some microseconds each."""

_SET = r"\[!?+\]?+[^\]/]*\]"
"""A set of characters; a bracket in first place is one of them."""
_TOKEN = re.compile(
    r"(?P<folders>(?:(?<=/)|\A)\*{2,}/)|(?P<across>\*{2,})|(?P<star>\*)|(?P<one>\?)"
    rf"|(?P<set>{_SET})|(?P<plain>[^*?\[]+|\[)"
)
_STARS = re.compile(r"\*{2,}/?")
_SET_OR_BRACE = re.compile(rf"{_SET}|[{{}},]")


def is_glob(text: str) -> bool:
    """Return whether `text` has a wildcard; braces do not count."""
    return any(token.lastgroup != "plain" for token in _TOKEN.finditer(text))


def literal_prefix(glob: str) -> str:
    """Return the literal text that every match of an alternative starts with."""
    wildcard = next((token for token in _TOKEN.finditer(glob) if token.lastgroup != "plain"), None)
    return glob if wildcard is None else glob[: wildcard.start()]


def alternatives(text: str) -> tuple[str, ...]:
    """Return the distinct globs that `text` expands to by its braces.

    Braces without a comma are literal, as in a shell. Raises ConfigError when there are more than
    1,000, or when they are too long together.
    """
    role_at = _brace_roles(text)
    if sum(role == "{" for role in role_at.values()) >= MAX_ALTERNATIVES:  # each adds at least one
        raise _too_many(text)
    outer: list[tuple[list[str], list[str]]] = []  # per open brace: its surroundings' state
    finished: list[str] = []  # complete alternatives of the innermost open brace
    current = [""]  # expansions of the alternative being read
    end = 0
    for position in sorted(role_at):
        current = [prefix + text[end:position] for prefix in current]
        end = position + 1
        if role_at[position] == "{":
            outer.append((finished, current))
            finished, current = [], [""]
            continue
        finished += current
        if role_at[position] == ",":
            current = [""]
        else:
            options, (finished, before) = finished, outer.pop()
            if len(before) * len(options) > MAX_ALTERNATIVES:
                raise _too_many(text)
            current = [prefix + option for prefix in before for option in options]
        if len(finished) > MAX_ALTERNATIVES:
            raise _too_many(text)
    expanded = dict.fromkeys(prefix + text[end:] for prefix in current)
    if sum(map(len, expanded)) > MAX_EXPANDED:
        raise ConfigError(f"path {_shown(text)!r} expands to too much text; write fewer braces")
    return tuple(expanded)


@lru_cache(maxsize=64)
def matcher(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return a regular expression whose `fullmatch` tests a path against the alternatives.

    A glob with a final slash matches everything below the folders it names.
    """
    return re.compile("|".join(map(_expression, globs)) or "(?!)", re.DOTALL)


def _brace_roles(text: str) -> dict[int, str]:
    role_at: dict[int, str] = {}
    opened: list[tuple[int, list[int]]] = []
    for token in _SET_OR_BRACE.finditer(text):
        position, character = token.start(), token.group()
        if character == "{":
            opened.append((position, []))
        elif character == "," and opened:
            opened[-1][1].append(position)
        elif character == "}" and opened:
            start, commas = opened.pop()
            if commas:
                role_at |= {start: "{", position: "}"} | dict.fromkeys(commas, ",")
    return role_at


def _expression(glob: str) -> str:
    """Return the regular expression of one alternative."""
    tokens: list[Token] = []
    for token in _TOKEN.finditer(glob):
        kind, text = str(token.lastgroup), token.group()
        if kind in ("folders", "across", "star"):
            tokens.append((cast("Any", kind), ""))
        elif kind == "one":
            tokens.append(("piece", "[^/]"))
        else:
            tokens.append(("piece", _set(text[1:-1]) if kind == "set" else re.escape(text)))
    if glob.endswith("/"):
        tokens += [("across", ""), ("piece", ".")]  # anything below, but not nothing
    return expression(tokens)


def _set(content: str) -> str:
    negated = content.startswith("!")
    pairs = re.findall(r"(.)(?:-(.))?", content[negated:], re.DOTALL)
    return character_class(((first, last or first) for first, last in pairs), negated=negated)


def _too_many(text: str) -> ConfigError:
    return ConfigError(
        f"path {_shown(text)!r} expands to more than {MAX_ALTERNATIVES:,} paths; write fewer braces"
    )


def _shown(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


LEAST_SIMILAR = 80
"""Similarity in per cent from which a path may be meant by another: of whole paths or of names."""


def nearest_path(wanted: str, paths: Sequence[str]) -> str:
    """Return the file, or a folder of files, whose path or name is most like `wanted`, or ""."""
    from rapidfuzz import fuzz, process

    wanted = wanted.strip("/").casefold()
    places = {path: path.casefold() for path in sorted({*paths, *_folders(paths)})}
    names = {path: _stem(folded) for path, folded in places.items()}
    for text, choices, scorer in (
        (wanted, places, fuzz.ratio),
        (_stem(wanted), names, fuzz.WRatio),
    ):
        if found := process.extractOne(text, choices, scorer=scorer, score_cutoff=LEAST_SIMILAR):
            return str(found[2])
    return ""


def _folders(paths: Iterable[str]) -> set[str]:
    above = {path.rpartition("/")[0] for path in paths}  # far fewer than the paths
    return {str(each) for path in above for each in (path, *PurePosixPath(path).parents)} - {
        "",
        ".",
    }


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def similar_paths(paths: Sequence[str], text: str, limit: int) -> tuple[str, ...]:
    """Return at most `limit` paths with a name like `text`: folders, with a final slash, or files.

    A name that begins with the text comes first, then one that holds it, then one that holds its
    letters in order. Files are looked for only if no folder is found.
    """
    wanted = normalized("NFC", text.strip().strip("/")).casefold()
    if not wanted or set("*?[{") & set(wanted):
        return ()

    def found(entries: Iterable[str]) -> list[str]:
        ranked = ((_likeness(entry.casefold(), wanted), entry) for entry in entries)
        close = ((rank, entry.count("/"), entry) for rank, entry in ranked if rank is not None)
        return [entry for *_, entry in nsmallest(limit, close)]

    return tuple(f"{folder}/" for folder in found(_folders(paths))) or tuple(found(paths))


def _likeness(entry: str, wanted: str) -> int | None:
    name = entry.rpartition("/")[2]
    if name.startswith(wanted):
        return 0
    if wanted in (entry if "/" in wanted else name):
        return 1
    letters = iter(name)
    return 2 if all(letter in letters for letter in wanted) else None


_AFTER_SLASH = chr(ord("/") + 1)


def complete(paths: Sequence[str], text: str, root: Path, limit: int) -> tuple[str, ...]:
    """Return at most `limit` completions of `text`: folders, with a final slash, then files.

    `paths` are those of all documents, sorted. Each completion starts with `text` unchanged, even
    if it starts with `./` or the root; a path outside the root has none.
    """
    typed, slash, name = text.rpartition("/")
    typed += slash
    try:
        folder = PathFilter.parse(typed, root).prefix
    except ConfigError:
        return ()
    above = folder + "/" if folder else ""
    start = above + normalized("NFC", name)
    folders: list[str] = []
    files: list[str] = []
    index = bisect_left(paths, start)
    while index < len(paths) and paths[index].startswith(start) and len(folders) < limit:
        entry, is_folder, _ = paths[index][len(above) :].partition("/")
        if is_folder:
            folders.append(f"{typed}{entry}/")
            index = bisect_left(paths, above + entry + _AFTER_SLASH, index)  # skip its content
        else:
            files.append(typed + entry)
            index += 1
    return tuple((folders + files)[:limit])


def complete_inner_folder(paths: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the completions of `text` by folders below another, with a final slash, sorted.

    They are the paths that `PathFilter.or_at_any_depth` finds: `no` is completed to `notes/` where
    the base has `memory/notes`, but no `notes`.
    """
    if not text:
        return ()
    ending = re.compile(rf"(?<=/){re.escape(normalized('NFC', text))}[^/]*")
    found = {name for folder in _folders(paths) for name in ending.findall(folder)}
    return tuple(f"{name}/" for name in sorted(found) if not holds(paths, name))
